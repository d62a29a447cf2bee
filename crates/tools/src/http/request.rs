//! One request, written out whole: what is sent, and what people are shown of it.

use std::collections::BTreeSet;

use domain::phrase::{PhraseCode, RunDetail};
use domain::schema::{SECRET, redact, write_only_pointers};
use domain::secret::references;
use egress::AddressGuard;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

use super::address::AddressTemplate;
use super::body::ParsedBody;
use super::header::{HeaderTemplate, SecretHeader};
use super::template::{TemplateArguments, percent_encode, secret_placeholder as named};
use crate::limits::HTTP_BODY_BYTES_MAX;

/// The body of a request. Texts in it may hold `{argument}`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum BodyTemplate {
    #[default]
    None,
    Json(Value),
    Form(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
pub(super) struct RequestTemplate {
    pub(super) method: Method,
    pub(super) address: AddressTemplate,
    pub(super) headers: Vec<HeaderTemplate>,
    pub(super) secret_headers: Vec<SecretHeader>,
    pub(super) body: ParsedBody,
    pub(super) guard: AddressGuard,
}

#[derive(Clone)]
pub(super) struct FilledRequest {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
    /// Method and URL, with secrets named.
    pub(super) line: String,
    /// The whole request, one header to a line, with secrets named.
    pub(super) shown: RunDetail,
    secrets: Vec<(String, String)>,
}

/// Shorter ones would be found everywhere, and are no secrets.
const SECRET_BYTES_MIN: usize = 4;

impl FilledRequest {
    /// Some services repeat what they were sent. The model gets it with the secrets named.
    pub(super) fn scrub_secrets(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, (shown, value)| match text.contains(value.as_str()) {
            true => text.replace(value.as_str(), shown),
            false => text,
        })
    }
}

/// A value in the spellings in which it may come back.
fn secret_spellings(shown: &str, value: &str) -> Vec<(String, String)> {
    let quoted = Value::from(value).to_string();
    let inside = quoted[1..quoted.len() - 1].to_owned();
    // The token without its `Bearer`.
    let last = value.rsplit(' ').next().unwrap_or(value).to_owned();
    let mut all = vec![value.to_owned(), percent_encode(value), inside, last];
    all.dedup();
    all.retain(|spelling| spelling.len() >= SECRET_BYTES_MIN);
    all.into_iter().map(|spelling| (shown.to_owned(), spelling)).collect()
}

impl RequestTemplate {
    /// The arguments that go anywhere at all.
    pub(super) fn argument_names(&self) -> BTreeSet<&str> {
        let headers = self.headers.iter().flat_map(|header| header.value.argument_names());
        self.address
            .argument_names()
            .into_iter()
            .chain(headers)
            .chain(self.body.argument_names())
            .collect()
    }

    pub(super) fn fill_request(
        &self,
        arguments: &Value,
        schema: &Value,
    ) -> Result<FilledRequest, String> {
        let none = BTreeSet::new();
        let sent = TemplateArguments { arguments, hidden: &none };
        let body = self.body.fill_body(&sent)?;
        if body.as_ref().is_some_and(|body| body.len() > HTTP_BODY_BYTES_MAX) {
            return Err(format!("the body would be longer than {HTTP_BODY_BYTES_MAX} bytes"));
        }
        let mut headers = HeaderMap::new();
        for template in &self.headers {
            if let Some(value) = template.fill_header(&sent)? {
                let value = HeaderValue::from_str(&value).map_err(|_| {
                    format!("the header `{}` would not be one line of text", template.name)
                })?;
                headers.insert(template.name.clone(), value);
            }
        }
        if let Some(kind) = self.body.content_type() {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(kind));
        }
        let url = self.address.fill_url(&sent, self.guard)?;

        let pointers = write_only_pointers(schema);
        let redacted = redact(arguments, &pointers);
        // References to secrets are shown as the secrets themselves will be when they are sent.
        let referred = references(arguments, &pointers);
        let is_referred =
            |name: &str| referred.iter().any(|(place, _)| place.strip_prefix('/') == Some(name));
        let hidden: BTreeSet<String> = self
            .argument_names()
            .into_iter()
            .filter(|name| {
                let (told, given) = (redacted.get(*name), arguments.get(*name));
                let whole = told.is_none_or(|value| value == SECRET);
                given.is_some_and(|given| (whole && told != Some(given)) || is_referred(name))
            })
            .map(str::to_owned)
            .collect();
        // Where all is secret, nothing is left to show but the names.
        let shown = if redacted.is_object() { &redacted } else { arguments };
        let given = TemplateArguments { arguments: shown, hidden: &hidden };
        let line = format!("{} {}", self.method, self.address.fill_text(&given)?);
        let mut text = RunDetail::from(line.clone());
        for template in &self.headers {
            if let Some(value) = template.fill_header(&given)? {
                text.push_text(&format!("{}: {value}", template.name));
            }
        }
        if let Some(kind) = self.body.content_type()
            && !self.headers.iter().any(|template| template.name == CONTENT_TYPE)
        {
            text.push_text(&format!("{CONTENT_TYPE}: {kind}"));
        }
        let mut secrets = Vec::new();
        for name in &hidden {
            if let Some(value) = arguments.get(name).and_then(Value::as_str) {
                secrets.extend(secret_spellings(&named(name), value));
            }
        }
        for header in &self.secret_headers {
            if let Ok(value) = header.header_value().to_str() {
                secrets.extend(secret_spellings(&header.redacted_line(), value));
            }
            headers.insert(header.header_name().clone(), header.header_value().clone());
            text.push_text(&format!("{}: {}", header.header_name(), header.redacted_line()));
        }
        if let Some(body) = self.body.fill_body(&given)? {
            match body.split_once('\n') {
                None => text.push(PhraseCode::RequestBody, &[&body]),
                Some((first, rest)) => {
                    text.push(PhraseCode::RequestBody, &[first]);
                    text.push_text(rest);
                }
            }
        }
        Ok(FilledRequest {
            method: self.method.clone(),
            url,
            headers,
            body,
            line,
            shown: text,
            secrets,
        })
    }
}
