//! Where a model is: whether its address is sound, and whether it is near.

use reqwest::Url;
use toml::Spanned;

use crate::config::source::{ConfigSource, Result};

pub(in crate::config) use models::settings::is_local;

pub(super) fn base_url(url: &Spanned<String>, source: &ConfigSource<'_>) -> Result<Url> {
    let parsed = Url::parse(url.get_ref())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(parsed) = parsed else {
        let shown = domain::visible::visible(url.get_ref());
        let message = format!("`{shown}` is not a URL; write it like `https://models.example.com`");
        return Err(source.error(url.span(), message));
    };
    no_password("base_url", "headers_env", &parsed, url, source)?;
    if parsed.fragment().is_some() {
        let message = "take everything from `#` on out of `base_url`: it is never sent";
        return Err(source.error(url.span(), message));
    }
    Ok(parsed)
}

pub(super) fn proxy(url: &Spanned<String>, source: &ConfigSource<'_>) -> Result<Url> {
    let parsed = Url::parse(url.get_ref())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(parsed) = parsed else {
        let message =
            "`proxy` is an address like `http://proxy.example.com:3128`, or `none` for no proxy";
        return Err(source.error(url.span(), message));
    };
    no_password("proxy", "proxy_env", &parsed, url, source)?;
    Ok(parsed)
}

fn no_password(
    key: &str,
    instead: &str,
    url: &Url,
    given: &Spanned<String>,
    source: &ConfigSource<'_>,
) -> Result<()> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(());
    }
    let message = format!(
        "secrets do not belong in this file: take the user and the password out of `{key}`, and use \
         `{instead}`"
    );
    Err(source.error(given.span(), message))
}
