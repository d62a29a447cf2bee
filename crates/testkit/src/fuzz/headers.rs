//! Headers that carry keys and secrets, and what a request is known by.

use server::bare;

use super::Pieces;
use super::bodies::is_a_problem;

pub(super) fn run(bytes: &[u8]) {
    match bare::idempotency_key(bytes) {
        Some(Ok(key)) => {
            let key = key.expect("the header is there");
            assert_eq!(key.as_bytes(), bytes, "a key is what was sent");
            assert!(!key.is_empty() && key.is_ascii());
        }
        Some(Err(document)) => is_a_problem(&document, bytes.len()),
        None => {}
    }
    if let Some(Some(secret)) = bare::login_cookie(bytes) {
        assert!(!secret.is_empty() && !secret.contains(';'));
        let sent = format!("holdpoint_session={secret}");
        let at = bytes.windows(sent.len()).any(|window| window == sent.as_bytes());
        assert!(at, "no secret is made up");
    }
    match bare::bearer(bytes) {
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
    let digest =
        |(method, path, body): &(String, String, &[u8])| bare::request_digest(method, path, body);
    assert_eq!(one == other, digest(&one) == digest(&other), "requests are told apart");
}
