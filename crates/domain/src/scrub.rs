//! Takes secrets out of texts that others wrote: a tool that prints its own arguments prints its
//! secrets, too. Found are the exact value and the ways in which programs usually write one.

use serde_json::Value;

/// What stands in place of a secret that was found.
pub const MARK: &str = "‹secret›";

/// A shorter value would be found everywhere, and texts would be full of marks that say nothing.
const BYTES_MIN: usize = 4;

/// Knows the spellings of some secrets. It has no `Debug`: they are in it.
#[derive(Clone, Default)]
pub struct Scrubber {
    /// The longest first, so that a secret within another's spelling does not break that one up.
    spellings: Vec<String>,
}

impl Scrubber {
    /// For these secrets, in every spelling in which they could turn up in a text.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Value>) -> Scrubber {
        let mut spellings = Vec::new();
        for secret in secrets {
            collect(secret, &mut spellings);
        }
        spellings.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        spellings.dedup();
        Scrubber { spellings }
    }

    /// Whether there is nothing to take out, so that texts need not be looked at.
    pub fn is_idle(&self) -> bool {
        self.spellings.is_empty()
    }

    /// The text with a mark in place of every secret.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for spelling in &self.spellings {
            if clean.contains(spelling.as_str()) {
                clean = clean.replace(spelling.as_str(), MARK);
            }
        }
        clean
    }

    /// For a text whose end was cut off: also the beginning of a secret at the very end goes.
    #[must_use]
    pub fn scrub_cut(&self, text: &str) -> String {
        let mut clean = self.scrub(text);
        let partial = |spelling: &String| {
            let ends = spelling.char_indices().map(|(at, _)| at).rev();
            ends.filter(|at| *at >= BYTES_MIN).find(|at| clean.ends_with(&spelling[..*at]))
        };
        if let Some(length) = self.spellings.iter().filter_map(partial).max() {
            clean.truncate(clean.len() - length);
            clean.push_str(MARK);
        }
        clean
    }

    /// Every text in a value, also the names of members.
    #[must_use]
    pub fn scrub_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.scrub(text)),
            Value::Array(items) => items.iter().map(|item| self.scrub_value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, inner)| (self.scrub(key), self.scrub_value(inner)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            // A number may be one.
            other if self.spellings.contains(&other.to_string()) => Value::from(MARK),
            other => other.clone(),
        }
    }
}

fn collect(secret: &Value, spellings: &mut Vec<String>) {
    match secret {
        Value::String(text) => spell(text, spellings),
        Value::Array(items) => items.iter().for_each(|item| collect(item, spellings)),
        Value::Object(map) => map.values().for_each(|inner| collect(inner, spellings)),
        Value::Number(number) => spell(&number.to_string(), spellings),
        Value::Null | Value::Bool(_) => {}
    }
}

fn spell(text: &str, spellings: &mut Vec<String>) {
    if text.len() < BYTES_MIN {
        return;
    }
    let bytes = text.as_bytes();
    spellings.push(text.to_owned());
    let json = Value::from(text).to_string();
    let json = json.trim_matches('"');
    spellings.push(json.to_owned());
    // JSON within JSON, as a tool that quotes its input gives it back.
    spellings.push(Value::from(json).to_string().trim_matches('"').to_owned());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    spellings.push(hex.to_uppercase());
    spellings.push(hex);
    for upper in [true, false] {
        spellings.push(percent(bytes, upper));
        spellings.push(percent(bytes, upper).replace("%20", "+"));
    }
    for letters in [STANDARD, URL_SAFE] {
        // Within a longer text a value may begin at any of three places of a group.
        spellings.extend((0..3).map(|lead| base64(bytes, lead, letters)));
    }
    spellings.retain(|spelling| spelling.len() >= BYTES_MIN);
}

fn percent(bytes: &[u8], upper: bool) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let spelled = bytes.iter().map(|byte| match (plain(*byte), upper) {
        (true, _) => char::from(*byte).to_string(),
        (false, true) => format!("%{byte:02X}"),
        (false, false) => format!("%{byte:02x}"),
    });
    spelled.collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The letters that the bytes alone decide, when `lead` other bytes stand before them.
