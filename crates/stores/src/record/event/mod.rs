//! What happened, as one commit tells it. What an earlier event of the same row says is referred to,
//! not said again.

mod read;
mod write;

use std::borrow::Cow;
use std::sync::Arc;

use domain::budget::Usage;
use domain::call::Call;
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::HoldChange;
use domain::id::{CallId, GrantId, HoldId, NodeId, RunId, TokenId};
use domain::message::Part;
use serde::{Deserialize, Serialize};

use crate::record::actor::StoredActor;
use crate::record::call::{StoredCall, StoredClearance, Written, version_of_call};
use crate::record::caption::version_of_caption;
use crate::record::comment::TELLS_COMMENTS;
use crate::record::credential::{
    StoredLink, TELLS_THE_MAKER, version_of_audience, version_of_hold, version_of_message,
    version_of_state, version_of_vote,
};
use crate::record::grant::StoredGrant;
use crate::record::hold::StoredHold;
use crate::record::json::{Json, is_null, null};
use crate::record::message::{StoredMessage, StoredResult};
use crate::record::state::{StoredChange, StoredState};
use crate::record::token::{StoredToken, version_of_token};
use crate::record::warning::version_of_preview;
use crate::record::{FIRST, Hex, Ms, RowContext, Text, is_false};

pub(super) use read::read_events;
pub(super) use write::ToWrite;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredHome<'a> {
    #[serde(borrow)]
    door: Cow<'a, str>,
    #[serde(borrow)]
    place: Cow<'a, str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredEvent<'a> {
    SessionOpened {
        #[serde(borrow)]
        agent: Cow<'a, str>,
        /// Absent: whoever wrote the row.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        creator: Option<StoredActor<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        title: Option<Cow<'a, str>>,
        #[serde(borrow, default = "null", skip_serializing_if = "is_null")]
        metadata: Json<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        home: Option<StoredHome<'a>>,
    },
    MessageQueued {
        #[serde(borrow)]
        message: StoredMessage<'a>,
        run: Text<RunId>,
        #[serde(default, skip_serializing_if = "is_false")]
        join: bool,
    },
    RunStarted {
        run: Text<RunId>,
    },
    MessageAdded {
        #[serde(borrow)]
        message: StoredMessage<'a>,
    },
    CallProposed {
        /// Absent: that of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Text<CallId>>,
        #[serde(borrow)]
        call: Box<StoredCall<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        clearance: Option<StoredClearance<'a>>,
    },
    CallMalformed {
        call: Text<CallId>,
        #[serde(borrow)]
        tool_use_id: Cow<'a, str>,
        #[serde(borrow)]
        tool: Cow<'a, str>,
    },
    HoldOpened {
        #[serde(borrow)]
        hold: Box<StoredHold<'a>>,
    },
    HoldUpdated {
        hold: Text<HoldId>,
        #[serde(borrow)]
        change: StoredChange<'a>,
    },
    HoldDecided {
        hold: Text<HoldId>,
        #[serde(borrow)]
        state: StoredState<'a>,
    },
    CallStarted {
        call: Text<CallId>,
        attempt: u32,
        node: Text<NodeId>,
    },
    CallInDoubt {
        call: Text<CallId>,
        #[serde(borrow)]
        evidence: Cow<'a, str>,
        settle: Text<HoldId>,
    },
    CallSettled {
        call: Text<CallId>,
        #[serde(borrow)]
        result: StoredResult<'a>,
    },
    TurnCounted {
        run: Text<RunId>,
        usage: StoredUsage,
    },
    BudgetUsedUp {
        run: Text<RunId>,
        hold: Text<HoldId>,
        #[serde(borrow)]
        budget: Cow<'a, str>,
        used: u64,
        limit: u64,
    },
    RunPaused {
        run: Text<RunId>,
    },
    RunResumed {
        run: Text<RunId>,
    },
    RunCompleted {
        run: Text<RunId>,
    },
    RunFailed {
        run: Text<RunId>,
        #[serde(borrow)]
        error: Cow<'a, str>,
    },
    RunStopping {
        run: Text<RunId>,
        #[serde(borrow)]
        by: StoredActor<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    RunCancelled {
        run: Text<RunId>,
    },
    GrantMade {
        #[serde(borrow)]
        grant: StoredGrant<'a>,
    },
    GrantUsed {
        grant: Text<GrantId>,
        call: Text<CallId>,
    },
    GrantRevoked {
        grant: Text<GrantId>,
        #[serde(borrow)]
        by: StoredActor<'a>,
    },
    Frozen {
        #[serde(borrow)]
        by: StoredActor<'a>,
        #[serde(borrow)]
        reason: Cow<'a, str>,
    },
    Thawed {
        #[serde(borrow)]
        by: StoredActor<'a>,
    },
    TokenMinted {
        #[serde(borrow)]
        token: StoredToken<'a>,
    },
    TokenRevoked {
        token: Text<TokenId>,
        #[serde(borrow)]
        by: StoredActor<'a>,
    },
    LoginLinkMade {
        #[serde(borrow)]
        person: Cow<'a, str>,
        #[serde(borrow)]
        origin: StoredLink<'a>,
        expires_at: Ms,
    },
    LoggedIn {
        #[serde(borrow)]
        person: Cow<'a, str>,
        #[serde(borrow)]
        via: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        link: Option<StoredLink<'a>>,
    },
    PolicyInForce {
        policy: Hex,
        node: Text<NodeId>,
    },
    AnswerRefused {
        #[serde(borrow)]
        channel: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        identity: Option<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        person: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<Text<HoldId>>,
        #[serde(borrow)]
        why: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "is_nothing")]
        unlisted: u64,
    },
    DeliveryFailed {
        hold: Text<HoldId>,
        #[serde(borrow)]
        channel: Cow<'a, str>,
        #[serde(borrow)]
        to: Cow<'a, str>,
        #[serde(borrow)]
        why: Cow<'a, str>,
    },
    McpServerConnected {
        #[serde(borrow)]
        server: Cow<'a, str>,
        #[serde(borrow)]
        issuer: Cow<'a, str>,
        #[serde(borrow)]
        by: StoredActor<'a>,
    },
    McpServerDisconnected {
        #[serde(borrow)]
        server: Cow<'a, str>,
        #[serde(borrow)]
        issuer: Cow<'a, str>,
        #[serde(borrow)]
        by: StoredActor<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        why: Option<Cow<'a, str>>,
    },
    McpServerRefused {
        #[serde(borrow)]
        server: Cow<'a, str>,
        #[serde(borrow)]
        by: StoredActor<'a>,
        #[serde(borrow)]
        why: Cow<'a, str>,
    },
}

