//! What happened. Events are the only thing that changes state, and all of them are kept.

use std::sync::Arc;

use serde_json::Value;

use crate::budget::{Usage, UsedUp};
use crate::call::{Call, Clearance};
use crate::grant::Grant;
use crate::hold::{Hold, HoldChange, HoldState};
use crate::id::{CallId, GrantId, HoldId, MessageId, NodeId, RunId, TokenId};
use crate::message::Message;
use crate::outcome::ToolResult;
use crate::person::{Actor, CredentialMaker, EarlierHand, LinkOrigin, PersonId};
use crate::session::Home;

/// Each event has one position in its stream, and followers see every one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    SessionOpened {
        agent: Arc<str>,
        creator: Actor,
        title: Option<String>,
        metadata: Value,
        home: Option<Home>,
    },
    /// A message that waits: for the run to end, or (`join`) only for the results of the turn. `run`
    /// is the run that it will be part of.
    MessageQueued {
        message: Arc<Message>,
        run: RunId,
        join: bool,
    },
    RunStarted {
        run: RunId,
    },
    /// A message became part of the transcript, and left the queue if it waited there.
    MessageAdded {
        message: Arc<Message>,
    },
    /// The call as it would run now: first when the model makes it; again when a start is taken back (`clearance` is set,
    /// and it was running), and when it is asked about anew (`clearance` is `None`, a new revision).
    /// `id` is the call that the model made. `call` is what would run: the same, except that a
    /// confirmed two-phase call runs the stored call of its first phase.
    CallProposed {
        id: CallId,
        call: Arc<Call>,
        clearance: Option<Clearance>,
    },
    /// A call that cannot become one: unknown tool, unsound arguments. Its result follows at once.
    CallMalformed {
        call: CallId,
        tool_use_id: String,
        tool: Arc<str>,
    },
    HoldOpened {
        hold: Arc<Hold>,
    },
    HoldUpdated {
        hold: HoldId,
        change: HoldChange,
    },
    HoldDecided {
        hold: HoldId,
        state: HoldState,
    },
    /// The intent to run, on disk before the tool is touched.
    CallStarted {
        call: CallId,
        attempt: u32,
        node: NodeId,
    },
    /// A crash or the host itself left the outcome unknown; `settle` asks a person.
    CallInDoubt {
        call: CallId,
        evidence: String,
        settle: HoldId,
    },
    CallSettled {
        call: CallId,
        result: ToolResult,
    },
    /// What the model's turn cost; absent for one that cost nothing.
    TurnCounted {
        run: RunId,
        usage: Usage,
    },
    /// The run may not go on by itself; `hold` asks a person.
    BudgetUsedUp {
        run: RunId,
        hold: HoldId,
        used_up: UsedUp,
    },
    RunPaused {
        run: RunId,
    },
    RunResumed {
        run: RunId,
    },
    RunCompleted {
        run: RunId,
    },
    RunFailed {
        run: RunId,
        error: String,
    },
    /// Somebody wants the run to end; it does as soon as nothing of it is running any more.
    RunStopping {
        run: RunId,
        by: Actor,
        reason: Option<String>,
    },
    RunCancelled {
        run: RunId,
    },
    GrantMade {
        grant: Arc<Grant>,
    },
    GrantUsed {
        grant: GrantId,
        call: CallId,
    },
    GrantRevoked {
        grant: GrantId,
        by: Actor,
    },

    // --- the house stream
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
        expires_at: crate::time::Timestamp,
    },
    LoggedIn {
        person: PersonId,
        via: String,
        /// The link that was used; `None` in records before version 4.
        link: Option<LinkOrigin>,
    },
    /// The configuration that rules from here on: audit says under which policy things happened.
    PolicyInForce {
        policy: crate::digest::Digest,
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

impl Event {
    /// The name that followers see.
    pub fn name(&self) -> &'static str {
        match self {
            Event::SessionOpened { .. } => "session.opened",
            Event::MessageQueued { .. } => "message.queued",
            Event::RunStarted { .. } => "run.started",
            Event::MessageAdded { .. } => "message.completed",
            Event::CallProposed { .. } | Event::CallMalformed { .. } => "call.proposed",
            Event::HoldOpened { .. } => "hold.opened",
            Event::HoldUpdated { .. } => "hold.updated",
            Event::HoldDecided { .. } => "hold.decided",
            Event::CallStarted { .. } => "call.started",
            Event::CallInDoubt { .. } => "call.in_doubt",
            Event::CallSettled { .. } => "call.settled",
            Event::TurnCounted { .. } => "turn.counted",
            Event::BudgetUsedUp { .. } => "budget.used_up",
            Event::RunPaused { .. } => "run.paused",
            Event::RunResumed { .. } => "run.resumed",
            Event::RunCompleted { .. } => "run.completed",
            Event::RunFailed { .. } => "run.failed",
            Event::RunStopping { .. } => "run.stopping",
            Event::RunCancelled { .. } => "run.cancelled",
            Event::GrantMade { .. } => "grant.made",
            Event::GrantUsed { .. } => "grant.used",
            Event::GrantRevoked { .. } => "grant.revoked",
            Event::Frozen { .. } => "house.frozen",
            Event::Thawed { .. } => "house.thawed",
            Event::TokenMinted { .. } => "token.minted",
            Event::TokenRevoked { .. } => "token.revoked",
            Event::LoginLinkMade { .. } => "login_link.made",
            Event::LoggedIn { .. } => "person.logged_in",
            Event::PolicyInForce { .. } => "policy.in_force",
            Event::AnswerRefused { .. } => "answer.refused",
            Event::DeliveryFailed { .. } => "delivery.failed",
        }
    }

    pub fn message_id(&self) -> Option<MessageId> {
        match self {
            Event::MessageQueued { message, .. } | Event::MessageAdded { message } => {
                Some(message.id)
            }
            _ => None,
        }
    }
}

/// A token as it is kept: never its secret, only the secret's digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub id: TokenId,
    pub owner: TokenOwner,
    pub scopes: Vec<Scope>,
    pub secret: crate::digest::Digest,
    pub minted_by: Actor,
    /// Set if the maker had come in by a credential that was not certainly their own.
    pub through: Option<EarlierHand>,
    pub minted_at: crate::time::Timestamp,
    pub expires_at: Option<crate::time::Timestamp>,
    pub note: Option<String>,
}

impl Token {
    pub fn made_by(&self) -> CredentialMaker {
        CredentialMaker { by: self.minted_by.clone(), through: self.through.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenOwner {
    Person(PersonId),
    /// A program: it may ask and run, and never answers a hold.
    Program(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Ask,
    Answer,
    Run,
    Admin,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Ask, Scope::Answer, Scope::Run, Scope::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Scope::Ask => "ask",
            Scope::Answer => "answer",
            Scope::Run => "run",
            Scope::Admin => "admin",
        }
    }

    pub fn parse(text: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == text)
    }
}
