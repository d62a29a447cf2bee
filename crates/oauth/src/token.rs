//! The token endpoint: a code or a refresh token for tokens, and tokens given back (RFC 6749, RFC 7009, RFC 8707).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::error::OauthError;
use crate::limits::TOKEN_BYTES_MAX;
use crate::pkce::PkceVerifier;
use crate::secret::OauthSecret;
use crate::way_out::{WayOut, write_form};

/// How a client says who it is at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenAuthMethod {
    /// It has no secret, and PKCE is what protects it.
    None,
    /// `client_secret_basic`
    Basic,
    /// `client_secret_post`
    Post,
}

impl TokenAuthMethod {
    pub fn name(self) -> &'static str {
        match self {
            TokenAuthMethod::None => "none",
            TokenAuthMethod::Basic => "client_secret_basic",
            TokenAuthMethod::Post => "client_secret_post",
        }
    }

    pub fn parse(name: &str) -> Option<TokenAuthMethod> {
        let all = [TokenAuthMethod::None, TokenAuthMethod::Basic, TokenAuthMethod::Post];
        all.into_iter().find(|method| method.name() == name)
    }

    /// For a client that is about to be registered: no secret where the server can do without.
    pub fn choose_for_new_client(offered: &[String]) -> TokenAuthMethod {
        let known = offered.iter().filter_map(|name| TokenAuthMethod::parse(name));
        known.min_by_key(|method| *method as u8).unwrap_or(TokenAuthMethod::None)
    }

    /// For a client that has a secret already.
    pub fn choose_for_secret(offered: &[String]) -> TokenAuthMethod {
        let offers = |method: TokenAuthMethod| offered.iter().any(|name| name == method.name());
        match !offers(TokenAuthMethod::Basic) && offers(TokenAuthMethod::Post) {
            true => TokenAuthMethod::Post,
            false => TokenAuthMethod::Basic,
        }
    }
}

/// A client, as one authorization server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthClient {
    pub id: String,
    secret: Option<OauthSecret>,
    method: TokenAuthMethod,
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub struct TokenReply {
    pub access_token: OauthSecret,
    pub refresh_token: Option<OauthSecret>,
    pub expires_in_s: Option<u64>,
    pub scope: Option<String>,
}

#[derive(Deserialize)]
struct TokenDocument {
    access_token: OauthSecret,
    token_type: String,
    refresh_token: Option<OauthSecret>,
    expires_in: Option<Seconds>,
    scope: Option<String>,
}

/// Some servers write numbers as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

impl OauthClient {
    pub fn new(
        id: String,
        secret: Option<OauthSecret>,
        method: TokenAuthMethod,
    ) -> Result<OauthClient, OauthError> {
        if secret.is_none() && method != TokenAuthMethod::None {
            let why = "it wants the client to have a secret, and gave it none";
            return Err(OauthError::Unsound(why.into()));
        }
        Ok(OauthClient { id, secret, method })
    }

    pub async fn exchange_code(
        &self,
        endpoint: &Url,
        code: &OauthSecret,
        verifier: &PkceVerifier,
        redirect_uri: &str,
        resource: Option<&str>,
        way: &WayOut,
    ) -> Result<TokenReply, OauthError> {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier.expose()),
        ];
        fields.extend(resource.map(|resource| ("resource", resource)));
        self.ask_for_tokens(endpoint, fields, way).await
    }

    pub async fn refresh(
        &self,
        endpoint: &Url,
        refresh_token: &OauthSecret,
        resource: Option<&str>,
        way: &WayOut,
    ) -> Result<TokenReply, OauthError> {
        let mut fields =
            vec![("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose())];
        fields.extend(resource.map(|resource| ("resource", resource)));
        self.ask_for_tokens(endpoint, fields, way).await
    }

    /// Gives a token back. A server that does not know it any more says yes.
    pub async fn revoke(
        &self,
        endpoint: &Url,
        token: &OauthSecret,
        way: &WayOut,
    ) -> Result<(), OauthError> {
        let answer = self.post(endpoint, vec![("token", token.expose())], way).await?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(refusal(answer.status.as_u16(), &answer.body)),
        }
    }

    async fn ask_for_tokens(
        &self,
        endpoint: &Url,
        fields: Vec<(&str, &str)>,
        way: &WayOut,
    ) -> Result<TokenReply, OauthError> {
        let answer = self.post(endpoint, fields, way).await?;
        match answer.status.is_success() {
            true => TokenReply::parse(&answer.body),
            false => Err(refusal(answer.status.as_u16(), &answer.body)),
        }
    }

    async fn post<'a>(
        &'a self,
        endpoint: &Url,
        mut fields: Vec<(&'a str, &'a str)>,
        way: &WayOut,
    ) -> Result<crate::way_out::WholeAnswer, OauthError> {
        let mut authorization = None;
        match (self.method, &self.secret) {
            (TokenAuthMethod::Basic, Some(secret)) => {
                authorization = Some(basic_header(&self.id, secret)?);
            }
            (TokenAuthMethod::Post, Some(secret)) => {
                fields
                    .extend([("client_id", self.id.as_str()), ("client_secret", secret.expose())]);
            }
            _ => fields.push(("client_id", &self.id)),
        }
        way.post_form(endpoint.clone(), &fields, authorization).await
    }
}

