//! One spelling for equal values, to find a decision about the same call again. Never to bind one:
//! approvals are bound to the exact bytes.

use serde::Serialize;
use serde_json::Value;

/// Keys sorted at every level, no white space, numbers and strings exact: `1`, `1.0` and `"1"` are
/// three different things.
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut text = Vec::with_capacity(64);
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_canonical(item, out);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by_key(|(key, _)| key.as_bytes());
            out.push(b'{');
            for (index, (key, item)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                spell(key, out);
                out.push(b':');
                write_canonical(item, out);
            }
            out.push(b'}');
        }
        leaf => spell(leaf, out),
    }
}

/// As serde_json writes it, and straight to where it belongs.
pub(crate) fn spell(leaf: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    serde_json::to_writer(out, leaf).expect("memory takes everything");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> String {
        String::from_utf8(canonical(&serde_json::from_str(text).unwrap())).unwrap()
    }

    #[test]
    fn order_and_white_space_do_not_count() {
        assert_eq!(
            of(r#" {"b": [1, {"z": null, "a": "\u00e9\n"}], "a": 1.50} "#),
            r#"{"a":1.5,"b":[1,{"a":"é\n","z":null}]}"#
        );
    }

    #[test]
    fn kinds_stay_apart() {
        let spellings = [json!(1), json!(1.0), json!("1"), json!(true), json!("true"), json!([1])];
        for (at, one) in spellings.iter().enumerate() {
            for other in &spellings[at + 1..] {
                assert_ne!(canonical(one), canonical(other));
            }
        }
    }

    #[test]
    fn a_key_cannot_pass_for_structure() {
        assert_ne!(canonical(&json!({"a\":1,\"b": 2})), canonical(&json!({"a": 1, "b": 2})));
    }
}
