//! What we say to an MCP client by ourselves, in the forms of both eras.

use domain::visible::visible;
use serde::Serialize;
use serde_json::{Value, json};
use tools::mcp::{BadRpc, MODERN, RpcId};

use crate::era::{ClientEra, UNSUPPORTED_VERSION};

#[derive(Serialize)]
struct ResultMessage<'a, T> {
    jsonrpc: &'static str,
    id: &'a RpcId,
    result: T,
}

#[derive(Serialize)]
struct ErrorMessage<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RpcId>,
    error: RpcFailure,
}

#[derive(Serialize)]
struct NotificationMessage<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RpcFailure {
    pub code: i64,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcFailure {
    pub fn new(code: i64, message: impl Into<String>) -> RpcFailure {
        RpcFailure { code, message: message.into(), data: None }
    }
}

impl RpcFailure {
    /// A version of the protocol that is not spoken, and which are.
    pub(crate) fn unspoken(version: &str) -> RpcFailure {
        let why = format!("`{}` is not a version that is spoken", visible(version));
        let data = json!({"supported": [MODERN], "requested": version});
        RpcFailure { data: Some(data), ..RpcFailure::new(UNSUPPORTED_VERSION, why) }
    }
}

/// The result of a tool that is ours, or that was not called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallReply {
    content: [TextBlock; 1],
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    #[serde(rename = "isError", skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TextBlock {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

impl CallReply {
    pub fn text(text: impl Into<String>) -> CallReply {
        CallReply {
            content: [TextBlock { kind: "text", text: text.into() }],
            structured: None,
            is_error: false,
            result_type: None,
        }
    }

    /// The model reads it: it says what happened and what to do.
    pub fn failed(why: impl Into<String>) -> CallReply {
        CallReply { is_error: true, ..CallReply::text(why) }
    }

    pub fn structured(self, value: Value) -> CallReply {
        CallReply { structured: Some(value), ..self }
    }

    /// As a client of this era reads it.
    pub fn in_era(self, era: ClientEra) -> CallReply {
        CallReply { result_type: era.result_type(), ..self }
    }
}

pub fn result_line(id: &RpcId, result: &impl Serialize) -> Vec<u8> {
    line(&ResultMessage { jsonrpc: "2.0", id, result })
}

pub fn error_line(id: Option<&RpcId>, error: RpcFailure) -> Vec<u8> {
    line(&ErrorMessage { jsonrpc: "2.0", id, error })
}

pub fn bad_line(bad: &BadRpc) -> Vec<u8> {
    error_line(bad.id.as_ref(), RpcFailure::new(bad.code, bad.why))
}

pub fn notification_line(method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&NotificationMessage { jsonrpc: "2.0", method, params })
}

/// Compact JSON of values and of raw texts that stood on one line before.
fn line(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}
