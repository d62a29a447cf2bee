//! Where a model is: whether its address is sound, and whether it is near.

use std::net::IpAddr;

use reqwest::Url;
use toml::Spanned;

use crate::config::source::{Result, Source};

pub(super) fn base_url(url: &Spanned<String>, source: &Source<'_>) -> Result<Url> {
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

pub(super) fn proxy(url: &Spanned<String>, source: &Source<'_>) -> Result<Url> {
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
    source: &Source<'_>,
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

/// On this machine or in its own network, where servers usually want no key: loopback and private
/// addresses, and names that only a local resolver knows.
pub(in crate::config) fn is_local(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.')
                || [".local", ".localhost", ".internal", ".lan"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_are_told_apart() {
        let local = |url: &str| is_local(&Url::parse(url).expect("a URL"));
        for near in [
            "http://127.0.0.1:11434",
            "http://localhost:8000/v1",
            "http://[::1]:1",
            "http://10.1.2.3",
            "http://192.168.0.9",
            "http://ollama:11434",
            "http://gpu.internal",
        ] {
            assert!(local(near), "{near}");
        }
        for far in [
            "https://api.example.com",
            "http://8.8.8.8",
            "http://local.example.com",
            "http://[2001:db8::1]",
        ] {
            assert!(!local(far), "{far}");
        }
    }
}
