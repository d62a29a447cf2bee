//! Names of things. Each kind of id is its own type and says what it is when pasted into a chat.
//!
//! ```
//! use holdpoint_domain::id::{HoldId, SessionId};
//!
//! // The time in milliseconds, and random bits: ids of the same kind sort by age.
//! let (early, late) = (HoldId::new(1_000, 9), HoldId::new(2_000, 4));
//! assert!(early < late);
//! assert_eq!(early.to_string().parse(), Ok(early));
//! // An id of another kind is no id.
//! let error = early.to_string().parse::<SessionId>().unwrap_err();
//! assert!(error.to_string().contains("is not a session id"));
//! ```

use std::fmt;
use std::str::FromStr;

/// 48 bits of time, so that ids sort by age, then 80 bits of chance, so that nobody guesses one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(pub u128);

impl Bits {
    /// Of a moment in milliseconds since 1970, and of random bits, of which the lower 80 are used.
    pub fn new(now_ms: i64, random: u128) -> Bits {
        let time = (now_ms.max(0) as u128) & ((1 << 48) - 1);
        Bits((time << 80) | (random & ((1 << 80) - 1)))
    }

    /// The 80 random bits, for those who make a second id out of the first.
    pub fn random_part(self) -> u128 {
        self.0 & ((1 << 80) - 1)
    }
}

/// Crockford's base 32: no i, l, o, u, so that ids survive being read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What each byte stands for; `NO_DIGIT` for those that stand for nothing.
const DIGIT_OF: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        digits[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};
const NO_DIGIT: u8 = u8::MAX;

/// As many bytes as the longest id takes.
pub const SPELLED_MAX: usize = 32;
const DIGITS: usize = 26;

/// What has one short spelling, which is written in every record: without the machinery of formats.
pub trait Spell {
    /// The text, written into the given place.
    fn spell<'a>(&self, place: &'a mut [u8; SPELLED_MAX]) -> &'a str;
}

fn spell_bits<'a>(prefix: &str, bits: u128, place: &'a mut [u8; SPELLED_MAX]) -> &'a str {
    let (kind, rest) = place.split_at_mut(prefix.len());
    kind.copy_from_slice(prefix.as_bytes());
    // In three parts that a processor can hold: 2, 12 and 12 digits of 5 bits.
    let parts = [(0..2, bits >> 120), (2..14, bits >> 60), (14..DIGITS, bits)];
    for (digits, bits) in parts {
        let mut bits = bits as u64;
        for digit in rest[digits].iter_mut().rev() {
            *digit = ALPHABET[(bits & 31) as usize];
            bits >>= 5;
        }
    }
    std::str::from_utf8(&place[..prefix.len() + DIGITS]).unwrap_or_default()
}

fn read_bits(text: &str) -> Option<u128> {
    // 26 characters hold 130 bits, so the first one may only be 0 to 7.
    if text.len() != 26 || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0u128, |bits, byte| match DIGIT_OF[usize::from(byte)] {
        NO_DIGIT => None,
        digit => Some((bits << 5) | u128::from(digit)),
    })
}

/// The text is not an id of the kind that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind} id: one looks like `{prefix}01jd3k…`")]
pub struct NotAnId {
    text: String,
    kind: &'static str,
    prefix: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Bits);

        impl $name {
            /// What every id of this kind begins with, its underscore included.
            pub const PREFIX: &'static str = $prefix;

            /// A fresh one, of the time in milliseconds since 1970 and of random bits. It is unique as far as the bits are.
            pub fn new(now_ms: i64, random: u128) -> Self {
                Self(Bits::new(now_ms, random))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.spell(&mut [0; SPELLED_MAX]))
            }
        }

        const _: () = assert!($prefix.len() + DIGITS <= SPELLED_MAX);

        impl Spell for $name {
            fn spell<'a>(&self, place: &'a mut [u8; SPELLED_MAX]) -> &'a str {
                spell_bits($prefix, self.0.0, place)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.strip_prefix($prefix).and_then(read_bits).map(|bits| Self(Bits(bits))).ok_or_else(
                    || NotAnId {
                        text: crate::visible::visible(&text.chars().take(60).collect::<String>()),
                        kind: $kind,
                        prefix: $prefix,
                    },
                )
            }
        }
    };
}

