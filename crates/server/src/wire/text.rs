//! Values that are written as texts, straight into the reply. Most of a reply is ids, moments and
//! digests, and a `String` for each would cost more than writing it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::digest::{DIGEST_SPELLED, Digest};
use domain::id::{
    CallId, FileId, GrantId, HoldId, MessageId, RunId, SPELLED_MAX, SessionId, Spell as _, TokenId,
};
use domain::person::{Actor, PersonId};
use domain::time::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// As it says itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

/// What has one text, the same as its `Display`, without the machinery of formats.
pub(crate) trait Spelling {
    fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R;
}

macro_rules! spelled {
    ($($kind:ty),*) => { $(
        impl Spelling for $kind {
            fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R {
                hear(self.spell(&mut [0; SPELLED_MAX]))
            }
        }
    )* };
}

spelled!(SessionId, RunId, MessageId, CallId, FileId, HoldId, GrantId, TokenId, Timestamp);

impl Spelling for Digest {
    fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R {
        hear(self.spell(&mut [0; DIGEST_SPELLED]))
    }
}

impl Spelling for PersonId {
    fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R {
        hear(self.as_str())
    }
}

impl Spelling for Actor {
    fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R {
        hear(self.as_str())
    }
}

impl<T: Spelling> Spelling for &T {
    fn say<R>(&self, hear: impl FnOnce(&str) -> R) -> R {
        (**self).say(hear)
    }
}

impl<T: Spelling> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.say(|text| serializer.serialize_str(text))
    }
}

impl<T> JsonSchema for Text<T> {
    fn inline_schema() -> bool {
        String::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        String::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A list of texts.
pub(super) fn texts<T: Spelling, S: Serializer>(
    items: &&BTreeSet<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(Text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_written_as_a_string_would_be() {
        let odd = PersonId::new("a \"b\"\n\u{1}é");
        assert_eq!(json!(Text(&odd)), json!(odd.as_str()));
        let written = crate::asked::bytes(&Text(&odd));
        assert_eq!(written, serde_json::to_vec(odd.as_str()).unwrap());
    }

    #[test]
    fn everything_says_what_it_displays() {
        #[track_caller]
        fn check<T: Spelling + std::fmt::Display>(value: T) {
            assert_eq!(value.say(str::to_owned), value.to_string());
        }
        check(HoldId::new(1_763_000_000_000, 7));
        check(TokenId::new(1, u128::MAX));
        check(Digest::of(b"x"));
        check(Timestamp::from_ms(1_763_172_180_007));
        check(Actor::Runtime);
        check(Actor::Person(PersonId::new("ana")));
        check(Actor::Program { token: TokenId::new(1, 2), name: "ci".into(), minted_by: None });
    }
}
