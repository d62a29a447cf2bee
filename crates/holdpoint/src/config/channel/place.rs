//! Where a platform is. Secrets are sent there, so it is over TLS or near.

use reqwest::Url;
use toml::Spanned;

use crate::config::model::is_local;
use crate::config::source::{Result, Source};

pub(super) fn address(
    key: &str,
    given: &Option<Spanned<String>>,
    default: &str,
    source: &Source<'_>,
) -> Result<Url> {
    let Some(given) = given else { return Ok(Url::parse(default).expect("a URL")) };
    let parsed = Url::parse(given.get_ref())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let wrong = |message: String| Err(source.error(given.span(), message));
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
