//! Where a platform's own keys stand, and how they are read: every mistake is told with its line.

use std::ops::Range;

use reqwest::Url;
use toml::Spanned;

use crate::config::model::is_local;
use crate::config::secret::SecretSource;
use crate::config::source::{ConfigSource, Result};

pub(in crate::config) struct Section<'a> {
    pub(super) name: &'a str,
    /// For what is missing.
    pub(super) span: Range<usize>,
    pub(super) enabled: bool,
    pub(super) source: &'a ConfigSource<'a>,
}

impl Section<'_> {
    /// A mistake of the section as a whole.
    pub(super) fn wrong<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.source.error(self.span.clone(), message))
    }

    /// A text that must be there.
    pub(super) fn id(&self, given: Option<Spanned<String>>, missing: &str) -> Result<String> {
        match given.filter(|id| !id.get_ref().trim().is_empty()) {
            Some(id) => Ok(id.into_inner()),
            None => self.wrong(missing),
        }
    }

    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        given: &Option<Spanned<String>>,
        known: &[(&str, T)],
    ) -> Result<Option<T>> {
        given.as_ref().map(|given| self.source.word(key, given, known)).transpose()
    }

    pub(super) fn secret(
        &self,
        key: &str,
        env: &Option<Spanned<String>>,
        file: &Option<Spanned<String>>,
    ) -> Result<SecretSource> {
        self.source.secret(key, self.span.clone(), env, file)
    }

    pub(super) fn secret_if_given(
        &self,
        key: &str,
        env: &Option<Spanned<String>>,
        file: &Option<Spanned<String>>,
    ) -> Result<Option<SecretSource>> {
        self.source.secret_if_given(key, env, file)
    }

    /// Where a platform is. Secrets are sent there, so it is over TLS or near.
    pub(super) fn address(
        &self,
        key: &str,
        given: &Option<Spanned<String>>,
        default: &str,
    ) -> Result<Url> {
        let Some(given) = given else { return Ok(Url::parse(default).expect("a URL")) };
        let parsed = Url::parse(given.get_ref())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let wrong = |message: String| Err(self.source.error(given.span(), message));
        let Some(url) = parsed else {
            let shown = domain::visible::visible(given.get_ref());
            return wrong(format!("`{shown}` is not a URL; write it like `{default}`"));
        };
        if !url.username().is_empty() || url.password().is_some() {
            return wrong(format!(
                "take the user and the password out of `{key}`: they are never sent"
            ));
        }
        if url.fragment().is_some() || url.query().is_some() {
            return wrong(format!("take everything from `?` or `#` on out of `{key}`"));
        }
        if url.scheme() == "http" && !is_local(&url) {
            return wrong(format!("`{key}` must begin with https://, as secrets are sent there"));
        }
        Ok(url)
    }
}
