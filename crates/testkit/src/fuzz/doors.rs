//! Bodies of the doors for clients of other systems. Nothing is taken for a yes that does not plainly
//! say so, and nothing that says two things is taken at all.

use serde_json::Value;
use server::fuzz_api::{DoorBody, DoorSaid, door, form};

use super::{Pieces, text, told_plainly};

const BODIES: [DoorBody; 7] = [
    DoorBody::Chat,
    DoorBody::Project,
    DoorBody::Run,
    DoorBody::Results,
    DoorBody::ToolResult,
    DoorBody::Respond,
    DoorBody::Said,
];

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let kind = pieces.byte() % 8;
    if kind == 7 {
        return a_form(pieces);
    }
    let (kind, body) = (BODIES[usize::from(kind)], pieces.rest());
    match door(kind, body) {
        Ok(said) => {
            let value = serde_json::from_slice(body).unwrap_or_default();
            assert_eq!(door(kind, body).as_ref(), Ok(&said), "the same again");
            is_said(kind, &said, &value);
            assert!(!says_twice(body), "{kind:?}: a key stands twice, and it is taken");
        }
        Err(told) => told_plainly(&told, body.len()),
    }
}

/// Looked up in the body by another reader.
fn is_said(kind: DoorBody, said: &DoorSaid, body: &Value) {
    for text in &said.texts {
        let whole = text.rsplit_once("]\n").map_or(text.as_str(), |(_, whole)| whole);
        let stands = anywhere(body, &|value| value == text.as_str());
        assert!(stands || is_a_file(body, whole), "{text:?} was not said");
    }
    for answer in &said.answers {
        assert!(anywhere(body, &|value| *value == *answer.about), "{answer:?} is about nothing");
        let (key, yes): (&str, Value) = match kind {
            DoorBody::Chat | DoorBody::Project => ("approved", true.into()),
            _ => ("decision", "approve".into()),
        };
        if answer.approves == Some(true) {
            let named = |value: &Value| {
                let members = value.as_object().into_iter().flatten();
                value[key] == yes && members.into_iter().any(|(_, value)| *value == *answer.about)
            };
            assert!(anywhere(body, &named), "{answer:?} is not in {body}");
        }
    }
}

/// Files of text come in base64, so their words stand nowhere.
fn is_a_file(body: &Value, text: &str) -> bool {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(text);
    anywhere(body, &|value| value.as_str().is_some_and(|url| url.ends_with(&data)))
}

fn anywhere(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| anywhere(item, is)),
            Value::Object(members) => members.values().any(|member| anywhere(member, is)),
            _ => false,
        }
}

/// Whether a key stands twice in an object, by a reader that keeps nothing but keys.
fn says_twice(body: &[u8]) -> bool {
    let Some(body) = text(body) else { return false };
    let (mut open, mut rest): (Vec<Vec<String>>, &str) = (Vec::new(), body);
    while let Some(c) = rest.chars().next() {
        let mut next = c.len_utf8();
        match c {
            '{' => open.push(Vec::new()),
            '[' => open.push(vec!["[".into()]),
            '}' | ']' => drop(open.pop()),
            '"' => {
                let mut words = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let Some(Ok(word)) = words.next() else { return false };
                next = words.byte_offset();
                let is_key = rest[next..].trim_start().starts_with(':');
                if let Some(keys) = open.last_mut().filter(|_| is_key) {
                    if keys.contains(&word) {
                        return true;
                    }
                    keys.push(word);
                }
            }
            _ => {}
        }
        rest = &rest[next..];
    }
    false
}

/// A form with files: what is taken out of it was in it, and in its order.
fn a_form(mut pieces: Pieces<'_>) {
    let boundary = pieces.text();
    let body = pieces.rest();
    match form(&format!("multipart/form-data; boundary={boundary}"), body) {
        Err(told) => told_plainly(&told, 0),
        Ok(parts) => {
            let mut rest = body;
            for (_, _, content) in &parts {
                let at = rest.windows(content.len().max(1)).position(|part| part == &content[..]);
                assert!(content.is_empty() || at.is_some(), "a part that was not sent");
                rest = &rest[at.unwrap_or(0) + content.len()..];
            }
        }
    }
}
