//! What concerns all sessions and people.

use super::Token;
use crate::digest::Digest;
use crate::id::{HoldId, NodeId, TokenId};
use crate::person::{Actor, LinkOrigin, PersonId};
use crate::time::Timestamp;

/// An event of the global stream.
#[derive(Clone, Debug, PartialEq)]
pub enum GlobalEvent {
    Frozen {
        by: Actor,
        reason: String,
    },
    Thawed {
        by: Actor,
    },
    TokenMinted {
        token: Box<Token>,
    },
    TokenRevoked {
        token: TokenId,
        by: Actor,
    },
    /// A one-time login link was made. Nobody has come in by it yet.
    LoginLinkMade {
        person: PersonId,
        origin: LinkOrigin,
        expires_at: Timestamp,
    },
    LoggedIn {
        person: PersonId,
        via: String,
        /// The link that was used; `None` in records before version 4.
        link: Option<LinkOrigin>,
    },
    /// The configuration that rules from here on: audit says under which policy things happened.
    PolicyInForce {
        policy: Digest,
        node: NodeId,
    },
    /// Somebody pressed or wrote an answer in a channel that was not theirs to give. Nothing changed.
    AnswerRefused {
        refused: Box<RefusedAnswer>,
    },
    /// People could not be asked there; the hold can be answered elsewhere.
    DeliveryFailed {
        hold: HoldId,
        channel: String,
        /// A chat, or a person's identity on that platform.
        to: String,
        why: String,
    },
}

impl GlobalEvent {
    /// The name that followers see.
    pub fn name(&self) -> &'static str {
        match self {
            GlobalEvent::Frozen { .. } => "house.frozen",
            GlobalEvent::Thawed { .. } => "house.thawed",
            GlobalEvent::TokenMinted { .. } => "token.minted",
            GlobalEvent::TokenRevoked { .. } => "token.revoked",
            GlobalEvent::LoginLinkMade { .. } => "login_link.made",
            GlobalEvent::LoggedIn { .. } => "person.logged_in",
            GlobalEvent::PolicyInForce { .. } => "policy.in_force",
            GlobalEvent::AnswerRefused { .. } => "answer.refused",
            GlobalEvent::DeliveryFailed { .. } => "delivery.failed",
        }
    }
}

/// An answer in a channel that does not count, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAnswer {
    pub channel: String,
    /// As the platform vouches for it; `None` if it names nobody.
    pub identity: Option<String>,
    /// Whom that identity belongs to.
    pub person: Option<PersonId>,
    /// `None` if it points to nothing that was ever asked.
    pub hold: Option<HoldId>,
    pub why: String,
    /// Others before it that are not listed one by one, because there were too many.
    pub unlisted: u64,
}
