//! A JSON-RPC message that is passed on: read no further than is needed to know where it goes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::raw_object::RawObject;

/// The code of a line that is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The code of JSON that is no message.
pub const INVALID_REQUEST: i64 = -32600;
/// The code of parameters that do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The code of something that went wrong on the way.
pub const INTERNAL_ERROR: i64 = -32603;

/// What a request is called, and its answer with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RpcId {
    Number(i64),
    Text(String),
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RpcId::Number(number) => write!(f, "{number}"),
            RpcId::Text(text) => f.write_str(text),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcKind {
    Request { id: RpcId, method: String },
    Notification { method: String },
    Response { id: RpcId },
}

/// One whole message, as it was written.
#[derive(Clone, Debug)]
pub struct RpcMessage {
    pub kind: RpcKind,
    pub object: RawObject,
}

/// Why a line is no message, and whose answer says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRpc {
    pub code: i64,
    pub why: &'static str,
    pub id: Option<RpcId>,
}

impl RpcMessage {
    pub fn parse(line: &[u8]) -> Result<RpcMessage, BadRpc> {
        let bad = |code, why| BadRpc { code, why, id: None };
        let text =
            std::str::from_utf8(line).map_err(|_| bad(PARSE_ERROR, "the line is not UTF-8"))?;
        if text.trim_start().starts_with('[') {
            return Err(bad(INVALID_REQUEST, "batches are not taken; send one message a line"));
        }
        let raw: &RawValue = serde_json::from_str(text)
            .map_err(|_| bad(PARSE_ERROR, "the line is not one JSON value"))?;
        let object = RawObject::parse(raw.get())
            .map_err(|_| bad(INVALID_REQUEST, "the line is no object, or a key stands twice"))?;
        if object.has_look_alike(&["jsonrpc", "id", "method", "params", "result", "error"]) {
            return Err(bad(INVALID_REQUEST, "a key is spelled almost like another one"));
        }
        let kind = RpcMessage::find_kind(&object)?;
        Ok(RpcMessage { kind, object })
    }

    fn find_kind(object: &RawObject) -> Result<RpcKind, BadRpc> {
        let id: Option<RpcId> = object.get("id").and_then(|id| serde_json::from_str(id.get()).ok());
        let bad = |why| BadRpc { code: INVALID_REQUEST, why, id: id.clone() };
        if object.get_text("jsonrpc").as_deref() != Some("2.0") {
            return Err(bad("`jsonrpc` must be \"2.0\""));
        }
        if object.get("id").is_some() && id.is_none() {
            return Err(bad("`id` must be a string or a whole number"));
        }
        let outcomes = ["result", "error"].iter().filter(|key| object.get(key).is_some()).count();
        if object.get("method").is_some() {
            let method = object.get_text("method").ok_or_else(|| bad("`method` is no string"))?;
            if outcomes > 0 {
                return Err(bad("a request has neither `result` nor `error`"));
            }
            return Ok(match id.clone() {
                Some(id) => RpcKind::Request { id, method },
                None => RpcKind::Notification { method },
            });
        }
        match (id.clone(), outcomes) {
            (Some(id), 1) => Ok(RpcKind::Response { id }),
            _ => Err(bad("a message has a `method`, or an `id` and one of `result` and `error`")),
        }
    }

    /// The parameters; none are an empty object. `None`: they are something else.
    pub fn params(&self) -> Option<RawObject> {
        match self.object.get("params") {
            None => Some(RawObject::default()),
            Some(params) => RawObject::parse(params.get()).ok(),
        }
    }

    /// The same message under another id.
    #[must_use]
    pub fn with_id(mut self, new: &RpcId) -> RpcMessage {
        // An id is text or a number, which can always be written.
        let _ = self.object.set_value("id", new);
        match &mut self.kind {
            RpcKind::Request { id, .. } | RpcKind::Response { id } => *id = new.clone(),
            RpcKind::Notification { .. } => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_refused_with_a_code() {
        for (line, code) in [
            ("", PARSE_ERROR),
            ("hello", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("{}{}", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("7", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","result":{}}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"METHOD":"tools/call"}"#, INVALID_REQUEST),
        ] {
            assert_eq!(RpcMessage::parse(line.as_bytes()).unwrap_err().code, code, "{line}");
        }
        assert_eq!(RpcMessage::parse(b"\xff").unwrap_err().code, PARSE_ERROR);
        let named = RpcMessage::parse(br#"{"jsonrpc":"2.0","id":"a","method":7}"#).unwrap_err();
        assert_eq!(named.id, Some(RpcId::Text("a".into())));
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        let kind = |line: &str| RpcMessage::parse(line.as_bytes()).unwrap().kind;
        let id = RpcId::Number(7);
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#),
            RpcKind::Request { id: id.clone(), method: "ping".into() }
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","method":"m"}"#),
            RpcKind::Notification { method: "m".into() }
        );
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":7,"error":{}}"#), RpcKind::Response { id });
    }
}
