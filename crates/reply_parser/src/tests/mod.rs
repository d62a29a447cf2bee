//! The parser against the cases that its specification lists, and against everything that can be
//! built from its own words.

mod cases;
mod oracle;
mod properties;
mod table;

use super::{ApprovalCode, ReplyContext};

/// A prompt that wants a code, as the specification's examples have it.
fn with_code() -> ReplyContext {
    ReplyContext {
        code: Some(ApprovalCode::new("7K3F")),
        weak_ok: false,
        ..ReplyContext::default()
    }
}
