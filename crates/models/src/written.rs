//! Arguments of a call on their way back: as the model wrote them, to the byte, if a provider could
//! read them at all.

use serde_json::Value;
use serde_json::value::RawValue;

/// An object, as it was written. What is none was never run, and the result says so; sent as it is,
/// it would make every later request of the session be refused.
pub(crate) fn object(written: &str) -> Result<Box<RawValue>, serde_json::Error> {
    // The whole is parsed, and not only skimmed: a lone surrogate is found no other way.
    match serde_json::from_str::<Value>(written) {
        Ok(Value::Object(_)) => RawValue::from_string(written.trim().to_owned()),
        _ => serde_json::value::to_raw_value(&serde_json::json!({ "not_an_object": written })),
    }
}

/// A picture as OpenAI's APIs take it: in the address itself.
#[cfg(feature = "openai")]
pub(crate) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    use base64::Engine as _;
    let mut url = format!("data:{media_type};base64,");
    base64::engine::general_purpose::STANDARD.encode_string(bytes, &mut url);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_object_stays_as_it_is_and_anything_else_becomes_one() {
        for (written, sent) in [
            (r#"{"b": 1.50, "a":[ ]}"#, r#"{"b": 1.50, "a":[ ]}"#),
            (" {} ", "{}"),
            ("[1]", r#"{"not_an_object":"[1]"}"#),
            (r#"{"a":"#, r#"{"not_an_object":"{\"a\":"}"#),
            (r#"{"a":"\ud800"}"#, r#"{"not_an_object":"{\"a\":\"\\ud800\"}"}"#),
            ("", r#"{"not_an_object":""}"#),
        ] {
            assert_eq!(object(written).expect("JSON").get(), sent);
        }
    }
}
