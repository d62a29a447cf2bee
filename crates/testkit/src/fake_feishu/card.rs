//! What the platform refuses in a card 2.0.

use std::collections::HashSet;

use serde_json::Value;

/// What is wrong with it, with the platform's own code.
pub fn problem(card: &Value) -> Option<String> {
    if card["schema"] != "2.0" || card["config"]["update_multi"] != true {
        return Some("200830: not a shared card of version 2.0".into());
    }
    let mut seen = Seen::default();
    let found = walk(&card["body"], &mut seen);
    found.or_else(|| (seen.elements > 200).then(|| "more than 200 elements".into()))
}

#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    names: HashSet<String>,
    elements: usize,
}

fn walk(value: &Value, seen: &mut Seen) -> Option<String> {
    if let Some(tag) = value["tag"].as_str() {
        seen.elements += 1;
        if tag == "action" {
            return Some("200861: there is no tag `action` in version 2.0".into());
        }
        if let Some(id) = value["element_id"].as_str() {
            let sound = (1..=20).contains(&id.len())
                && id.starts_with(|c: char| c.is_ascii_alphabetic())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !sound || !seen.ids.insert(id.to_owned()) {
                return Some(format!("the element_id {id} is bad or taken"));
            }
        }
        if let Some(name) = value["name"].as_str()
            && (name.is_empty() || !seen.names.insert(name.to_owned()))
        {
            return Some("200530: names are unique and not empty".into());
        }
        let most = value["max_length"].as_u64();
        if tag == "input" && most.is_some_and(|most| !(1..=1_000).contains(&most)) {
            return Some("an input takes 1 to 1000 characters".into());
        }
        let label = value["text"]["content"].as_str().unwrap_or_default();
        if tag == "button" && (label.is_empty() || label.chars().count() > 100) {
            return Some("a button needs a text of at most 100 characters".into());
        }
    }
    for behavior in value["behaviors"].as_array().into_iter().flatten() {
        if behavior["type"] == "callback" && !behavior["value"].is_object() {
            return Some("200672: a value is an object".into());
        }
    }
    let inner: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => Vec::new(),
    };
    inner.into_iter().find_map(|value| walk(value, seen))
}
