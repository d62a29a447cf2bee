//! Requests, results and handshakes of one era as the other writes them. Pure; what has no meaning here stays as it was.

use serde_json::json;
use serde_json::value::RawValue;
use tools::mcp::{LEGACY, MODERN, RawObject, RpcMessage};

use crate::era::{CAPABILITIES_KEY, ClientEra, SERVER_INFO_KEY, VERSION_KEY};

pub(crate) const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
/// What a modern request says in place of a handshake.
const REQUEST_KEYS: [&str; 4] = [VERSION_KEY, CLIENT_INFO_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY];
/// What both eras mean by a client's capabilities.
const SHARED_CAPABILITIES: [&str; 3] = ["elicitation", "sampling", "roots"];
/// Results that a modern client may keep for a while.
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];
/// A resource that is not there, in words of the legacy era.
const RESOURCE_NOT_FOUND: &str = "-32002";

/// A request without what stands in place of a handshake.
pub(crate) fn as_legacy_request(mut object: RawObject) -> RawObject {
    let Some(mut params) = object.get_object("params") else { return object };
    let Some(mut meta) = params.get_object("_meta") else { return object };
    for key in REQUEST_KEYS {
        meta.remove(key);
    }
    put_member(&mut params, "_meta", &meta);
    if params.get("_meta").is_some_and(|meta| meta.get() == "{}") {
        params.remove("_meta");
    }
    put_member(&mut object, "params", &params);
    object
}

/// A request with what stands in place of a handshake.
pub(crate) fn as_modern_request(mut object: RawObject, said: &RawObject) -> RawObject {
    let mut params = object.get_object("params").unwrap_or_default();
    let mut meta = params.get_object("_meta").unwrap_or_default();
    for key in REQUEST_KEYS {
        if let Some(value) = said.get(key) {
            meta.set(key, value.to_owned());
        }
    }
    put_member(&mut params, "_meta", &meta);
    put_member(&mut object, "params", &params);
    object
}

/// What a legacy client said in its handshake, as a modern request says it.
pub(crate) fn meta_of_handshake(params: &RawObject, level: Option<&str>) -> RawObject {
    let mut meta = RawObject::default();
    let _ = meta.set_value(VERSION_KEY, &MODERN);
    match params.get("clientInfo") {
        Some(info) => meta.set(CLIENT_INFO_KEY, info.to_owned()),
        None => {
            let _ = meta.set_value(CLIENT_INFO_KEY, &json!({"name": "unknown", "version": "0"}));
        }
    }
    put_member(&mut meta, CAPABILITIES_KEY, &shared(params.get_object("capabilities")));
    if let Some(level) = level {
        let _ = meta.set_value(LOG_LEVEL_KEY, &level);
    }
    meta
}

/// The handshake that a modern client would have had.
pub(crate) fn handshake_of_meta(meta: &RawObject) -> RawObject {
    let mut params = RawObject::default();
    let _ = params.set_value("protocolVersion", &LEGACY[0]);
    put_member(&mut params, "capabilities", &shared(meta.get_object(CAPABILITIES_KEY)));
    match meta.get(CLIENT_INFO_KEY) {
        Some(info) => params.set("clientInfo", info.to_owned()),
        None => {
            let _ = params.set_value("clientInfo", &json!({"name": "unknown", "version": "0"}));
        }
    }
    params
}

/// What an upstream with a handshake is told of the client of this request.
pub(crate) fn announced_capabilities(message: &RpcMessage) -> String {
    let meta = message.params().and_then(|params| params.get_object("_meta"));
    let declared = meta.and_then(|meta| meta.get_object(CAPABILITIES_KEY));
    shared(declared).to_raw().map_or_else(|_| String::new(), |raw| raw.get().to_owned())
}

