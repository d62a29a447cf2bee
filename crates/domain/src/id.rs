//! Names of things. Each kind of id is its own type and says what it is when pasted into a chat.

use std::fmt;
use std::str::FromStr;

/// 48 bits of time, so that ids sort by age, then 80 bits of chance, so that nobody guesses one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(pub u128);

impl Bits {
    pub fn new(now_ms: i64, chance: u128) -> Bits {
        let time = (now_ms.max(0) as u128) & ((1 << 48) - 1);
        Bits((time << 80) | (chance & ((1 << 80) - 1)))
    }

    /// The 80 random bits, for those who make a second id out of the first.
    pub fn chance(self) -> u128 {
        self.0 & ((1 << 80) - 1)
    }
}

/// Crockford's base 32: no i, l, o, u, so that ids survive being read aloud.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn write_bits(bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0u8; 26];
    for (place, slot) in text.iter_mut().enumerate() {
        *slot = ALPHABET[((bits >> (125 - place * 5)) & 31) as usize];
    }
    f.write_str(std::str::from_utf8(&text).unwrap_or_default())
}

fn read_bits(text: &str) -> Option<u128> {
    // 26 characters hold 130 bits, so the first one may only be 0 to 7.
    if text.len() != 26 || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0u128, |bits, byte| {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        Some((bits << 5) | digit as u128)
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
            pub const PREFIX: &'static str = $prefix;

            pub fn new(now_ms: i64, chance: u128) -> Self {
                Self(Bits::new(now_ms, chance))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                write_bits(self.0.0, f)
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
    Session(SessionId),
    /// A hold that an outside program opened: it belongs to no session.
    Outside(HoldId),
    /// Tokens, logins, freezing: what concerns the whole house.
    House,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamId::Session(id) => id.fmt(f),
            StreamId::Outside(id) => id.fmt(f),
            StreamId::House => f.write_str("house"),
        }
    }
}

impl FromStr for StreamId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        if text == "house" {
            return Ok(StreamId::House);
        }
        match text.parse() {
            Ok(id) => Ok(StreamId::Outside(id)),
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
    }
}
