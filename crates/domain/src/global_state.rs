//! What concerns everybody: freezing, tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decided::Decided;
use crate::digest::Digest;
use crate::event::{GlobalEvent, Token};
use crate::id::{NodeId, TokenId};
use crate::person::Actor;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// The one switch that stops everything, and the tokens that open doors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalState {
    /// The position of the last event; every commit names the one it builds on.
    pub version: u64,
    /// Set while everything is frozen.
    pub frozen: Option<Freeze>,
    /// Whether it was ever frozen: only then can answers be left that wait for a thaw.
    pub was_frozen: bool,
    /// Every token that was not revoked; also those that expired.
    pub tokens: BTreeMap<TokenId, Token>,
    /// Version of the policy that came into force last. `None` before the first start has recorded one.
    pub policy: Option<Digest>,
    /// Whether anybody ever logged in: until then the operator is offered a link.
    pub used: bool,
}

/// Why nothing starts at present.
#[derive(Clone, Debug, PartialEq)]
pub struct Freeze {
    /// The admin who froze everything, or a program with the scope `admin`.
    pub by: Actor,
    /// For people who find their calls waiting.
    pub reason: String,
}

/// What the global state is told to do.
#[derive(Clone, Debug)]
pub enum GlobalCommand {
    /// Let no call start from here on.
    Freeze {
        /// Who wants it.
        by: Actor,
        /// For people who find their calls waiting.
        reason: String,
    },
    /// Let calls start again.
    Thaw {
        /// Who wants it.
        by: Actor,
    },
    /// Let a token open nothing any more.
    RevokeToken {
        /// Which token.
        token: TokenId,
        /// Who wants it.
        by: Actor,
    },
    /// This policy is in force on a node from here on.
    UsePolicy {
        /// Version of the policy.
        policy: Digest,
        /// The node that loaded it.
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

    /// As [`GlobalState::decide`], for a commit. It exists from the beginning, also before its first event.
    pub fn decide_shared(
        before: Option<&Arc<GlobalState>>,
        command: &GlobalCommand,
        at: Timestamp,
    ) -> Result<Option<Decided<GlobalState, GlobalEvent>>, Refusal> {
        let mut next = before.map(|global| GlobalState::clone(global)).unwrap_or_default();
        let Some(event) = next.decide(command)? else { return Ok(None) };
        next.apply(&event);
        Ok(Some(Decided::new(before.cloned(), vec![event], next, at)))
    }

    /// The state after one more event. It is not checked again: an event is a fact.
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
            | GlobalEvent::DeliveryFailed { .. }
            | GlobalEvent::McpServerConnected { .. }
            | GlobalEvent::McpServerDisconnected { .. }
            | GlobalEvent::McpServerRefused { .. } => {}
        }
        self.version += 1;
    }
}
