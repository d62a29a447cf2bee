//! The way to the authorization endpoint and back (RFC 6749, 4.1; RFC 8707; RFC 9207).

use reqwest::Url;
use serde::Deserialize;

use crate::error::OauthError;
use crate::limits::SCOPES_MAX;
use crate::metadata::AuthorizationServer;
use crate::secret::OauthSecret;

/// What a person's browser is sent away with.
#[derive(Debug)]
pub struct AuthorizationRequest<'a> {
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    pub state: &'a OauthSecret,
    pub challenge: &'a str,
    pub scopes: &'a [String],
    /// What the token is for.
    pub resource: Option<&'a str>,
}

impl AuthorizationRequest<'_> {
    pub fn url(&self, server: &AuthorizationServer) -> Url {
        let mut url = server.authorization_endpoint.clone();
        let scopes = self.scopes.iter().take(SCOPES_MAX).cloned().collect::<Vec<_>>().join(" ");
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", self.client_id)
                .append_pair("redirect_uri", self.redirect_uri)
                .append_pair("state", self.state.expose())
                .append_pair("code_challenge", self.challenge)
                .append_pair("code_challenge_method", "S256");
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes);
            }
            if let Some(resource) = self.resource {
                query.append_pair("resource", resource);
            }
            // OpenID gives a refresh token for this scope only to a person who was asked.
            if self.scopes.iter().any(|scope| scope == "offline_access") {
                query.append_pair("prompt", "consent");
            }
        }
        url
    }
}

/// What the browser brings back.
#[derive(Debug, Deserialize)]
pub struct AuthorizationReply {
    pub state: OauthSecret,
    pub code: Option<OauthSecret>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

impl AuthorizationReply {
    /// The code, if it is the answer of this server to the request with this state.
    pub fn accept(
        self,
        state: &OauthSecret,
        issuer: &str,
        always_sends_iss: bool,
    ) -> Result<OauthSecret, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(why.into());
        if self.state != *state {
            return Err(unsound("this is not the answer to what was asked"));
        }
        // Also an error is believed only from the server that was asked.
        match self.iss.as_deref() {
            Some(iss) if iss != issuer => {
                return Err(unsound("another authorization server answered than was asked"));
            }
            None if always_sends_iss => {
                return Err(unsound("the answer does not say which authorization server gave it"));
            }
            _ => {}
        }
        if let Some(code) = self.error {
            return Err(OauthError::refused(&code));
        }
        self.code.ok_or_else(|| unsound("the answer has no code"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(change: impl FnOnce(&mut AuthorizationReply), always: bool) -> String {
        let state = OauthSecret::new("state");
        let mut reply = AuthorizationReply {
            state: state.clone(),
            code: Some(OauthSecret::new("code")),
            iss: Some("https://as.example".into()),
            error: None,
        };
        change(&mut reply);
        match reply.accept(&state, "https://as.example", always) {
            Ok(code) => code.expose().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_the_server_that_was_asked_answers_what_was_asked() {
        assert_eq!(accepted(|_| {}, true), "code");
        assert_eq!(accepted(|it| it.iss = None, false), "code");
        assert_eq!(
            accepted(|it| it.iss = None, true),
            "the answer does not say which authorization server gave it"
        );
        for iss in ["https://as.example/", "https://evil.example", ""] {
            for always in [true, false] {
                assert_eq!(
                    accepted(|it| it.iss = Some(iss.into()), always),
                    "another authorization server answered than was asked"
                );
            }
        }
        assert_eq!(
            accepted(|it| it.state = OauthSecret::new("other"), true),
            "this is not the answer to what was asked"
        );
        assert_eq!(accepted(|it| it.code = None, true), "the answer has no code");
        assert_eq!(
            accepted(|it| it.error = Some("access_denied".into()), true),
            "the authorization server refused it: access_denied"
        );
        assert_eq!(
            accepted(|it| it.error = Some("<b>call 0900</b>".into()), true),
            "the authorization server refused it: an unknown error"
        );
    }

    #[test]
    fn the_request_says_everything_that_has_to_be_said() {
        let server = crate::metadata::AuthorizationServer {
            issuer: "https://as.example".into(),
            authorization_endpoint: Url::parse("https://as.example/authorize?tenant=1").unwrap(),
            token_endpoint: Url::parse("https://as.example/token").unwrap(),
            registration_endpoint: None,
            revocation_endpoint: None,
            scopes: vec![],
            token_auth_methods: vec![],
            always_sends_iss: false,
            takes_client_documents: false,
        };
        let request = AuthorizationRequest {
            client_id: "c&d",
            redirect_uri: "https://hold.example/oauth/callback",
            state: &OauthSecret::new("s"),
            challenge: "ch",
            scopes: &["a".into(), "offline_access".into()],
            resource: Some("https://mcp.example/mcp"),
        };
        assert_eq!(
            request.url(&server).as_str(),
            "https://as.example/authorize?tenant=1&response_type=code&client_id=c%26d&redirect_uri=https%3A%2F%2F\
             hold.example%2Foauth%2Fcallback&state=s&code_challenge=ch&code_challenge_method=S256&scope=a+offline_access\
             &resource=https%3A%2F%2Fmcp.example%2Fmcp&prompt=consent"
        );
    }
}
