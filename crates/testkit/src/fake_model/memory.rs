//! What the server must recognise when it comes back.
//!
//! Signatures prove themselves, so that a server which was started again still knows its own. That a
//! turn *had* thoughts is remembered by its calls, as vendors can tell it from the conversation.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Memory {
    /// For each call that was made after thinking: what was thought, in order.
    thoughts: HashMap<String, Vec<String>>,
    /// Responses: everything that was said up to and with each response.
    histories: HashMap<String, Vec<Value>>,
}

impl Memory {
    pub(super) fn thought_before(&self, call: &str) -> &[String] {
        self.thoughts.get(call).map_or(&[], Vec::as_slice)
    }

    pub(super) fn remember(&mut self, call: &str, thoughts: &[String]) {
        if !thoughts.is_empty() {
            self.thoughts.insert(call.to_owned(), thoughts.to_vec());
        }
    }

    pub(super) fn history(&self, response: &str) -> Option<&[Value]> {
        self.histories.get(response).map(Vec::as_slice)
    }

    pub(super) fn keep(&mut self, response: String, items: Vec<Value>) {
        self.histories.insert(response, items);
    }
}

/// The signature of a text. Long, and with the characters that real ones have, so that whoever
/// shortens or re-encodes it is found out.
pub(super) fn signature(text: &str) -> String {
    let mut signature = String::from("Er+/");
    for round in 0..8_u8 {
        let mut hasher = DefaultHasher::new();
        (round, text).hash(&mut hasher);
        signature += &format!("{:016x}", hasher.finish());
    }
    signature + "=="
}

/// A text that only we can read, and know as our own.
pub(super) fn sealed(text: &str) -> String {
    let hidden: String = text.bytes().map(|b| format!("{:02x}", b ^ 0x5a)).collect();
    format!("{hidden}.{}", signature(text))
}

pub(super) fn unsealed(sealed: &str) -> Option<String> {
    let (hidden, signed) = sealed.split_once('.')?;
    let byte = |at: usize| u8::from_str_radix(hidden.get(at..at + 2)?, 16).ok();
    let bytes = (0..hidden.len()).step_by(2).map(|at| byte(at).map(|b| b ^ 0x5a));
    let text = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    (signature(&text) == signed).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_known_again_and_nothing_else_is() {
        let seal = sealed("a thought, é");
        assert_eq!(unsealed(&seal).as_deref(), Some("a thought, é"));
        for at in 0..seal.len() {
            let mut other = seal.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(unsealed(&other), None, "{at}");
        }
    }
}