id!(
    /// Names one conversation with one agent.
    SessionId, "ses_", "session"
);
id!(
    /// Names one stretch of work in a session.
    RunId, "run_", "run"
);
id!(
    /// Names one message of a transcript.
    MessageId, "msg_", "message"
);
id!(
    /// Names one tool call. The model's own name for it is `tool_use_id`.
    CallId, "call_", "call"
);
id!(
    /// Names one hold, put to people.
    HoldId, "hold_", "hold"
);
id!(
    /// Names one grant.
    GrantId, "grant_", "grant"
);
id!(
    /// Names one token (never its secret).
    TokenId, "tok_", "token"
);
id!(
    /// Names one secret that a person gave (never its value).
    SecretId, "sec_", "secret"
);
id!(
    /// Names one upload of a file. Who knows the digest of the bytes knows no id.
    FileId, "file_", "file"
);
id!(
    /// Names one commit, so that one whose fate is unknown can be looked for.
    CommitId, "evt_", "commit"
);
id!(
    /// Names one process of the server.
    NodeId, "node_", "node"
);

/// What events are about: each stream has its own versions and its own consecutive positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// One conversation.
    Session(SessionId),
    /// A hold that an outside program opened: it belongs to no session.
    ExternalHold(HoldId),
    /// Tokens, logins, freezing: the state that every session shares.
    Global,
}

impl StreamId {
    /// The session whose stream it is.
    pub fn session(self) -> Option<SessionId> {
        match self {
            StreamId::Session(id) => Some(id),
            StreamId::ExternalHold(_) | StreamId::Global => None,
        }
    }
}

impl Spell for StreamId {
    fn spell<'a>(&self, place: &'a mut [u8; SPELLED_MAX]) -> &'a str {
        match self {
            StreamId::Session(id) => id.spell(place),
            StreamId::ExternalHold(id) => id.spell(place),
            StreamId::Global => "house",
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spell(&mut [0; SPELLED_MAX]))
    }
}

impl FromStr for StreamId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if text == "house" {
            return Ok(StreamId::Global);
        }
        match text.parse() {
            Ok(id) => Ok(StreamId::ExternalHold(id)),
            Err(_) => text.parse().map(StreamId::Session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_being_written_and_read() {
        let id = HoldId::new(1_763_000_000_000, 0x1234_5678_9abc_def0_1234);
        let text = id.to_string();
        assert!(text.starts_with("hold_") && text.len() == 31, "{text}");
        assert_eq!(text.parse::<HoldId>(), Ok(id));
    }

    #[test]
    fn every_bit_is_in_the_text() {
        for bit in 0..128 {
            let id = CallId(Bits(1 << bit));
            let text = id.to_string();
            assert_eq!(text.parse::<CallId>(), Ok(id), "{text}");
            let (ones, place) = (text.bytes().rev().take(26), bit / 5);
            let set: Vec<usize> =
                ones.enumerate().filter(|(_, digit)| *digit != b'0').map(|(at, _)| at).collect();
            assert_eq!(set, [place], "{text}");
        }
        assert_eq!(GrantId(Bits(u128::MAX)).to_string().len(), SPELLED_MAX);
    }

    #[test]
    fn later_ids_sort_later_as_text_too() {
        let (early, late) = (HoldId::new(1_000, u128::MAX), HoldId::new(1_001, 0));
        assert!(early < late && early.to_string() < late.to_string());
    }

    #[test]
    fn another_kind_of_id_is_refused_with_a_hint() {
        let error = "ses_01jd3k".parse::<HoldId>().unwrap_err().to_string();
        assert_eq!(error, "`ses_01jd3k` is not a hold id: one looks like `hold_01jd3k…`");
    }

    #[test]
    fn an_id_has_one_spelling() {
        let text = HoldId::new(5, 7).to_string().to_uppercase();
        assert!(text.parse::<HoldId>().is_err());
        assert!("hold_zzzzzzzzzzzzzzzzzzzzzzzzzz".parse::<HoldId>().is_err(), "130 bits");
        for odd in (0..=u8::MAX).filter(|byte| !ALPHABET.contains(byte)) {
            let odd = char::from(odd);
            // As long as an id is, in bytes.
            let text = format!("hold_{}{odd}", "0".repeat(26 - odd.len_utf8()));
            assert!(text.parse::<HoldId>().is_err(), "{text}");
        }
    }
}
