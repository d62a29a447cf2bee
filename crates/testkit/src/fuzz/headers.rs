//! Headers that carry keys and secrets, and what a request is known by.

use std::net::{IpAddr, Ipv4Addr};

use server::fuzz_api;

use super::bodies::is_a_problem;
use super::{Pieces, text};

pub(super) fn run(bytes: &[u8]) {
    match fuzz_api::idempotency_key(bytes) {
        Some(Ok(key)) => {
            let key = key.expect("the header is there");
            assert_eq!(key.as_bytes(), bytes, "a key is what was sent");
            assert!(!key.is_empty() && key.is_ascii());
        }
        Some(Err(document)) => is_a_problem(&document, bytes.len()),
        None => {}
    }
    if let Some(Some(secret)) = fuzz_api::login_cookie(bytes) {
        assert!(!secret.is_empty() && !secret.contains(';'));
        let sent = format!("holdpoint_session={secret}");
        let at = bytes.windows(sent.len()).any(|window| window == sent.as_bytes());
        assert!(at, "no secret is made up");
    }
    match fuzz_api::bearer(bytes) {
        Some(Ok(token)) => {
            assert_eq!(token.trim(), token);
            assert!(bytes.len() > 6 && bytes[..6].eq_ignore_ascii_case(b"bearer"));
        }
        Some(Err(document)) if !document.is_empty() => is_a_problem(&document, bytes.len()),
        _ => {}
    }
    let mut pieces = Pieces::new(bytes);
    let one = (pieces.text(), pieces.text(), pieces.piece());
    let other = (pieces.text(), pieces.text(), pieces.piece());
    let digest = |(method, path, body): &(String, String, &[u8])| {
        fuzz_api::request_digest(method, path, body)
    };
    assert_eq!(one == other, digest(&one) == digest(&other), "requests are told apart");
    forwarded(bytes);
    named(bytes);
}

/// Who speaks for somebody else is a proxy that we trust, and so is everybody after whom it names.
fn forwarded(hops: &[u8]) {
    let (proxy, stranger) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::BROADCAST));
    let trusts = |address: IpAddr| address.is_loopback();
    let Some(caller) = fuzz_api::caller_address(proxy, hops, trusts) else { return };
    assert_eq!(fuzz_api::caller_address(stranger, hops, trusts), Some(stranger), "nobody asked it");
    if caller != proxy {
        let hops = text(hops).expect("an address is text").split(',').rev();
        let hops = hops.map(|hop| hop.trim().parse::<IpAddr>().expect("only addresses follow"));
        let strangers = hops.skip_while(|hop| trusts(*hop));
        assert_eq!(strangers.take(1).next(), Some(caller), "the first stranger, from our side");
    }
}

/// A host that is taken for this machine leads nowhere else, by another reader of addresses.
fn named(host: &[u8]) {
    let Some(host) = text(host).filter(|host| fuzz_api::is_this_machine(host)) else { return };
    // Ports and brackets that no address has lead nowhere at all.
    if let Ok(url) = reqwest::Url::parse(&format!("http://{host}/")) {
        let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let address = name.parse::<IpAddr>();
        assert!(
            name == "localhost" || address.is_ok_and(|address| address.is_loopback()),
            "{host:?} leads to {name:?}"
        );
    }
}
