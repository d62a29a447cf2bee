//! The web page, which is part of the program. It has no secrets: whoever opens it without a login
//! is told how to get one.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use domain::digest::Digest;

use crate::problem::Problem;

struct File {
    path: &'static str,
    bytes: &'static [u8],
}

mod table {
    use super::File;

    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

const MISSING: &str = "<!doctype html><title>Holdpoint</title><p>The web page was not built into this \
    program: run `npm run build` in `web`, then build again. The API works without it.\n";

/// The paths of every file but the page itself, for the route table.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    table::FILES.iter().map(|file| file.path).filter(|path| *path != "/index.html")
}

/// The page finds out by itself what its address means.
pub(crate) async fn index(headers: HeaderMap) -> Response {
    match table::FILES.iter().find(|file| file.path == "/index.html") {
        Some(file) => guarded(file.reply(&headers, "no-store")),
        None => html(StatusCode::OK, MISSING.to_owned()),
    }
}

pub(crate) async fn file(uri: axum::http::Uri, headers: HeaderMap) -> Response {
    match table::FILES.iter().find(|file| file.path == uri.path()) {
        Some(file) => guarded(file.reply(&headers, file.caching())),
        None => Problem::not_found("page").into_response(),
    }
}

pub(crate) fn html(status: StatusCode, text: String) -> Response {
    let mut reply = (status, text).into_response();
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    guarded(reply)
}

/// No framing, no foreign scripts, no word to other sites about where somebody was. Among our own
/// pages the referrer stays: without it a browser sends a form with `Origin: null`, and nobody could
/// tell our own login form from a stranger's.
pub(crate) fn guarded(mut reply: Response) -> Response {
    const POLICY: &str =
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
    let headers = reply.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    reply
}

impl File {
    fn reply(&self, headers: &HeaderMap, caching: &'static str) -> Response {
        static TAGS: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
            let tag = |file: &File| format!("\"{}\"", Digest::of(file.bytes));
            table::FILES.iter().map(|file| (file.path, tag(file))).collect()
        });
        let tag = TAGS.get(self.path).map(String::as_str).unwrap_or_default();
        let known = headers.get(IF_NONE_MATCH).is_some_and(|sent| {
            sent.to_str().is_ok_and(|sent| sent.split(',').any(|one| one.trim() == tag))
        });
        let mut reply = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.bytes.into_response(),
        };
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
        if let Ok(tag) = HeaderValue::from_str(tag) {
            headers.insert(ETAG, tag);
        }
        reply
    }

    fn kind(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("ico") => "image/x-icon",
            Some("woff2") => "font/woff2",
            Some("json" | "map") => "application/json",
            Some("webmanifest") => "application/manifest+json",
            Some("txt") => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// A name with a hash in it never changes its content; any other is asked about each time.
    fn caching(&self) -> &'static str {
        let stem = self
            .path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .map(|(stem, _)| stem);
        let hash = stem.and_then(|stem| stem.rsplit_once(['-', '.'])).map(|(_, hash)| hash);
        match hash {
            Some(hash) if hash.len() >= 8 && hash.chars().any(|c| c.is_ascii_digit()) => {
                "public, max-age=31536000, immutable"
            }
            _ => "no-cache",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_hash_are_kept_for_long() {
        let caching = |path| File { path, bytes: b"" }.caching();
        assert_eq!(caching("/assets/app.js"), "no-cache");
        assert_eq!(caching("/assets/app-notahash.js"), "no-cache");
        assert_eq!(caching("/assets/app-B3x9Qw1z.js"), "public, max-age=31536000, immutable");
    }
}
