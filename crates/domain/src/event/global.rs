//! What concerns all sessions and people.

use super::Token;
use crate::digest::Digest;
use crate::id::{HoldId, NodeId, TokenId};
use crate::person::{Actor, LinkOrigin, PersonId};
use crate::time::Timestamp;

/// An event of the global stream.
#[derive(Clone, Debug, PartialEq)]
pub enum GlobalEvent {
    /// No call starts from here on.
    Frozen {
        /// The admin who froze everything, or a program with the scope `admin`.
        by: Actor,
        /// For people who find their calls waiting.
        reason: String,
    },
    /// Calls may start again.
    Thawed {
        /// The admin who lifted the freeze, or a program with the scope `admin`.
        by: Actor,
    },
    /// From here on the token opens doors.
    TokenMinted {
        /// All that is kept of it; its secret was shown once.
        token: Box<Token>,
    },
    /// From here on the token opens nothing.
    TokenRevoked {
        /// Which token it was.
        token: TokenId,
        /// Who took it back.
        by: Actor,
    },
    /// A one-time login link was made. Nobody has come in by it yet.
    LoginLinkMade {
        /// For whom the link is good.
        person: PersonId,
        /// Who made the link, and over which channel it went out.
        origin: LinkOrigin,
        /// From this moment on the link is refused.
        expires_at: Timestamp,
    },
    /// A person came in, and a cookie was made for them.
    LoggedIn {
        /// Who is logged in.
        person: PersonId,
        /// The surface: `web`, or the name of a channel.
        via: String,
        /// The link that was used; `None` in records before version 4.
        link: Option<LinkOrigin>,
    },
    /// The configuration that rules from here on: audit says under which policy things happened.
    PolicyInForce {
        /// Version of the policy.
        policy: Digest,
        /// The node that loaded it. Others may still have another one.
        node: NodeId,
    },
    /// Somebody pressed or wrote an answer in a channel that was not theirs to give. Nothing changed.
    AnswerRefused {
        /// What was tried, by whom and why it does not count.
        refused: Box<RefusedAnswer>,
    },
    /// People could not be asked there; the hold can be answered elsewhere.
    DeliveryFailed {
        /// About which hold people were to be told.
        hold: HoldId,
        /// The name of the channel.
        channel: String,
        /// A chat, or a person's identity on that platform.
        to: String,
        /// The platform's error, for the admin.
        why: String,
    },
    /// An admin consented to what an MCP server behind OAuth wants; its tokens are kept.
    McpServerConnected {
        /// The configured name of the server.
        server: String,
        /// The authorization server that gave the tokens.
        issuer: String,
        /// The admin who consented.
        by: Actor,
    },
    /// The tokens for an MCP server are gone: an admin gave them back, or they are not accepted any more.
    McpServerDisconnected {
        /// The configured name of the server.
        server: String,
        /// The authorization server whose tokens they were.
        issuer: String,
        /// The admin, or the runtime if the tokens were refused.
        by: Actor,
        /// Unless an admin wanted it.
        why: Option<String>,
    },
    /// An admin began to connect an MCP server, and it came to nothing.
    McpServerRefused {
        /// The configured name of the server.
        server: String,
        /// The admin who began it.
        by: Actor,
        /// At which step it failed, for the admin.
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
            GlobalEvent::McpServerConnected { .. } => "mcp_server.connected",
            GlobalEvent::McpServerDisconnected { .. } => "mcp_server.disconnected",
            GlobalEvent::McpServerRefused { .. } => "mcp_server.refused",
        }
    }
}

/// An answer in a channel that does not count, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedAnswer {
    /// The name of the channel.
    pub channel: String,
    /// As the platform vouches for it; `None` if it names nobody.
    pub identity: Option<String>,
    /// Whom that identity belongs to.
    pub person: Option<PersonId>,
    /// `None` if it points to nothing that was ever asked.
    pub hold: Option<HoldId>,
    /// The refusal, as the person was told it.
    pub why: String,
    /// Others before it that are not listed one by one, because there were too many.
    pub unlisted: u64,
}
