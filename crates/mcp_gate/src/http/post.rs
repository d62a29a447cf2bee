//! What a POST is: of which era, and whether its headers say what its body says.

use serde::Serialize;
use tools::mcp::{
    BadRpc, INVALID_REQUEST, LEGACY, MODERN, RpcId, RpcKind, RpcMessage, decode_header,
    request_name,
};

use super::door::DoorRequest;
use crate::era::{HEADER_MISMATCH, RequestMeta, UNSUPPORTED_VERSION};
use crate::reply::{RpcFailure, error_line};

pub(super) enum Post {
    Modern(RpcMessage),
    Legacy(RpcMessage),
}

/// A POST that goes nowhere: its HTTP status, and what the body says.
#[derive(Debug)]
pub(super) struct RefusedPost {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl RefusedPost {
    pub(super) fn new(status: u16, id: Option<&RpcId>, failure: RpcFailure) -> RefusedPost {
        RefusedPost { status, body: error_line(id, failure) }
    }
}

#[derive(Serialize)]
struct VersionMismatch<'a> {
    supported: Vec<&'static str>,
    requested: &'a str,
}

pub(super) fn parse_post(request: &DoorRequest) -> Result<Post, RefusedPost> {
    let plain =
        |status, why: &str| RefusedPost::new(status, None, RpcFailure::new(INVALID_REQUEST, why));
    let content = request.header("content-type").unwrap_or_default();
    let content = content.split(';').next().unwrap_or_default().trim();
    if !content.eq_ignore_ascii_case("application/json") {
        return Err(plain(415, "send the header `Content-Type: application/json`"));
    }
    if !accepts_both(&request.header("accept").unwrap_or_default()) {
        let why = "send the header `Accept: application/json, text/event-stream`";
        return Err(plain(406, why));
    }
    let message = RpcMessage::parse(&request.body).map_err(|BadRpc { code, why, id }| {
        RefusedPost::new(400, id.as_ref(), RpcFailure::new(code, why))
    })?;
    let id = message_id(&message);
    let declared = RequestMeta::declared_version(&message);
    let header = request.header("mcp-protocol-version");
    match declared {
        Some(version) if version != MODERN => Err(unsupported(id, &version)),
        Some(_) => {
            check_headers(request, &message)?;
            Ok(Post::Modern(message))
        }
        None => match header.as_deref() {
            // Responses say nothing about themselves.
            Some(version) if version == MODERN => Err(mismatch(
                id,
                "the header `MCP-Protocol-Version` says 2026-07-28, and `_meta` in the body does not",
            )),
            Some(version) if !LEGACY.contains(&version) => Err(unsupported(id, version)),
            _ => Ok(Post::Legacy(message)),
        },
    }
}

fn accepts_both(accept: &str) -> bool {
    let has = |wanted: &str| {
        let kinds = accept.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
        kinds.into_iter().any(|kind| kind.eq_ignore_ascii_case(wanted))
    };
    accept.is_empty()
        || has("*/*")
        || (has("application/json") && (has("text/event-stream") || has("text/*")))
}

fn message_id(message: &RpcMessage) -> Option<&RpcId> {
    match &message.kind {
        RpcKind::Request { id, .. } | RpcKind::Response { id } => Some(id),
        RpcKind::Notification { .. } => None,
    }
}

fn unsupported(id: Option<&RpcId>, requested: &str) -> RefusedPost {
    let data =
        VersionMismatch { supported: std::iter::once(MODERN).chain(LEGACY).collect(), requested };
    let shown = domain::visible::visible(requested);
    let failure = RpcFailure {
        data: serde_json::to_value(data).ok(),
        ..RpcFailure::new(UNSUPPORTED_VERSION, format!("`{shown}` is not a version that is spoken"))
    };
    RefusedPost::new(400, id, failure)
}

fn mismatch(id: Option<&RpcId>, why: impl Into<String>) -> RefusedPost {
    RefusedPost::new(400, id, RpcFailure::new(HEADER_MISMATCH, why))
}

