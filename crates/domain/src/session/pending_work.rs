//! What the runtime owes a session: derived from its state, so that no piece of work can be
//! forgotten or left over.

use super::{CallRecord, CallState, RunStatus, Session};
use crate::id::{CallId, NodeId};

/// What the runtime has to do for a session. It is derived from the state, never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingWork {
    /// Ask the model for the next turn.
    Think,
    /// Run this call, whose intent `node` has put on disk.
    Execute {
        /// Which call.
        call: CallId,
        /// The node that the intent names; no other runs it.
        node: NodeId,
    },
    /// Stop this call: its run was cancelled.
    Stop {
        /// Which call.
        call: CallId,
        /// The node on which it runs.
        node: NodeId,
    },
    /// Cleared calls or a queued message wait: for siblings, a thaw, a tool. Only a changed tool makes work at once;
    /// a thaw and recovery send `Command::Wake`.
    Waits,
}

impl Session {
    /// All of it, calls in the model's order.
    pub fn pending_work(&self) -> Vec<PendingWork> {
        self.pending_work_iter().collect()
    }

    /// The same one by one, for a caller that asks after every step.
    pub fn pending_work_iter(&self) -> impl Iterator<Item = PendingWork> {
        let stopping = self.run.as_ref().is_some_and(|run| run.is_stopping());
        // In the model's order; ids of the same millisecond have none.
        let calls = self.turn_calls().filter_map(move |(call, record)| match record.state {
            CallState::Running { node, .. } if stopping => Some(PendingWork::Stop { call, node }),
            CallState::Running { node, .. } => Some(PendingWork::Execute { call, node }),
            _ => None,
        });
        calls.chain(self.owed_besides())
    }

    fn owed_besides(&self) -> Option<PendingWork> {
        if self.needs_model_call() {
            return Some(PendingWork::Think);
        }
        let is_cleared =
            |(_, record): (_, &CallRecord)| matches!(record.state, CallState::Cleared { .. });
        // A message whose run could not start, as everything was frozen when the one before it ended, or
        // a call.
        let waits = self.next_message().is_some() || self.turn_calls().any(is_cleared);
        waits.then_some(PendingWork::Waits)
    }

    /// Whether the next step is to ask the model.
    pub fn needs_model_call(&self) -> bool {
        self.run.as_ref().is_some_and(|run| {
            run.status() == RunStatus::Running && run.turn.is_empty() && !run.is_stopping()
        })
    }
}
