//! `auth = "oauth"` and the keys that go with it: the same for a tool of kind `mcp` and for a server under `[mcp.upstreams]`.

use std::ops::Range;

use toml::Spanned;

use super::secret::SecretSource;
use super::source::{ConfigSource, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpOauthConfig {
    pub client_id: Option<String>,
    pub client_secret: Option<SecretSource>,
    pub scopes: Vec<String>,
    pub allow_private_addresses: bool,
}

/// The keys as they stand in a table.
#[derive(Clone, Copy)]
pub(super) struct OauthKeys<'a> {
    pub(super) auth: &'a Option<Spanned<String>>,
    pub(super) client_id: &'a Option<Spanned<String>>,
    pub(super) client_secret_env: &'a Option<Spanned<String>>,
    pub(super) client_secret_file: &'a Option<Spanned<String>>,
    pub(super) scopes: &'a Option<Spanned<Vec<String>>>,
    pub(super) allow_private_addresses: &'a Option<Spanned<bool>>,
}

impl OauthKeys<'_> {
    /// One of the keys that stand there, and where.
    pub(super) fn first(self) -> Option<(&'static str, Range<usize>)> {
        let keys = [
            ("auth", self.auth.as_ref().map(Spanned::span)),
            ("client_id", self.client_id.as_ref().map(Spanned::span)),
            ("client_secret_env", self.client_secret_env.as_ref().map(Spanned::span)),
            ("client_secret_file", self.client_secret_file.as_ref().map(Spanned::span)),
            ("scopes", self.scopes.as_ref().map(Spanned::span)),
            ("allow_private_addresses", self.allow_private_addresses.as_ref().map(Spanned::span)),
        ];
        keys.into_iter().find_map(|(key, at)| Some((key, at?)))
    }

    /// `None`: the server wants no tokens of ours.
    pub(super) fn check(
        self,
        url: &Spanned<String>,
        headers_env: &[(String, String)],
        source: &ConfigSource<'_>,
    ) -> Result<Option<McpOauthConfig>> {
        let Some(auth) = self.auth else {
            return match self.first() {
                Some((key, at)) => {
                    Err(source.error(at, format!("`{key}` goes with `auth = \"oauth\"`")))
                }
                None => Ok(None),
            };
        };
        source.word("auth", auth, &[("oauth", ())])?;
        if headers_env.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            let message = "`headers_env` has `Authorization`, which `auth = \"oauth\"` gives; take one of them out";
            return Err(source.error(auth.span(), message));
        }
        let allow = self.allow_private_addresses.as_ref();
        let allow_private_addresses = allow.is_some_and(|allow| *allow.get_ref());
        let keeps_tokens = reqwest::Url::parse(url.get_ref()).is_ok_and(|url| {
            let loopback = ["127.0.0.1", "[::1]", "localhost"];
            url.scheme() == "https" || url.host_str().is_some_and(|host| loopback.contains(&host))
        });
        if !allow_private_addresses && !keeps_tokens {
            let message = "`url` must begin with https://, since tokens go there; plain http:// goes with \
                           `allow_private_addresses`";
            return Err(source.error(url.span(), message));
        }
        let client_secret = source.secret_if_given(
            "client_secret",
            self.client_secret_env,
            self.client_secret_file,
        )?;
        if client_secret.is_some() && self.client_id.is_none() {
            let message =
                "`client_id` is missing: a secret belongs to a client that was registered by hand";
            return Err(source.error(auth.span(), message));
        }
        if let Some(id) = self.client_id.as_ref().filter(|id| id.get_ref().is_empty()) {
            return Err(source
                .error(id.span(), "`client_id` is empty; leave it out, and one is registered"));
        }
        let scopes = self.scopes.as_ref().map(|scopes| scopes.get_ref().clone());
        let scopes = scopes.unwrap_or_default();
        let is_scope = |scope: &String| {
            let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
            !scope.is_empty() && scope.bytes().all(plain)
        };
        if let Some(given) = self.scopes.as_ref().filter(|_| !scopes.iter().all(is_scope)) {
            let message =
                "a scope has no blanks, quotes or special letters; write several as a list";
            return Err(source.error(given.span(), message));
        }
        let client_id = self.client_id.as_ref().map(|id| id.get_ref().clone());
        Ok(Some(McpOauthConfig { client_id, client_secret, scopes, allow_private_addresses }))
    }
}