/// What routes a request on its way must be what we do with it.
fn check_headers(request: &DoorRequest, message: &RpcMessage) -> Result<(), RefusedPost> {
    let id = message_id(message);
    let method = match &message.kind {
        RpcKind::Request { method, .. } | RpcKind::Notification { method } => method,
        RpcKind::Response { .. } => {
            return Err(mismatch(id, "a modern client answers with the call that it sends again"));
        }
    };
    let name = message.params().and_then(|params| request_name(method, &params));
    let wanted = [
        ("mcp-protocol-version", Some(MODERN.to_owned())),
        ("mcp-method", Some(method.clone())),
        ("mcp-name", name),
    ];
    for (header, wanted) in wanted {
        let said = request.only_header(header).map_err(|why| mismatch(id, why))?;
        let said = match said {
            Some(said) => Some(decode_header(&said).ok_or_else(|| {
                mismatch(id, format!("the header `{header}` is not encoded well"))
            })?),
            None => None,
        };
        match (said, wanted) {
            (Some(said), Some(wanted)) if said == wanted => {}
            (None, None) => {}
            // Nothing in the body is called that.
            (Some(_), None) if header == "mcp-name" => {}
            (None, _) => {
                return Err(mismatch(id, format!("the header `{header}` is missing")));
            }
            (Some(_), _) => {
                let why = format!("the header `{header}` does not say what the body says");
                return Err(mismatch(id, why));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::door::DoorMethod;

    fn request(headers: &[(&str, &str)], body: &str) -> DoorRequest {
        let headers = headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        DoorRequest { method: DoorMethod::Post, headers, body: body.as_bytes().to_vec() }
    }

    const JSON: (&str, &str) = ("content-type", "application/json");

    fn call(meta: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"wipe","_meta":{{{meta}}}}}}}"#
        )
    }

    fn refused(headers: &[(&str, &str)], body: &str) -> (u16, String) {
        match parse_post(&request(headers, body)) {
            Ok(_) => (200, String::new()),
            Err(refused) => (refused.status, String::from_utf8(refused.body).unwrap()),
        }
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let modern = call(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#);
        let (version, method, name) = (
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "wipe"),
        );
        assert_eq!(refused(&[JSON, version, method, name], &modern).0, 200);
        for wrong in [
            vec![JSON, method, name],
            vec![JSON, version, name],
            vec![JSON, version, method],
            vec![JSON, version, method, ("mcp-name", "read")],
            vec![JSON, version, ("mcp-method", "tools/list"), name],
            vec![JSON, ("mcp-protocol-version", "2025-11-25"), method, name],
            vec![JSON, version, method, name, ("mcp-name", "read")],
            vec![JSON, version, method, ("mcp-name", "=?base64?%?=")],
        ] {
            let (status, body) = refused(&wrong, &modern);
            assert!(status == 400 && body.contains("-32020"), "{wrong:?}: {status} {body}");
        }
        let (status, body) = refused(&[JSON, version], &call(""));
        assert!(status == 400 && body.contains("-32020"), "{body}");
    }

    #[test]
    fn an_era_that_is_not_spoken_is_told_which_are() {
        let future = call(r#""io.modelcontextprotocol/protocolVersion":"2031-01-01""#);
        for (headers, body) in
            [(vec![JSON], future), (vec![JSON, ("mcp-protocol-version", "1999-01-01")], call(""))]
        {
            let (status, said) = refused(&headers, &body);
            assert!(status == 400 && said.contains("-32022") && said.contains(MODERN), "{said}");
        }
        assert_eq!(refused(&[JSON, ("mcp-protocol-version", LEGACY[0])], &call("")).0, 200);
    }

    #[test]
    fn what_is_no_message_is_refused_with_a_status() {
        assert_eq!(refused(&[], "{}").0, 415);
        assert_eq!(refused(&[JSON, ("accept", "text/html")], "{}").0, 406);
        for body in ["", "{", "[]", "{}", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#] {
            assert_eq!(refused(&[JSON], body).0, 400, "{body}");
        }
    }
}
