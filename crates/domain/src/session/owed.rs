//! What the runtime owes a session: derived from its state, so that no piece of work can be
//! forgotten or left over.

use super::{CallState, RunStatus, Session};
use crate::id::{CallId, NodeId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Ask the model for the next turn.
    Think,
    /// Run this call, whose intent `node` has put on disk.
    Execute { call: CallId, node: NodeId },
    /// Stop this call: its run was cancelled.
    Stop { call: CallId, node: NodeId },
    /// Cleared calls wait for something that is not a person: a thaw, a missing tool.
    Wake,
}

impl Session {
    pub fn owed(&self) -> Vec<Owed> {
        let mut owed = Vec::new();
        let stopping = self.run.as_ref().is_some_and(|run| run.stopping.is_some());
        // In the model's order; ids of the same millisecond have none.
        for (call, record) in self.turn_calls() {
            if let CallState::Running { node, .. } = record.state {
                owed.push(match stopping {
                    true => Owed::Stop { call, node },
                    false => Owed::Execute { call, node },
                });
            }
        }
        if self.owes_thought() {
            owed.push(Owed::Think);
        } else if self.next_message().is_some() {
            // Its run could not start: the house was frozen when the one before it ended.
            owed.push(Owed::Wake);
        } else if self
            .turn_calls()
            .any(|(_, record)| matches!(record.state, CallState::Cleared { .. }))
        {
            owed.push(Owed::Wake);
        }
        owed
    }

    pub fn owes_thought(&self) -> bool {
        self.run.as_ref().is_some_and(|run| {
            run.status == RunStatus::Running && run.turn.is_empty() && run.stopping.is_none()
        })
    }
}
