//! JSON-RPC as MCP speaks it: what is sent, and what may come in.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The code of a method that is not there.
pub(crate) const NO_SUCH_METHOD: i64 = -32601;
/// The code of a protocol version that is not spoken.
pub(crate) const NO_SUCH_VERSION: i64 = -32022;

/// A message from a server, read no further than is needed to know whose it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonRpcIncoming {
    Answer {
        id: u64,
        answer: Result<Value, RpcError>,
    },
    /// The server wants something of us. Its id is whatever it likes, and is given back as it is.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notice {
        method: String,
        params: Value,
    },
}

/// The other side's word that it did not do it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl JsonRpcIncoming {
    /// `None`: no message of ours. Neither a batch (which no version still allows) nor a response
    /// without an id that we could have sent.
    pub(crate) fn parse(bytes: &[u8]) -> Option<JsonRpcIncoming> {
        let Ok(Value::Object(mut message)) = serde_json::from_slice(bytes) else { return None };
        if message.get("jsonrpc")? != "2.0" {
            return None;
        }
        let id = message.remove("id").filter(|id| !id.is_null());
        let params = message.remove("params").unwrap_or_default();
        if let Some(method) = message.remove("method") {
            let Value::String(method) = method else { return None };
            return Some(match id {
                Some(id) if id.is_string() || id.is_number() => {
                    JsonRpcIncoming::Request { id, method, params }
                }
                Some(_) => return None,
                None => JsonRpcIncoming::Notice { method, params },
            });
        }
        let id = id?.as_u64()?;
        let answer = match (message.remove("result"), message.remove("error")) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(RpcError::parse(&error)),
            _ => return None,
        };
        Some(JsonRpcIncoming::Answer { id, answer })
    }
}

/// A reason is a sentence or two. It reaches people and the model, who must not drown in it.
const ERROR_CHARACTERS_MAX: usize = 2_000;

impl RpcError {
    fn parse(error: &Value) -> RpcError {
        RpcError {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"]
                .as_str()
                .unwrap_or("no reason was given")
                .chars()
                .take(ERROR_CHARACTERS_MAX)
                .collect(),
            data: error.get("data").cloned().unwrap_or_default(),
        }
    }
}

#[derive(Serialize)]
struct JsonRpcOutgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

pub(crate) fn request_bytes(id: u64, method: &str, params: &RawValue) -> Vec<u8> {
    json_line(&JsonRpcOutgoing { jsonrpc: "2.0", id: Some(id), method, params: Some(params) })
}

pub(crate) fn notification_bytes(method: &str, params: Option<&RawValue>) -> Vec<u8> {
    json_line(&JsonRpcOutgoing { jsonrpc: "2.0", id: None, method, params })
}

/// Our answer to a request of the server.
pub(crate) fn answer_bytes(id: &Value, answer: Result<Value, RpcError>) -> Vec<u8> {
    json_line(&match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": error.code, "message": error.message},
        }),
    })
}

/// One line without its end. Arguments are passed on as the very bytes that were approved, and those
/// may be spread over lines: outside of strings, where JSON has no bare line ends, these are white space.
pub(crate) fn json_line(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(message).unwrap_or_default();
    for byte in &mut bytes {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    bytes
}

/// What we know how to answer by ourselves when a server asks; anything but its questions to people.
pub(crate) fn own_answer(method: &str) -> Result<Value, RpcError> {
    match method {
        "ping" => Ok(json!({})),
        _ => Err(RpcError {
            code: NO_SUCH_METHOD,
            message: format!("`{}` is not offered", domain::visible::visible(method)),
            data: Value::Null,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_messages_are_messages() {
        for none in [
            "",
            "hello",
            "[]",
            "null",
            "{}",
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#,
            r#"{"jsonrpc":"2.0","method":7}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
        ] {
            assert_eq!(JsonRpcIncoming::parse(none.as_bytes()), None, "{none}");
        }
        assert_eq!(
            JsonRpcIncoming::parse(
                br#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#
            ),
            Some(JsonRpcIncoming::Answer {
                id: 7,
                answer: Err(RpcError { code: -1, message: "no".into(), data: Value::Null })
            })
        );
        assert!(matches!(
            JsonRpcIncoming::parse(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Some(JsonRpcIncoming::Request { .. })
        ));
        assert!(matches!(
            JsonRpcIncoming::parse(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            Some(JsonRpcIncoming::Notice { .. })
        ));
    }

    #[test]
    fn approved_bytes_are_sent_as_they_are_and_on_one_line() {
        let spread: Box<RawValue> =
            serde_json::from_str("{\n \"a\": 1.50,\r\n \"b\": \"x\\ny\" }").unwrap();
        let sent = String::from_utf8(request_bytes(3, "tools/call", &spread)).unwrap();
        assert!(!sent.contains(['\n', '\r']), "{sent}");
        assert!(sent.contains(r#""a": 1.50,   "b": "x\ny""#), "{sent}");
    }
}
