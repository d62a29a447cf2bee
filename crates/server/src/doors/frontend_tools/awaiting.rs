//! What a pause asks of the client: the open holds of the turn that a browser can answer, in the order
//! of the model's calls. Nothing but this writes a prompt.

use std::sync::Arc;

use domain::hold::{Hold, Question};
use domain::schema::redact;
use domain::session::Session;
use domain::view;
use serde_json::json;

use super::wire::Awaited;

/// How an approval is put to a client that knows nothing of approvals. A model can call a tool of this
/// name too; that is only a question, and grants nothing.
pub(super) const CONFIRM: &str = "user_confirm";

/// One hold as this wire shows it.
#[derive(Clone, Debug)]
pub(super) struct FrontendPrompt {
    pub(super) tool_use_id: String,
    pub(super) hold: Arc<Hold>,
}

impl FrontendPrompt {
    pub(super) fn shown(&self) -> Awaited {
        let (name, input) = match (&self.hold.question, self.hold.call()) {
            (Question::Perform { .. }, Some(call)) => {
                (call.tool.to_string(), redact(call.arguments.value(), &call.secrets))
            }
            // mutant: frontend-model-words-the-question
            _ => (CONFIRM.to_owned(), json!({"message": view::render(&self.hold)})),
        };
        Awaited { tool_use_id: self.tool_use_id.clone(), name, input }
    }
}

/// The prompts of a session that are open.
pub(super) fn open_prompts(session: &Session, bridged: bool) -> Vec<FrontendPrompt> {
    let mut prompts = all_prompts(session, bridged);
    // mutant: frontend-decided-prompts-again
    prompts.retain(|prompt| prompt.hold.is_pending());
    prompts
}

/// Everything that this wire shows or has shown of a session, the latest hold of each call; calls of the
/// turn first, in the model's order.
pub(super) fn all_prompts(session: &Session, bridged: bool) -> Vec<FrontendPrompt> {
    let fits = |hold: &&Arc<Hold>| match hold.question {
        Question::Perform { .. } => hold.call().is_some(),
        Question::Approve => bridged,
        Question::Choose { .. } | Question::Fill { .. } | Question::Settle => false,
    };
    let turn: Vec<_> = session.turn_calls().map(|(id, _)| id).collect();
    let of_turn = turn.iter().filter_map(|id| session.hold_of(*id));
    let others = session.holds.values().rev().filter(|hold| match hold.call_id() {
        Some(call) => !turn.contains(&call),
        None => true,
    });
    let mut prompts: Vec<FrontendPrompt> = Vec::new();
    for hold in of_turn.chain(others).filter(fits) {
        let named = hold.call().map(|call| call.tool_use_id.clone());
        // A question about no call of the model's has no name but its own.
        let tool_use_id = named.unwrap_or_else(|| hold.id.to_string());
        // An earlier hold of the same call, or of a call that an earlier turn gave the same name.
        if prompts.iter().all(|known| known.tool_use_id != tool_use_id) {
            prompts.push(FrontendPrompt { tool_use_id, hold: hold.clone() });
        }
    }
    prompts
}