/// Only what the real client has is announced, and only what we can carry across.
fn shared(declared: Option<RawObject>) -> RawObject {
    let declared = declared.unwrap_or_default();
    let mut kept = RawObject::default();
    for key in SHARED_CAPABILITIES {
        if let Some(value) = declared.get(key) {
            // That roots change is told in one of the eras only.
            let value = if key == "roots" { empty() } else { value.to_owned() };
            kept.set(key, value);
        }
    }
    kept
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".into()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// What `server/discover` would have said of a server with a handshake.
pub(crate) fn discover_result(handshake: &RawObject) -> RawObject {
    let mut result = RawObject::default();
    let _ = result.set_value("supportedVersions", &[MODERN]);
    let mut capabilities = handshake.get_object("capabilities").unwrap_or_default();
    // Its tasks are others than those of the modern era.
    capabilities.remove("tasks");
    put_member(&mut result, "capabilities", &capabilities);
    if let Some(instructions) = handshake.get("instructions") {
        result.set("instructions", instructions.to_owned());
    }
    if let Some(info) = handshake.get("serverInfo") {
        let mut meta = RawObject::default();
        meta.set(SERVER_INFO_KEY, info.to_owned());
        put_member(&mut result, "_meta", &meta);
    }
    as_modern_result("server/discover", &mut result);
    result
}

/// What `initialize` would have said of a server without a handshake.
pub(crate) fn initialize_result(discovered: &RawObject, asked: Option<&str>) -> RawObject {
    let mut result = RawObject::default();
    let version = asked.filter(|asked| LEGACY.contains(asked)).unwrap_or(LEGACY[0]);
    let _ = result.set_value("protocolVersion", &version);
    let mut capabilities = discovered.get_object("capabilities").unwrap_or_default();
    capabilities.remove("extensions");
    put_member(&mut result, "capabilities", &capabilities);
    let info = discovered.get_object("_meta");
    let info = info.and_then(|meta| meta.get(SERVER_INFO_KEY).map(ToOwned::to_owned));
    match info {
        Some(info) => result.set("serverInfo", info),
        None => {
            let _ = result.set_value("serverInfo", &json!({"name": "unknown", "version": "0"}));
        }
    }
    if let Some(instructions) = discovered.get("instructions") {
        result.set("instructions", instructions.to_owned());
    }
    result
}

/// A legacy server does not say how long its lists hold, so they are not kept.
pub(crate) fn as_modern_result(method: &str, result: &mut RawObject) {
    if result.get("resultType").is_none() {
        let _ = result.set_value("resultType", &"complete");
    }
    if CACHEABLE.contains(&method) {
        if result.get("ttlMs").is_none() {
            let _ = result.set_value("ttlMs", &0);
        }
        if result.get("cacheScope").is_none() {
            let _ = result.set_value("cacheScope", &"private");
        }
    }
}

pub(crate) fn as_legacy_result(result: &mut RawObject) {
    for key in ["resultType", "ttlMs", "cacheScope"] {
        result.remove(key);
    }
}

/// The answer to a request with this method, as a client of this era reads it.
pub(crate) fn answer_for(era: ClientEra, method: &str, mut answer: RpcMessage) -> RpcMessage {
    if let Some(mut result) = answer.object.get_object("result") {
        match era {
            ClientEra::Modern => as_modern_result(method, &mut result),
            ClientEra::Legacy => as_legacy_result(&mut result),
        }
        put_member(&mut answer.object, "result", &result);
    } else if let (ClientEra::Modern, Some(mut error)) = (era, answer.object.get_object("error"))
        && error.get("code").is_some_and(|code| code.get() == RESOURCE_NOT_FOUND)
    {
        let _ = error.set_value("code", &tools::mcp::INVALID_PARAMS);
        put_member(&mut answer.object, "error", &error);
    }
    answer
}

/// Objects of raw values can always be written.
pub(crate) fn put_member(object: &mut RawObject, key: &str, member: &RawObject) {
    if let Ok(member) = member.to_raw() {
        object.set(key, member);
    }
}

/// Whether a server says of itself that it speaks without a handshake.
pub(crate) fn speaks_modern(discovered: &RawObject) -> bool {
    let versions = discovered.get("supportedVersions").map(RawValue::get).unwrap_or_default();
    let versions: Vec<String> = serde_json::from_str(versions).unwrap_or_default();
    versions.iter().any(|version| version == MODERN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> RawObject {
        RawObject::parse(text).unwrap()
    }

    fn text(object: &RawObject) -> String {
        object.to_raw().unwrap().get().to_owned()
    }

    #[test]
    fn a_request_changes_only_what_the_eras_say_differently() {
        let modern = r#"{"id":1,"params":{"x":1.10,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"e":{}}},"progressToken":7,"own":1e2}}}"#;
        let legacy = as_legacy_request(object(modern));
        assert_eq!(
            text(&legacy),
            r#"{"id":1,"params":{"x":1.10,"_meta":{"progressToken":7,"own":1e2}}}"#
        );
        let meta = object(modern).get_object("params").unwrap().get_object("_meta").unwrap();
        let handshake = handshake_of_meta(&meta);
        assert_eq!(
            text(&handshake),
            r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}"#
        );
        let back = as_modern_request(legacy, &meta_of_handshake(&handshake, Some("info")));
        let params = back.get_object("params").unwrap();
        let meta = params.get_object("_meta").unwrap();
        assert_eq!(meta.get_text(VERSION_KEY).as_deref(), Some(MODERN));
        assert_eq!(meta.get_text(LOG_LEVEL_KEY).as_deref(), Some("info"));
        assert_eq!(meta.get("own").unwrap().get(), "1e2");
        assert_eq!(text(&as_legacy_request(object(r#"{"id":1}"#))), r#"{"id":1}"#);
    }

    #[test]
    fn results_get_and_lose_what_one_era_has() {
        let answer = |result: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,{result}}}"#);
            RpcMessage::parse(line.as_bytes()).unwrap()
        };
        let said = |era, method: &str, result: &str| {
            let line = answer_for(era, method, answer(result)).object.to_line();
            String::from_utf8(line).unwrap()
        };
        let listed =
            said(ClientEra::Modern, "tools/list", r#""result":{"tools":[{"x":1.0}],"y":2}"#);
        assert!(listed.contains(r#""tools":[{"x":1.0}],"y":2,"resultType":"complete","ttlMs":0,"cacheScope":"private""#), "{listed}");
        let called = said(ClientEra::Modern, "tools/call", r#""result":{"content":[]}"#);
        assert!(
            called.contains(r#""resultType":"complete""#) && !called.contains("ttlMs"),
            "{called}"
        );
        let legacy = said(
            ClientEra::Legacy,
            "tools/list",
            r#""result":{"tools":[],"resultType":"complete","ttlMs":1,"cacheScope":"public","z":0}"#,
        );
        assert!(legacy.contains(r#""result":{"tools":[],"z":0}"#), "{legacy}");
        let error =
            said(ClientEra::Modern, "resources/read", r#""error":{"code":-32002,"message":"m"}"#);
        assert!(error.contains("-32602"), "{error}");
    }

    #[test]
    fn a_server_is_described_in_the_words_of_the_other_era() {
        let handshake = object(
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"tasks":{}},"serverInfo":{"name":"s","version":"1","x":1.0},"instructions":"i"}"#,
        );
        let discovered = discover_result(&handshake);
        assert!(speaks_modern(&discovered));
        let back = initialize_result(&discovered, Some("2025-06-18"));
        assert_eq!(
            text(&back),
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1","x":1.0},"instructions":"i"}"#
        );
        let newer = initialize_result(&discovered, Some("2099-01-01"));
        assert_eq!(newer.get_text("protocolVersion").as_deref(), Some(LEGACY[0]));
        assert!(!speaks_modern(&handshake));
    }
}