/// What a turn cost; money in millionths.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredUsage {
    #[serde(default, skip_serializing_if = "is_nothing")]
    input: u64,
    #[serde(default, skip_serializing_if = "is_nothing")]
    cached: u64,
    #[serde(default, skip_serializing_if = "is_nothing")]
    output: u64,
    #[serde(default, skip_serializing_if = "is_nothing")]
    money: u64,
}

fn is_nothing(amount: &u64) -> bool {
    *amount == 0
}

impl From<Usage> for StoredUsage {
    fn from(usage: Usage) -> StoredUsage {
        StoredUsage {
            input: usage.input_tokens,
            cached: usage.cached_tokens,
            output: usage.output_tokens,
            money: usage.money,
        }
    }
}

impl From<StoredUsage> for Usage {
    fn from(stored: StoredUsage) -> Usage {
        Usage {
            input_tokens: stored.input,
            cached_tokens: stored.cached,
            output_tokens: stored.output,
            money: stored.money,
        }
    }
}

/// The oldest record version whose readers know this event.
pub(super) fn version_of(event: &Event) -> u32 {
    match event {
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
            version_of_hold_event(event)
        }
        Event::Session(event) => version_of_session_event(event),
        Event::Global(event) => version_of_global_event(event),
    }
}

fn version_of_session_event(event: &SessionEvent) -> u32 {
    match event {
        SessionEvent::TurnCounted { .. } | SessionEvent::BudgetUsedUp { .. } => 2,
        SessionEvent::MessageQueued { message, .. } | SessionEvent::MessageAdded { message } => {
            version_of_message(message)
        }
        SessionEvent::CallProposed { call, .. } => version_of_call(call),
        _ => FIRST,
    }
}

fn version_of_hold_event(event: &HoldEvent) -> u32 {
    match event {
        HoldEvent::Opened { hold } => version_of_hold(hold),
        HoldEvent::Decided { state, .. } => version_of_state(state),
        HoldEvent::Updated { change, .. } => match change {
            HoldChange::Revealed(_) => 2,
            HoldChange::Commented(_) => TELLS_COMMENTS,
            HoldChange::Voted(vote) => version_of_vote(vote),
            HoldChange::Revised { title, call, audience, votes, preview, .. } => {
                let votes = votes.iter().map(|vote| version_of_vote(vote)).max().unwrap_or(FIRST);
                let shown = version_of_caption(title).max(version_of_preview(preview));
                votes.max(version_of_audience(audience)).max(version_of_call(call)).max(shown)
            }
            HoldChange::Claimed(_) | HoldChange::Unclaimed | HoldChange::Outcome(_) => FIRST,
        },
    }
}

/// The record version that first tells of connections to MCP servers.
const TELLS_OF_CONNECTIONS: u32 = 7;

fn version_of_global_event(event: &GlobalEvent) -> u32 {
    match event {
        GlobalEvent::AnswerRefused { .. } | GlobalEvent::DeliveryFailed { .. } => 3,
        GlobalEvent::McpServerConnected { .. }
        | GlobalEvent::McpServerDisconnected { .. }
        | GlobalEvent::McpServerRefused { .. } => TELLS_OF_CONNECTIONS,
        GlobalEvent::LoginLinkMade { .. } | GlobalEvent::LoggedIn { link: Some(_), .. } => {
            TELLS_THE_MAKER
        }
        GlobalEvent::TokenMinted { token } => version_of_token(token),
        _ => FIRST,
    }
}

impl RowContext<'_> {
    /// A call as a message of the same row carries it.
    fn written(&self, id: CallId) -> Option<Written<'_>> {
        let messages = self.earlier.iter().filter_map(|event| match event {
            Event::Session(SessionEvent::MessageAdded { message }) => Some(message),
            _ => None,
        });
        messages.flat_map(|message| &message.parts).find_map(|part| match part {
            Part::ToolCall { call, tool_use_id, tool, input } if *call == id => {
                Some(Written { tool_use_id, tool, input })
            }
            _ => None,
        })
    }

    /// A call that was proposed in the same row.
    pub(super) fn proposed(&self, id: CallId) -> Option<&Arc<Call>> {
        self.earlier.iter().rev().find_map(|event| match event {
            Event::Session(SessionEvent::CallProposed { call, .. }) if call.id == id => Some(call),
            _ => None,
        })
    }
}
