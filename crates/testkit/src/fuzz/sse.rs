//! Event streams: no text can forge an event, and a position is a number or nothing.

use serde_json::{Value, json};

use super::Pieces;

pub(super) fn run(bytes: &[u8]) {
    if let Some(Ok(position)) = server::fuzz_api::last_event_id(bytes) {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(position.map(|at| at.to_string()).as_deref(), plain(text.trim()));
    }
    let mut pieces = Pieces::new(bytes);
    let id = match pieces.byte() {
        0 => None,
        number => Some(u64::from(number) << (number % 56)),
    };
    let said = String::from_utf8_lossy(pieces.rest());
    let data = json!({ "text": said, said.clone(): [said] });
    let heard = events(&server::fuzz_api::event(id, data.clone()));
    assert_eq!(heard.len(), 1, "one event is one event");
    assert_eq!(heard[0].0, id.map(|id| id.to_string()));
    assert_eq!(heard[0].1, "message.delta");
    let read: Value = serde_json::from_str(&heard[0].2).expect("the data is JSON");
    assert_eq!(read, data);
}

/// A number as we write it, or with a sign or zeros in front, which reading forgives.
fn plain(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { "0" } else { digits })
}

/// A reader of event streams, as the standard describes one: id, name, data.
fn events(stream: &[u8]) -> Vec<(Option<String>, String, String)> {
    let text = std::str::from_utf8(stream).expect("a stream is text");
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut id, mut name, mut data) = (None, String::new(), Vec::new());
    for line in text.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() && !data.is_empty() => {
                let data = std::mem::take(&mut data).join("\n");
                events.push((id.take(), std::mem::take(&mut name), data));
            }
            "id" => id = Some(value.to_owned()),
            "event" => name = value.to_owned(),
            "data" => data.push(value.to_owned()),
            _ => {}
        }
    }
    events
}
