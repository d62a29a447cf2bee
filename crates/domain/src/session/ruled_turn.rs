//! What a turn of the model brings: words, and calls that have been ruled on.

use std::sync::Arc;

use serde_json::Value;

use crate::budget::Usage;
use crate::call::Call;
use crate::caption::Caption;
use crate::grant::ClearedBy;
use crate::hold::{Preview, Question, Risk};
use crate::id::{CallId, MessageId};
use crate::message::Part;
use crate::person::Audience;

/// One complete turn. A half-streamed one never gets here.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledTurn {
    /// Known beforehand, so that those who watched it being written recognise it.
    pub message: MessageId,
    /// Text and reasoning, in order; the calls come after them.
    pub parts: Vec<Part>,
    pub calls: Vec<RuledCall>,
    pub usage: Usage,
}

impl RuledTurn {
    /// Whether a call of it begins when it is shown: the client that answers runs it.
    pub fn asks_to_perform(&self) -> bool {
        // mutant: a-client-begins-while-frozen
        self.calls.iter().any(|ruled| ruled.ruling.asks_to_perform())
    }
}

/// A call as the model wrote it, and what policy and tool had to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledCall {
    pub written: Written,
    pub ruling: Ruling,
}

/// The model's own words for a call: kept to the byte, for the transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub id: CallId,
    pub tool_use_id: String,
    pub tool: Arc<str>,
    pub input: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// It cannot be a call; the text tells the model what to change.
    Malformed {
        why: String,
    },
    Denied {
        call: Arc<Call>,
        rule: Option<String>,
    },
    Allowed {
        call: Arc<Call>,
        by: ClearedBy,
    },
    Ask {
        call: Arc<Call>,
        spec: Box<HoldSpec>,
    },
    /// A two-phase call: what it means depends on the holds of the session. `otherwise` is the
    /// ruling if it is a first call.
    TwoPhase {
        confirmed: bool,
        otherwise: Box<Ruling>,
    },
}

impl Ruling {
    pub fn call(&self) -> Option<&Arc<Call>> {
        match self {
            Ruling::Malformed { .. } => None,
            Ruling::Denied { call, .. }
            | Ruling::Allowed { call, .. }
            | Ruling::Ask { call, .. } => Some(call),
            Ruling::TwoPhase { otherwise, .. } => otherwise.call(),
        }
    }

    fn asks_to_perform(&self) -> bool {
        match self {
            Ruling::Malformed { .. } | Ruling::Denied { .. } | Ruling::Allowed { .. } => false,
            Ruling::Ask { spec, .. } => matches!(spec.question, Question::Perform { .. }),
            Ruling::TwoPhase { otherwise, .. } => otherwise.asks_to_perform(),
        }
    }
}

/// Everything about a hold that is known before it is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldSpec {
    pub question: Question,
    pub risk: Risk,
    pub title: Caption,
    pub preview: Preview,
    pub context: Value,
    pub rationale: Option<String>,
    /// Shared: a hold is copied whenever something about it changes.
    pub audience: Arc<Audience>,
    pub rule: Option<String>,
    pub expires_in_ms: Option<u64>,
}
