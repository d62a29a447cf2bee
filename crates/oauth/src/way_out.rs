//! Requests to servers of others: guarded, bounded, without redirects.

use std::sync::Arc;

use egress::{AddressGuard, SystemResolver, describe_causes, find_forbidden, guarded_client};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;

use crate::error::OauthError;
use crate::limits::{ANSWER_WITHIN, BODY_BYTES_MAX, URL_BYTES_MAX};

/// A way to servers whose addresses others wrote, or the operator.
#[derive(Clone, Debug)]
pub struct WayOut {
    client: Client,
    guard: AddressGuard,
}

/// What came back, whole.
pub(crate) struct WholeAnswer {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

impl WayOut {
    /// `Open` is for addresses that the operator wrote or allowed; only there plain HTTP is spoken.
    pub fn new(guard: AddressGuard) -> Result<WayOut, OauthError> {
        let client = guarded_client(Arc::new(SystemResolver), guard).timeout(ANSWER_WITHIN).build();
        let client = client
            .map_err(|_| OauthError::Unreachable("the HTTP client cannot be set up".into()))?;
        Ok(WayOut { client, guard })
    }

    /// Whether an address may be called, or a browser sent to it.
    pub fn admit(&self, text: &str) -> Result<Url, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(format!("an address that it names {why}"));
        if text.len() > URL_BYTES_MAX {
            return Err(unsound("is too long"));
        }
        let url = Url::parse(text).map_err(|_| unsound("is not a URL"))?;
        let plain = url.scheme() == "http" && self.guard == AddressGuard::Open;
        if url.scheme() != "https" && !plain {
            return Err(unsound("does not begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(unsound("has a user or a fragment in it"));
        }
        let admitted = self.guard.admit_host(&url);
        admitted.map_err(|why| OauthError::ForbiddenAddress(why.to_string()))?;
        Ok(url)
    }

    pub(crate) async fn get(&self, url: Url) -> Result<WholeAnswer, OauthError> {
        self.send(self.client.get(url)).await
    }

    pub(crate) async fn post_json(
        &self,
        url: Url,
        body: &impl Serialize,
    ) -> Result<WholeAnswer, OauthError> {
        self.send(self.client.post(url).json(body)).await
    }

    pub(crate) async fn post_form(
        &self,
        url: Url,
        fields: &[(&str, &str)],
        authorization: Option<HeaderValue>,
    ) -> Result<WholeAnswer, OauthError> {
        let mut request = self.client.post(url).body(write_form(fields));
        request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(authorization) = authorization {
            request = request.header(reqwest::header::AUTHORIZATION, authorization);
        }
        self.send(request).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<WholeAnswer, OauthError> {
        let request = request.header(ACCEPT, "application/json");
        let mut response = request.send().await.map_err(without_answer)?;
        let status = response.status();
        if status.is_redirection() {
            let why = "it sends us elsewhere, and redirects are not followed";
            return Err(OauthError::Unsound(why.into()));
        }
        let body = read_body(&mut response).await?;
        Ok(WholeAnswer { status, body })
    }
}

async fn read_body(response: &mut Response) -> Result<Vec<u8>, OauthError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(without_answer)? {
        if body.len() + chunk.len() > BODY_BYTES_MAX {
            let why = format!("it answered with more than {BODY_BYTES_MAX} bytes");
            return Err(OauthError::Unsound(why));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn without_answer(error: reqwest::Error) -> OauthError {
    if let Some(forbidden) = find_forbidden(&error) {
        return OauthError::ForbiddenAddress(forbidden.to_string());
    }
    if error.is_timeout() {
        let seconds = ANSWER_WITHIN.as_secs();
        return OauthError::Unreachable(format!("it did not answer within {seconds} s"));
    }
    OauthError::Unreachable(describe_causes(&error.without_url()))
}

/// Fields as a form has them.
pub(crate) fn write_form(fields: &[(&str, &str)]) -> String {
    // The serializer of the URL parser is the one that forms want.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_judged_before_they_are_called() {
        let guarded = WayOut::new(AddressGuard::PublicOnly).unwrap();
        for (url, wanted) in [
            ("http://as.example/token", "an address that it names does not begin with https://"),
            ("https://u:p@as.example/", "an address that it names has a user or a fragment in it"),
            ("https://as.example/#x", "an address that it names has a user or a fragment in it"),
            ("file:///etc/passwd", "an address that it names does not begin with https://"),
            ("javascript:alert(1)", "an address that it names does not begin with https://"),
            ("/token", "an address that it names is not a URL"),
            (
                "https://169.254.169.254/latest",
                "169.254.169.254 is a cloud's metadata service, and only public addresses may be called",
            ),
            (
                "https://localhost/",
                "the URL names this machine, and only public addresses may be called",
            ),
        ] {
            assert_eq!(guarded.admit(url).unwrap_err().to_string(), wanted, "{url}");
        }
        assert!(guarded.admit("https://as.example/token").is_ok());
        let open = WayOut::new(AddressGuard::Open).unwrap();
        assert!(open.admit("http://127.0.0.1:1/token").is_ok());
        assert!(open.admit("ftp://127.0.0.1:1/token").is_err());
    }

    #[test]
    fn forms_are_escaped() {
        assert_eq!(write_form(&[("a", "b c&d"), ("e", "+é")]), "a=b+c%26d&e=%2B%C3%A9");
    }
}
