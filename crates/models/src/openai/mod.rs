//! The APIs of OpenAI: Chat Completions, which nearly every other server speaks too, and Responses.

pub mod chat;
pub mod responses;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::fault::ProviderError;

/// Both APIs take the key in the same way.
fn bearer(key: Option<&str>) -> Vec<(&'static str, Cow<'static, str>)> {
    key.map(|key| ("authorization", format!("Bearer {key}").into())).into_iter().collect()
}

#[derive(Default, Deserialize)]
struct OpenAiErrorBody {
    error: Option<Value>,
}

/// Both have the same envelope. Compatible servers put texts and numbers anywhere in it.
pub(crate) fn problem(body: &[u8]) -> ProviderError {
    let envelope: OpenAiErrorBody = serde_json::from_slice(body).unwrap_or_default();
    provider_error(&envelope.error.unwrap_or_default())
}

fn provider_error(error: &Value) -> ProviderError {
    let word = |key: &str| match error.get(key)? {
        Value::String(word) => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let message = word("message").or_else(|| error.as_str().map(str::to_owned));
    ProviderError { kind: word("type"), code: word("code"), message }
}
