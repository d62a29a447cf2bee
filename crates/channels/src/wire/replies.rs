//! What a platform that called us gets back.

use ports::channel::HookReply;
use serde_json::Value;

use crate::signed::SignatureRefusal;

/// Nothing to say.
pub(crate) fn accepted() -> HookReply {
    status(200)
}

pub(crate) fn status(status: u16) -> HookReply {
    HookReply { status, content_type: "text/plain", body: Vec::new() }
}

pub(crate) fn json_reply(value: &Value) -> HookReply {
    HookReply {
        status: 200,
        content_type: "application/json",
        body: value.to_string().into_bytes(),
    }
}

/// Outside, one refusal is like the other. The operator reads why.
pub(crate) fn refusal_reply(channel: &str, why: SignatureRefusal) -> HookReply {
    tracing::warn!(channel, "a request was refused: {why}");
    status(match why {
        SignatureRefusal::TooLarge => 413,
        SignatureRefusal::Garbled => 400,
        _ => 401,
    })
}
