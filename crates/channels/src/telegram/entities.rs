//! Who is mentioned in a text. Telegram counts in UTF-16 units, whatever the text is written in.

use serde_json::Value;

/// Our own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TelegramAccount {
    pub(super) id: String,
    pub(super) username: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mentions {
    /// As they are written.
    pub(super) us: Vec<String>,
    pub(super) others: bool,
}

pub(super) fn mentions(text: &str, entities: &Value, me: &TelegramAccount) -> Mentions {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut found = Mentions::default();
    for entity in entities.as_array().map_or(&[][..], Vec::as_slice) {
        let Some(written) = slice(&units, entity) else { continue };
        let is_me = |name: &str| name.eq_ignore_ascii_case(&me.username);
        match entity["type"].as_str() {
            Some("mention") => match is_me(written.trim_start_matches('@')) {
                true => found.us.push(written),
                false => found.others = true,
            },
            Some("text_mention") => match id(&entity["user"]["id"]).is_some_and(|id| id == me.id) {
                true => found.us.push(written),
                false => found.others = true,
            },
            // `/approve@bot`: a command for one bot of several.
            Some("bot_command") => match written.split_once('@') {
                Some((_, name)) if is_me(name) => found.us.push(format!("@{name}")),
                Some(_) => found.others = true,
                None => {}
            },
            _ => {}
        }
    }
    found
}

fn slice(units: &[u16], entity: &Value) -> Option<String> {
    let at = |name: &str| usize::try_from(entity[name].as_u64()?).ok();
    let (start, length) = (at("offset")?, at("length")?);
    String::from_utf16(units.get(start..start.checked_add(length)?)?).ok()
}

/// An id of a person, a chat or a message, which are numbers of up to 52 bits.
pub(super) fn id(value: &Value) -> Option<String> {
    value.as_i64().map(|id| id.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, entities: Value) -> Mentions {
        let me = TelegramAccount { id: "42".into(), username: "HoldBot".into() };
        mentions(text, &entities, &me)
    }

    fn one(kind: &str, offset: usize, length: usize) -> Value {
        json!([{"type": kind, "offset": offset, "length": length}])
    }

    #[test]
    fn a_mention_is_found_where_it_stands() {
        let us = |spelt: &str| Mentions { us: vec![spelt.into()], others: false };
        // 👍 counts as two.
        assert_eq!(check("👍 @holdbot yes", one("mention", 3, 8)), us("@holdbot"));
        assert_eq!(check("/approve@HoldBot", one("bot_command", 0, 16)), us("@HoldBot"));
        let named = json!([{"type": "text_mention", "offset": 0, "length": 4, "user": {"id": 42}}]);
        assert_eq!(check("Hold yes", named), us("Hold"));
        for (text, entities) in [
            ("@other yes", one("mention", 0, 6)),
            ("/approve@other", one("bot_command", 0, 14)),
            (
                "Bob yes",
                json!([{"type": "text_mention", "offset": 0, "length": 3, "user": {"id": 7}}]),
            ),
        ] {
            assert_eq!(check(text, entities), Mentions { us: Vec::new(), others: true }, "{text}");
        }
    }

    #[test]
    fn what_points_nowhere_is_no_mention() {
        for entities in [
            one("mention", 0, 99),
            one("mention", usize::MAX, 2),
            one("bold", 0, 3),
            one("mention", 1, 1),
            json!("x"),
            Value::Null,
        ] {
            assert_eq!(check("👍 yes", entities.clone()), Mentions::default(), "{entities}");
        }
    }
}