/// RFC 6749, 2.3.1: both are escaped as in a form first.
fn basic_header(id: &str, secret: &OauthSecret) -> Result<HeaderValue, OauthError> {
    let escaped = |text: &str| write_form(&[("x", text)]).split_off(2);
    let both = format!("{}:{}", escaped(id), escaped(secret.expose()));
    let header = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(both)));
    let mut header =
        header.map_err(|_| OauthError::Unsound("the client's secret cannot be sent".into()))?;
    header.set_sensitive(true);
    Ok(header)
}

fn refusal(status: u16, body: &[u8]) -> OauthError {
    match serde_json::from_slice::<TokenRefusal>(body) {
        // Something between us and the server says whatever it likes with such a status.
        Ok(refused) if (400..500).contains(&status) => OauthError::refused(&refused.error),
        _ => OauthError::Unreachable(format!(
            "its token endpoint answered with HTTP status {status}"
        )),
    }
}

impl TokenReply {
    fn parse(body: &[u8]) -> Result<TokenReply, OauthError> {
        let unsound = |why: &str| OauthError::Unsound(why.into());
        let document: TokenDocument = serde_json::from_slice(body)
            .map_err(|_| unsound("the answer of its token endpoint cannot be read"))?;
        if !document.token_type.eq_ignore_ascii_case("bearer") {
            return Err(unsound("it gives tokens that are not bearer tokens"));
        }
        // It becomes a header: nothing in it may end that.
        let plain = |token: &OauthSecret| {
            let token = token.expose();
            !token.is_empty()
                && token.len() <= TOKEN_BYTES_MAX
                && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !plain(&document.access_token)
            || document.refresh_token.as_ref().is_some_and(|token| !plain(token))
        {
            return Err(unsound("it gave a token that no token can be"));
        }
        let expires_in_s = match document.expires_in {
            Some(Seconds::Number(seconds)) => Some(seconds),
            Some(Seconds::Text(text)) => text.parse().ok(),
            None => None,
        };
        Ok(TokenReply {
            access_token: document.access_token,
            refresh_token: document.refresh_token,
            expires_in_s,
            scope: document.scope,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bearer_tokens_that_fit_into_a_header_are_taken() {
        let read = |text: &str| match TokenReply::parse(text.as_bytes()) {
            Ok(reply) => format!("{reply:?}"),
            Err(error) => error.to_string(),
        };
        let told = read(
            r#"{"access_token":"s3cret","token_type":"BEARER","expires_in":"60","refresh_token":"r3fresh"}"#,
        );
        assert!(told.contains("expires_in_s: Some(60)"), "{told}");
        assert!(!told.contains("s3cret") && !told.contains("r3fresh"), "{told}");
        for (text, wanted) in [
            (
                r#"{"access_token":"a","token_type":"mac"}"#,
                "it gives tokens that are not bearer tokens",
            ),
            (
                r#"{"access_token":"","token_type":"bearer"}"#,
                "it gave a token that no token can be",
            ),
            (
                r#"{"access_token":"a\r\nx: y","token_type":"bearer"}"#,
                "it gave a token that no token can be",
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","refresh_token":"b c"}"#,
                "it gave a token that no token can be",
            ),
            ("{}", "the answer of its token endpoint cannot be read"),
        ] {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_refusal_is_final_only_when_the_server_says_so_in_its_own_words() {
        assert!(refusal(400, br#"{"error":"invalid_grant"}"#).is_final());
        assert!(refusal(401, br#"{"error":"invalid_client"}"#).is_final());
        assert!(!refusal(503, br#"{"error":"invalid_grant"}"#).is_final());
        assert!(!refusal(400, b"<html>").is_final());
        assert!(!refusal(400, br#"{"error":"temporarily_unavailable"}"#).is_final());
    }

    #[test]
    fn the_method_is_the_simplest_that_the_server_offers() {
        let chosen = |offered: &[&str]| {
            let offered: Vec<String> = offered.iter().map(|it| (*it).to_owned()).collect();
            (
                TokenAuthMethod::choose_for_new_client(&offered),
                TokenAuthMethod::choose_for_secret(&offered),
            )
        };
        use TokenAuthMethod::{Basic, None, Post};
        assert_eq!(chosen(&[]), (None, Basic));
        assert_eq!(chosen(&["client_secret_post", "none"]), (None, Post));
        assert_eq!(
            chosen(&["private_key_jwt", "client_secret_post", "client_secret_basic"]),
            (Basic, Basic)
        );
        assert_eq!(chosen(&["client_secret_post"]), (Post, Post));
    }

    #[test]
    fn basic_credentials_are_escaped_first() {
        let header = basic_header("a:b", &OauthSecret::new("c d")).unwrap();
        assert_eq!(header, format!("Basic {}", STANDARD.encode("a%3Ab:c+d")).as_str());
        assert!(header.is_sensitive());
    }
}
