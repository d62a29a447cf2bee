//! The other bodies of the API: taken or refused with a problem document, never with a fault.

use domain::time::Timestamp;
use serde_json::Value;

pub(super) fn run(bytes: &[u8]) {
    let is_json = serde_json::from_slice::<Value>(bytes).is_ok_and(|value| value.is_object());
    let is_empty = bytes.iter().all(u8::is_ascii_whitespace);
    let mut taken = 0;
    let mut told = |refused: Option<String>| match refused {
        Some(document) => is_a_problem(&document, bytes.len()),
        None => taken += 1,
    };
    told(match server::fuzz_api::new_hold(bytes) {
        Ok(new) => {
            let question = format!("{new:?}");
            assert!(question.len() <= 4_000 + 40 * bytes.len());
            None
        }
        Err(document) => Some(document),
    });
    told(server::fuzz_api::new_session(bytes).err());
    told(server::fuzz_api::message(bytes).err());
    let now = Timestamp::from_ms(1_800_000_000_000);
    told(match server::fuzz_api::new_token(bytes, now) {
        Ok(new) => {
            assert!(new.expires_at.is_none_or(|at| at > now), "no token is born expired");
            None
        }
        Err(document) => Some(document),
    });
    assert!(taken == 0 || is_json || is_empty, "only an object is taken");
}

/// A document of the contract, of a reasonable size, that blames the caller and not us.
pub(super) fn is_a_problem(document: &str, input_bytes: usize) {
    let problem: Value = serde_json::from_str(document).expect("a problem is JSON");
    let status = problem["status"].as_u64().expect("a status");
    assert!((400..500).contains(&status), "{document}");
    assert!(problem["code"].as_str().is_some_and(|code| !code.is_empty()), "{document}");
    assert!(document.len() <= 4_000 + 40 * input_bytes, "{} bytes are told", document.len());
}
