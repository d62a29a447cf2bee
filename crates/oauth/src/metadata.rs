//! What an authorization server says about itself: RFC 8414, and OpenID Connect discovery.

use reqwest::{StatusCode, Url};
use serde::Deserialize;

use crate::error::OauthError;
use crate::limits::SCOPES_MAX;
use crate::way_out::WayOut;

/// A server whose metadata was fetched from where its issuer says, and names that issuer. Every endpoint may be called.
#[derive(Clone, Debug)]
pub struct AuthorizationServer {
    pub issuer: String,
    pub authorization_endpoint: Url,
    pub token_endpoint: Url,
    pub registration_endpoint: Option<Url>,
    pub revocation_endpoint: Option<Url>,
    pub scopes: Vec<String>,
    /// How clients may say who they are at the token endpoint; empty: it does not say.
    pub token_auth_methods: Vec<String>,
    /// Whether every authorization response has `iss` (RFC 9207).
    pub always_sends_iss: bool,
    /// Whether a client may be named by the address of a document about it.
    pub takes_client_documents: bool,
}

#[derive(Deserialize)]
struct ServerDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    response_types_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

impl AuthorizationServer {
    /// Fetches and checks the metadata of an issuer.
    pub async fn discover(issuer: &str, way: &WayOut) -> Result<AuthorizationServer, OauthError> {
        let url = way.admit(issuer)?;
        for place in well_known_places(&url) {
            let answer = way.get(place).await?;
            match answer.status {
                StatusCode::OK => return AuthorizationServer::parse(issuer, &answer.body, way),
                // Not there: perhaps at the next place.
                status if status.is_client_error() => {}
                status => {
                    let why = format!("it answered with HTTP status {}", status.as_u16());
                    return Err(OauthError::Unreachable(why));
                }
            }
        }
        Err(OauthError::Unsound("it has no metadata where RFC 8414 and OpenID say".into()))
    }

    /// Reads a document that was fetched for this issuer.
    pub fn parse(
        issuer: &str,
        document: &[u8],
        way: &WayOut,
    ) -> Result<AuthorizationServer, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(why.into());
        let document: ServerDocument = serde_json::from_slice(document)
            .map_err(|_| unsound("its metadata is not a document of an authorization server"))?;
        // Otherwise one server could speak for another, and get its codes (RFC 8414, 3.3).
        if document.issuer != issuer {
            return Err(unsound("its metadata is that of another issuer"));
        }
        if !document.code_challenge_methods_supported.iter().any(|method| method == "S256") {
            return Err(unsound("it does not say that it supports PKCE with S256"));
        }
        if document
            .response_types_supported
            .is_some_and(|types| !types.iter().any(|it| it == "code"))
        {
            return Err(unsound("it does not give authorization codes"));
        }
        let optional = |url: Option<String>| url.map(|url| way.admit(&url)).transpose();
        let mut scopes = document.scopes_supported;
        scopes.truncate(SCOPES_MAX);
        Ok(AuthorizationServer {
            issuer: document.issuer,
            authorization_endpoint: way.admit(&document.authorization_endpoint)?,
            token_endpoint: way.admit(&document.token_endpoint)?,
            registration_endpoint: optional(document.registration_endpoint)?,
            revocation_endpoint: optional(document.revocation_endpoint)?,
            scopes,
            token_auth_methods: document.token_endpoint_auth_methods_supported,
            always_sends_iss: document.authorization_response_iss_parameter_supported,
            takes_client_documents: document.client_id_metadata_document_supported,
        })
    }
}

/// In the order in which they are tried. A path of the issuer goes behind the well-known name, or for OpenID before it.
fn well_known_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    let place = |path: String| {
        let mut url = issuer.clone();
        url.set_query(None);
        url.set_path(&path);
        url
    };
    paths.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use egress::AddressGuard;
    use serde_json::{Value, json};

    use super::*;

    fn parsed(change: impl FnOnce(&mut Value)) -> Result<AuthorizationServer, String> {
        let mut document = json!({
            "issuer": "https://as.example",
            "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token",
            "code_challenge_methods_supported": ["plain", "S256"],
            "response_types_supported": ["code"],
        });
        change(&mut document);
        let way = WayOut::new(AddressGuard::PublicOnly).unwrap();
        let document = document.to_string();
        AuthorizationServer::parse("https://as.example", document.as_bytes(), &way)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_issuer_itself_speaks_for_the_issuer() {
        assert!(parsed(|_| {}).is_ok());
        for issuer in ["https://as.example/", "https://evil.example", "https://AS.example", ""] {
            let refused = parsed(|document| document["issuer"] = json!(issuer)).unwrap_err();
            assert_eq!(refused, "its metadata is that of another issuer", "{issuer}");
        }
    }

    #[test]
    fn every_endpoint_is_judged_and_pkce_is_not_optional() {
        for key in [
            "authorization_endpoint",
            "token_endpoint",
            "registration_endpoint",
            "revocation_endpoint",
        ] {
            for (url, wanted) in [
                ("https://10.0.0.7/x", "10.0.0.7 is a private address"),
                ("http://as.example/x", "does not begin with https://"),
                ("javascript:alert(1)//", "does not begin with https://"),
            ] {
                let refused = parsed(|document| document[key] = json!(url)).unwrap_err();
                assert!(refused.contains(wanted), "{key} {url}: {refused}");
            }
        }
        for methods in [json!(["plain"]), json!([])] {
            let refused = parsed(|it| it["code_challenge_methods_supported"] = methods);
            assert_eq!(refused.unwrap_err(), "it does not say that it supports PKCE with S256");
        }
        let refused = parsed(|it| it["response_types_supported"] = json!(["id_token"]));
        assert_eq!(refused.unwrap_err(), "it does not give authorization codes");
    }

    #[test]
    fn places_follow_both_specifications() {
        let places = |issuer: &str| {
            let places = well_known_places(&Url::parse(issuer).unwrap());
            places.iter().map(|url| url.path().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            places("https://as.example"),
            ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        );
        assert_eq!(
            places("https://as.example/tenant/"),
            [
                "/.well-known/oauth-authorization-server/tenant",
                "/.well-known/openid-configuration/tenant",
                "/tenant/.well-known/openid-configuration"
            ]
        );
    }
}
