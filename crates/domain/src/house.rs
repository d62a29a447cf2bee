//! What concerns everybody: freezing, tokens.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::event::{Event, Token};
use crate::id::TokenId;
use crate::person::Actor;

/// The one switch that stops everything, and the tokens that open doors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct House {
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

impl House {
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
