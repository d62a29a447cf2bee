//! Callbacks: what signs them, and where they may go.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use channels::webhook::{BadSecret, WebhookCallbackSender, WebhookSecret, WebhookSettings};
use ports::callback::CallbackSender;
use reqwest::Url;

use super::text;

pub(super) fn secret(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match WebhookSecret::parse(text) {
        Ok(secret) => assert_eq!(format!("{secret:?}"), "Secret(hidden)"),
        Err(BadSecret::Empty) => {
            assert!(text.trim().is_empty() || text.contains("whsec_"), "something was there");
        }
        Err(BadSecret::NotBase64) => assert!(text.trim_start().starts_with("whsec_")),
    }
}

fn callback_sender(allow_private_addresses: bool) -> WebhookCallbackSender {
    let secret = WebhookSecret::parse("a secret of this test").expect("any text is one");
    let secrets = BTreeMap::from([("SECRET".to_owned(), secret)]);
    let settings =
        WebhookSettings { secrets, allow_private_addresses, ..WebhookSettings::default() };
    WebhookCallbackSender::new(settings, Arc::new(engine::SystemClock::new(None)))
}

pub(super) fn url(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let open = callback_sender(true).accepts(text, "SECRET");
    let told = match callback_sender(false).accepts(text, "SECRET") {
        Err(told) => told,
        Ok(()) => return leads_outside(text, open.is_ok()),
    };
    // What is refused may hold a token: only an address by number is said again.
    assert!(told.len() < 300, "{told}");
    assert!(callback_sender(false).accepts(text, "ANOTHER").is_err(), "no secret, no callback");
}

/// Judged by what the standard library knows of addresses.
fn leads_outside(text: &str, open: bool) {
    assert!(open, "who may go anywhere may go outside");
    let url = Url::parse(text).expect("an accepted address is one");
    assert_eq!(url.scheme(), "https");
    assert!(url.username().is_empty() && url.password().is_none());
    let host = url.host_str().expect("a host").trim_matches(['[', ']']);
    assert_ne!(host.trim_end_matches('.'), "localhost");
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => assert!(is_public(v4), "{v4}"),
        Ok(IpAddr::V6(v6)) => {
            assert!(!v6.is_loopback() && !v6.is_unspecified() && !v6.is_multicast(), "{v6}");
            assert!(!v6.is_unique_local() && !v6.is_unicast_link_local(), "{v6}");
            assert!(v6.to_ipv4_mapped().is_none_or(is_public), "{v6}");
        }
        Err(_) => {}
    }
}

fn is_public(v4: std::net::Ipv4Addr) -> bool {
    !(v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation())
}
