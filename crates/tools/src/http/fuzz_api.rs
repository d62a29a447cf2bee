//! What is made of a service's answer, without a service around it: the very functions that a call goes
//! through, for fuzzers. `None` where no HTTP library would hand it on.

use std::collections::BTreeSet;

use domain::outcome::Output;
use egress::AddressGuard;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use super::address::AddressTemplate;
use super::answer::HttpAnswer;
use super::send::next;
use super::template::TemplateArguments;

/// Where a request with these arguments goes, by the operator's template; the error is what the model is
/// told.
pub fn address(template: &str, hosts: &[String], arguments: &Value) -> Result<Url, String> {
    let template = AddressTemplate::parse(template, hosts, AddressGuard::PublicOnly)?;
    let hidden = BTreeSet::new();
    template.fill_url(&TemplateArguments { arguments, hidden: &hidden }, AddressGuard::PublicOnly)
}

/// What the model is told of an answer whose body comes in these pieces.
pub fn answer<'a>(
    status: u16,
    content_type: Option<&[u8]>,
    encoding: Option<&[u8]>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Option<Output> {
    let mut headers = HeaderMap::new();
    set(&mut headers, CONTENT_TYPE, content_type)?;
    set(&mut headers, CONTENT_ENCODING, encoding)?;
    let mut answer = HttpAnswer::new(StatusCode::from_u16(status).ok()?, &headers);
    for piece in pieces {
        if !answer.take_bytes(piece) {
            break;
        }
    }
    Some(answer.to_output())
}

/// Where an answer sends a request on, or why nobody goes there; `Some(None)` if it sends it nowhere.
pub fn redirect(
    status: u16,
    location: &[u8],
    from: &Url,
    method: &Method,
) -> Option<Option<Result<Url, String>>> {
    let mut headers = HeaderMap::new();
    set(&mut headers, LOCATION, Some(location))?;
    Some(next(StatusCode::from_u16(status).ok()?, &headers, from, method, AddressGuard::PublicOnly))
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: Option<&[u8]>) -> Option<()> {
    if let Some(value) = value {
        headers.insert(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(())
}
