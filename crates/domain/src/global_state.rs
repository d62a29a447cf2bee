//! What concerns everybody: freezing, tokens.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::event::{GlobalEvent, Token};
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
    Record(GlobalEvent),
}

impl GlobalState {
    /// The event to write; nothing, if all is as it should be.
    pub fn decide(&self, command: &GlobalCommand) -> Result<Option<GlobalEvent>, Refusal> {
        let event = match command {
            GlobalCommand::Freeze { by, reason } => self
                .frozen
                .is_none()
                .then(|| GlobalEvent::Frozen { by: by.clone(), reason: reason.clone() }),
            GlobalCommand::Thaw { by } => {
                self.frozen.is_some().then(|| GlobalEvent::Thawed { by: by.clone() })
            }
            GlobalCommand::RevokeToken { token, by } => match self.tokens.contains_key(token) {
                true => Some(GlobalEvent::TokenRevoked { token: *token, by: by.clone() }),
                false => return Err(Refusal::NotFound { what: "token" }),
            },
            GlobalCommand::UsePolicy { policy, node } => (self.policy != Some(*policy))
                .then_some(GlobalEvent::PolicyInForce { policy: *policy, node: *node }),
            GlobalCommand::Record(event) => Some(event.clone()),
        };
        Ok(event)
    }

    pub fn apply(&mut self, event: &GlobalEvent) {
        match event {
            GlobalEvent::Frozen { by, reason } => {
                self.frozen = Some(Freeze { by: by.clone(), reason: reason.clone() });
                self.was_frozen = true;
            }
            GlobalEvent::Thawed { .. } => self.frozen = None,
            GlobalEvent::TokenMinted { token } => {
                self.tokens.insert(token.id, (**token).clone());
            }
            GlobalEvent::TokenRevoked { token, .. } => {
                self.tokens.remove(token);
            }
            GlobalEvent::LoggedIn { .. } => self.used = true,
            GlobalEvent::PolicyInForce { policy, .. } => self.policy = Some(*policy),
            // Only on record: nothing is decided by them.
            GlobalEvent::LoginLinkMade { .. }
            | GlobalEvent::AnswerRefused { .. }
            | GlobalEvent::DeliveryFailed { .. } => {}
        }
        self.version += 1;
    }
}
