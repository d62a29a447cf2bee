//! What concerns everybody: freezing, tokens.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::event::{Event, Token};
use crate::id::{NodeId, TokenId};
use crate::person::Actor;
use crate::refusal::Refusal;

/// The one switch that stops everything, and the tokens that open doors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalState {
    pub version: u64,
    pub frozen: Option<Freeze>,
    /// Whether it was ever frozen: only then can answers be left that wait for a thaw.
    pub was_frozen: bool,
    pub tokens: BTreeMap<TokenId, Token>,
    pub policy: Option<Digest>,
    /// Whether anybody ever logged in: until then the operator is offered a link.
    pub used: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Freeze {
    pub by: Actor,
    pub reason: String,
}

/// What the global state is told to do.
#[derive(Clone, Debug)]
pub enum GlobalCommand {
    Freeze {
        by: Actor,
        reason: String,
    },
    Thaw {
        by: Actor,
    },
    RevokeToken {
        token: TokenId,
        by: Actor,
    },
    /// This policy is in force on a node from here on.
    UsePolicy {
        policy: Digest,
        node: NodeId,
    },
    /// Something that has happened, and belongs on the record in any case.
    Record(Event),
}

impl GlobalState {
    /// The event to write; nothing, if all is as it should be.
    pub fn decide(&self, command: &GlobalCommand) -> Result<Option<Event>, Refusal> {
        let event = match command {
            GlobalCommand::Freeze { by, reason } => self
                .frozen
                .is_none()
                .then(|| Event::Frozen { by: by.clone(), reason: reason.clone() }),
            GlobalCommand::Thaw { by } => {
                self.frozen.is_some().then(|| Event::Thawed { by: by.clone() })
            }
            GlobalCommand::RevokeToken { token, by } => match self.tokens.contains_key(token) {
                true => Some(Event::TokenRevoked { token: *token, by: by.clone() }),
                false => return Err(Refusal::NotFound { what: "token" }),
            },
            GlobalCommand::UsePolicy { policy, node } => (self.policy != Some(*policy))
                .then_some(Event::PolicyInForce { policy: *policy, node: *node }),
            GlobalCommand::Record(event) => Some(event.clone()),
        };
        Ok(event)
    }

    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Frozen { by, reason } => {
                self.frozen = Some(Freeze { by: by.clone(), reason: reason.clone() });
                self.was_frozen = true;
            }
            Event::Thawed { .. } => self.frozen = None,
            Event::TokenMinted { token } => {
                self.tokens.insert(token.id, (**token).clone());
            }
            Event::TokenRevoked { token, .. } => {
                self.tokens.remove(token);
            }
            Event::LoggedIn { .. } => self.used = true,
            Event::PolicyInForce { policy, .. } => self.policy = Some(*policy),
            _ => {}
        }
        self.version += 1;
    }
}
