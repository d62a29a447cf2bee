//! The login's cookie, and the value that proves that a request comes from our own page.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use subtle::ConstantTimeEq as _;

const NAME: &str = "holdpoint_session";

pub(crate) fn read_cookie(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|value| value.split(';')).find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == NAME && !value.is_empty()).then(|| value.to_owned())
    })
}

/// Secrets are hexadecimal, so nothing in them can break out of the header.
pub(crate) fn set(secret: &str, lasts_ms: u64, secure: bool) -> Option<HeaderValue> {
    cookie_header(secret, lasts_ms / 1000, secure)
}

pub(crate) fn clear(secure: bool) -> Option<HeaderValue> {
    cookie_header("", 0, secure)
}

fn cookie_header(value: &str, max_age_s: u64, secure: bool) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let text =
        format!("{NAME}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).ok()
}

/// Derived from the cookie, which scripts cannot read: only a page that may ask `/v1/me` knows it.
pub(crate) fn csrf(secret: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    URL_SAFE_NO_PAD.encode(hmac::sign(&key, b"holdpoint.csrf.v1"))
}

pub(crate) fn is_csrf(secret: &str, sent: &[u8]) -> bool {
    csrf(secret).as_bytes().ct_eq(sent).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("theme=dark; holdpoint_session=abc"));
        assert_eq!(read_cookie(&headers).as_deref(), Some("abc"));
        headers.clear();
        headers
            .append(COOKIE, HeaderValue::from_static("xholdpoint_session=abc; holdpoint_session="));
        assert_eq!(read_cookie(&headers), None);
    }

    #[test]
    fn i33_the_cookie_stays_with_its_site() {
        let text = set("abc", 604_800_000, true).expect("a header");
        assert_eq!(
            text,
            "holdpoint_session=abc; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure"
        );
        assert!(
            !set("abc", 1, false).expect("a header").to_str().expect("text").contains("Secure")
        );
    }

    #[test]
    fn i33_a_csrf_value_fits_one_login_only() {
        assert!(is_csrf("one", csrf("one").as_bytes()));
        assert!(!is_csrf("one", csrf("two").as_bytes()));
        assert!(!is_csrf("one", b""));
    }
}