fn base64(bytes: &[u8], lead: usize, letters: &[u8; 64]) -> String {
    let bits = |at: usize| {
        let byte = at / 8;
        let inside = byte.checked_sub(lead).and_then(|index| bytes.get(index))?;
        Some(inside >> (7 - at % 8) & 1)
    };
    let end = (lead + bytes.len()) * 8;
    let groups = (lead * 8).div_ceil(6)..end / 6;
    let letter = |group: usize| {
        let index = (0..6).try_fold(0u8, |index, at| Some(index << 1 | bits(group * 6 + at)?));
        index.map(|index| char::from(letters[usize::from(index)]))
    };
    groups.filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scrubber() -> Scrubber {
        Scrubber::new([&json!("hunter2 \"&é"), &json!(123_456), &json!("abc")])
    }

    #[test]
    fn i45_every_usual_spelling_is_found() {
        for (printed, clean) in [
            ("key=hunter2 \"&é!", "key=‹secret›!"),
            (r#"{"key":"hunter2 \"&é"}"#, r#"{"key":"‹secret›"}"#),
            (r#"{\"key\":\"hunter2 \\\"&é\"}"#, r#"{\"key\":\"‹secret›\"}"#),
            ("68756e7465723220222 6", "68756e7465723220222 6"),
            ("x68756e746572322022", "x68756e746572322022"),
            ("68756e74657232202226c3a9", "‹secret›"),
            ("68756E74657232202226C3A9", "‹secret›"),
            ("hunter2%20%22%26%C3%A9", "‹secret›"),
            ("hunter2+%22%26%c3%a9", "‹secret›"),
            // The last two letters of this group also hold the padding's bits.
            ("aHVudGVyMiAiJsOp", "‹secret›"),
            ("n 123456 n", "n ‹secret› n"),
            ("abc", "abc"),
        ] {
            assert_eq!(scrubber().scrub(printed), clean, "{printed}");
        }
    }

    #[test]
    fn i45_a_secret_inside_a_longer_base64_text_is_found_wherever_it_begins() {
        // base64 of "user:tr0ub4dor&3", and with one and two bytes more before it.
        let scrubber = Scrubber::new([&json!("tr0ub4dor&3")]);
        for (text, start) in [
            ("dXNlcjp0cjB1YjRkb3ImMw==", "dXNlcjp0"),
            ("eHVzZXI6dHIwdWI0ZG9yJjM=", "eHVzZXI6"),
            ("eHh1c2VyOnRyMHViNGRvciYz", "eHh1c2VyOn"),
        ] {
            let clean = scrubber.scrub(text);
            assert!(clean.contains(MARK), "{text} → {clean}");
            assert!(clean.len() < text.len() && clean.starts_with(&start[..6]), "{clean}");
        }
    }

    #[test]
    fn i45_a_secret_that_was_cut_in_the_middle_does_not_stay_half() {
        let scrubber = Scrubber::new([&json!("correct horse battery")]);
        assert_eq!(scrubber.scrub_cut("the key is correct horse"), "the key is ‹secret›");
        assert_eq!(scrubber.scrub_cut("correct"), "‹secret›");
        assert_eq!(scrubber.scrub_cut("cor"), "cor", "too little to tell");
        assert_eq!(scrubber.scrub_cut("correct horse battery."), "‹secret›.");
    }

    #[test]
    fn whole_values_are_walked_through() {
        let value = json!({"a": ["x tr0ub4dor", 123_456, 7], "tr0ub4dor": null});
        let scrubber = Scrubber::new([&json!({"k": ["tr0ub4dor", 123_456, true]})]);
        assert_eq!(
            scrubber.scrub_value(&value),
            json!({"a": ["x ‹secret›", "‹secret›", 7], "‹secret›": null})
        );
        assert!(Scrubber::new([&json!("abc"), &json!(null)]).is_idle());
    }
}
