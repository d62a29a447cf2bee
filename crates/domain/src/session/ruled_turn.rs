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
    /// In the model's order.
    pub calls: Vec<RuledCall>,
    /// What the turn cost.
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
    /// What the model wrote.
    pub written: Written,
    /// What is to become of it.
    pub ruling: Ruling,
}

/// The model's own words for a call: kept to the byte, for the transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Our id for it, made before it is ruled on.
    pub id: CallId,
    /// The model's own name for it.
    pub tool_use_id: String,
    /// The name that it called, which may be no tool's.
    pub tool: Arc<str>,
    /// The arguments to the byte, also where they are no JSON.
    pub input: String,
}

/// What policy and tool had to say about a call, before the session looks at its own grants and holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// It cannot be a call; the text tells the model what to change.
    Malformed {
        /// What to change. The model reads it.
        why: String,
    },
    /// A rule says no.
    Denied {
        /// The call, kept for the record.
        call: Arc<Call>,
        /// The name of the rule. `None`: the default.
        rule: Option<String>,
    },
    /// A rule says yes.
    Allowed {
        /// The call as it may run.
        call: Arc<Call>,
        /// The rule that allows it.
        by: ClearedBy,
    },
    /// People are to be asked, unless a grant of the session covers the call.
    Ask {
        /// The call as people are shown it.
        call: Arc<Call>,
        /// The hold to open.
        spec: Box<HoldSpec>,
    },
    /// A two-phase call: what it means depends on the holds of the session. `otherwise` is the
    /// ruling if it is a first call.
    TwoPhase {
        /// The model says that a person agreed. It is only an argument, and proves nothing.
        confirmed: bool,
        /// What happens to a call that no approval is there for.
        otherwise: Box<Ruling>,
    },
}

impl Ruling {
    /// The call, unless it could not be one.
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
    /// What is asked.
    pub question: Question,
    /// How carefully people should look.
    pub risk: Risk,
    /// In one line.
    pub title: Caption,
    /// What the tool found out.
    pub preview: Preview,
    /// What is shown beside the question; it becomes the hold's `context`. The context in which a call runs is
    /// [`crate::call::Call::context`].
    pub shown: Value,
    /// The model's own words for why, if it gave any.
    pub rationale: Option<String>,
    /// Shared: a hold is copied whenever something about it changes.
    pub audience: Arc<Audience>,
    /// The name of the rule that asks. `None`: the default.
    pub rule: Option<String>,
    /// How long it waits, in milliseconds from its opening. `None`: for ever.
    pub expires_in_ms: Option<u64>,
}
