//! What the door makes of foreign bytes, without a server around it: the very functions that the
//! handlers call, for fuzzers. Refusals are the documents that would
//! be sent.

mod query;

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::digest::Digest;
use domain::time::Timestamp;
use engine::{Answering, NewHold, NewMessage, NewSession, NewToken};
use serde_json::Value;

pub use query::*;

use crate::auth::{Credential, credential};
pub use crate::doors::fuzz_api::{
    DoorAnswer, DoorBody, DoorSaid, FormPart, door, form, is_this_machine, note_of_place,
    note_of_runs, noted_place, noted_runs,
};
use crate::problem::{Problem, Refused};
use crate::sse::LAST_EVENT_ID;
use crate::wire;
use crate::{asked, cookie, idempotency, peer, sse};

/// The problem document, as JSON.
pub type ProblemJson = String;

fn document(problem: &Problem) -> ProblemJson {
    serde_json::to_string(problem).unwrap_or_default()
}

fn read_body<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, ProblemJson> {
    asked::parse(bytes).map_err(|refused| match refused {
        Refused::Problem(problem) => document(&problem),
        Refused::Replayed(_) => String::new(),
    })
}

pub fn answer(bytes: &[u8]) -> Result<Answering, ProblemJson> {
    read_body::<wire::AnswerBody>(bytes)?.parse().map_err(|problem| document(&problem))
}

pub fn new_hold(bytes: &[u8]) -> Result<NewHold, ProblemJson> {
    read_body::<wire::NewHoldBody>(bytes)?.parse().map_err(|problem| document(&problem))
}

pub fn new_session(bytes: &[u8]) -> Result<NewSession, ProblemJson> {
    Ok(read_body::<wire::NewSessionBody>(bytes)?.parse())
}

pub fn message(bytes: &[u8]) -> Result<NewMessage, ProblemJson> {
    read_body::<wire::SayBody>(bytes)?.parse().map_err(|problem| document(&problem))
}

pub fn new_token(bytes: &[u8], now: Timestamp) -> Result<NewToken, ProblemJson> {
    read_body::<wire::NewToken>(bytes)?.parse(now).map_err(|problem| document(&problem))
}

/// Headers with one of them set; `None` where no HTTP library would hand it on.
fn with(name: HeaderName, value: &[u8]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_bytes(value).ok()?);
    Some(headers)
}

/// The position that a `Last-Event-ID` names.
pub fn last_event_id(value: &[u8]) -> Option<Result<Option<u64>, ProblemJson>> {
    let headers = with(LAST_EVENT_ID, value)?;
    Some(sse::position(&headers, None).map_err(|problem| document(&problem)))
}

pub fn idempotency_key(value: &[u8]) -> Option<Result<Option<String>, ProblemJson>> {
    let headers = with(idempotency::IDEMPOTENCY_KEY, value)?;
    Some(idempotency::key_of(&headers).map_err(|problem| document(&problem)))
}

pub fn request_digest(method: &str, path: &str, body: &[u8]) -> Digest {
    idempotency::request_digest(method, path, body)
}

/// The secret of the login that a `Cookie` carries.
pub fn login_cookie(value: &[u8]) -> Option<Option<String>> {
    with(COOKIE, value).map(|headers| cookie::read_cookie(&headers))
}

/// The token that an `Authorization` carries.
pub fn bearer(value: &[u8]) -> Option<Result<String, ProblemJson>> {
    let headers = with(AUTHORIZATION, value)?;
    Some(match credential(&headers) {
        Ok(Credential::Token { secret, .. }) => Ok(secret),
        // There is no cookie to fall back on.
        Ok(Credential::Cookie(_) | Credential::Vouched(_) | Credential::Door { .. }) => {
            Err(String::new())
        }
        Err(problem) => Err(document(&problem)),
    })
}

/// The address of a caller who came over this peer, if these are the proxies that we trust.
pub fn caller_address(
    peer: IpAddr,
    hops: &[u8],
    trusts: impl Fn(IpAddr) -> bool,
) -> Option<IpAddr> {
    let headers = with(peer::FORWARDED_FOR, hops)?;
    Some(peer::behind(peer, &headers, trusts))
}

/// An event as it goes over the wire.
pub fn event(id: Option<u64>, data: Value) -> Vec<u8> {
    let mut written = Vec::new();
    sse::write(&mut written, "message.delta", id, &data);
    written
}
