//! What happened, as followers hear it. Each event says enough to be understood by itself; whoever
//! wants all reads the session or the hold again.

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent, TokenOwner};
use domain::hold::HoldChange;
use domain::id::{HoldId, StreamId};
use engine::{Engine, Happening, Spoken};
use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::answered::{Answered, Secrets};
use super::auth::Auth;
use super::comment::Comment;
use super::hold::{Call, Cancelled, Hold, Outcome};
use super::message::Message;
use super::text::Text;

/// The `data:` of an event: these, and what belongs to its type.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what `Told` writes")]
pub(crate) struct EventData {
    session: Option<String>,
    at: String,
    by: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// The data of an event, written straight into the stream.
pub(crate) struct EventPayload<'a> {
    pub(crate) happening: &'a Happening,
    /// What is now known of the hold that the event is about.
    pub(crate) about: Option<&'a domain::hold::Hold>,
    /// The hold that its call stands under.
    pub(crate) under: Option<HoldId>,
    pub(crate) engine: &'a Engine,
}

impl Serialize for EventPayload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Happening { stream, at, .. } = self.happening;
        let session = match stream {
            StreamId::Session(id) => Some(Text(id)),
            StreamId::ExternalHold(_) | StreamId::Global => None,
        };
        let mut data = serializer.serialize_map(None)?;
        data.serialize_entry("session", &session)?;
        data.serialize_entry("at", &Text(at))?;
        data.serialize_entry("by", &Text(self.happening.actor()))?;
        let secrets = self.about.map_or_else(Secrets::unknown, Secrets::of);
        payload(&mut data, self.happening.event(), &secrets, self.engine)?;
        if let Some(hold) = self.under {
            data.serialize_entry("hold", &Text(hold))?;
        }
        data.end()
    }
}

/// What a call gave.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settled<'a> {
    output: &'a str,
    is_error: bool,
    kind: &'static str,
}

/// Writes members of an object, each as its name and its value.
macro_rules! members {
    ($data:ident, {$($name:literal: $value:expr),* $(,)?}) => {{
        $($data.serialize_entry($name, &$value)?;)*
    }};
}

fn payload<M: SerializeMap>(
    data: &mut M,
    event: &Event,
    secrets: &Secrets,
    engine: &Engine,
) -> Result<(), M::Error> {
    match event {
        Event::Session(SessionEvent::SessionOpened { agent, creator, title, .. }) => {
            members!(data, {"agent": **agent, "creator": Text(creator), "title": title});
        }
        Event::Session(SessionEvent::MessageQueued { message, run, .. }) => {
            members!(data, {"run": Text(run), "message": Message::of(message, None, engine)});
        }
        Event::Session(SessionEvent::MessageAdded { message }) => {
            members!(data, {"message": Message::of(message, None, engine)});
        }
        Event::Session(
            SessionEvent::RunStarted { run }
            | SessionEvent::RunPaused { run }
            | SessionEvent::RunResumed { run }
            | SessionEvent::RunCompleted { run }
            | SessionEvent::RunCancelled { run },
        ) => members!(data, {"run": Text(run)}),
        Event::Session(SessionEvent::TurnCounted { run, usage }) => members!(data, {
            "run": Text(run),
            "input_tokens": usage.input_tokens,
            "cached_tokens": usage.cached_tokens,
            "output_tokens": usage.output_tokens,
            "money": domain::budget::money(usage.money),
        }),
        Event::Session(SessionEvent::BudgetUsedUp { run, hold, used_up }) => members!(data, {
            "run": Text(run),
            "hold": Text(hold),
            "budget": used_up.of.name(),
            "used": used_up.used,
            "limit": used_up.limit,
        }),
        Event::Session(SessionEvent::RunFailed { run, error }) => {
            members!(data, {"run": Text(run), "error": error})
        }
        Event::Session(SessionEvent::RunStopping { run, reason, .. }) => {
            members!(data, {"run": Text(run), "reason": reason});
        }
        Event::Session(SessionEvent::CallProposed { id, call, clearance }) => members!(data, {
            "call": Text(id),
            "tool": *call.tool,
            "tool_use_id": call.tool_use_id,
            "proposed": Call::of(call),
            "cleared": clearance.is_some(),
        }),
        Event::Session(SessionEvent::CallMalformed { call, tool_use_id, tool }) => members!(data, {
            "call": Text(call),
            "tool": **tool,
            "tool_use_id": tool_use_id,
            "malformed": true,
        }),
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
            hold_payload(data, event, secrets)?;
        }
        Event::Session(SessionEvent::CallStarted { call, attempt, .. }) => {
            members!(data, {"call": Text(call), "attempt": attempt});
        }
        Event::Session(SessionEvent::CallInDoubt { call, evidence, settle }) => {
            members!(data, {"call": Text(call), "evidence": evidence, "hold": Text(settle)});
        }
        Event::Session(SessionEvent::CallSettled { call, result }) => members!(data, {
            "call": Text(call),
            "result": Settled {
                output: &result.content,
                is_error: result.is_error,
                kind: result.kind.name(),
            },
        }),
        Event::Session(SessionEvent::GrantMade { grant }) => {
            members!(data, {"grant": super::admin::Grant::of(grant)})
        }
        Event::Session(SessionEvent::GrantUsed { grant, call }) => {
            members!(data, {"grant": Text(grant), "call": Text(call)});
        }
        Event::Session(SessionEvent::GrantRevoked { grant, .. }) => {
            members!(data, {"grant": Text(grant)})
        }
        Event::Global(GlobalEvent::Frozen { reason, .. }) => members!(data, {"reason": reason}),
        Event::Global(GlobalEvent::Thawed { .. }) => {}
        Event::Global(GlobalEvent::TokenMinted { token }) => members!(data, {
            "token": Text(token.id),
            "owner": match &token.owner {
                TokenOwner::Person(id) => id.to_string(),
                TokenOwner::Program(name) => name.clone(),
            },
            "made_by": Text(&token.minted_by),
        }),
        Event::Global(GlobalEvent::TokenRevoked { token, .. }) => {
            members!(data, {"token": Text(token)})
        }
        Event::Global(GlobalEvent::LoginLinkMade { person, origin, expires_at }) => {
            members!(data, {
                "person": Text(person),
                "auth": Auth::of_link(origin),
                "expires_at": Text(expires_at),
            })
        }
        Event::Global(GlobalEvent::LoggedIn { person, via, link }) => members!(data, {
            "person": Text(person),
            "via": via,
            "auth": link.as_ref().map(Auth::of_link),
        }),
        Event::Global(GlobalEvent::PolicyInForce { policy, .. }) => {
            members!(data, {"policy": Text(policy)})
        }
        Event::Global(GlobalEvent::AnswerRefused { refused }) => members!(data, {
            "channel": refused.channel,
            "identity": refused.identity,
            "person": refused.person.as_ref().map(Text),
            "hold": refused.hold.map(Text),
            "why": refused.why,
            "unlisted": refused.unlisted,
        }),
        Event::Global(GlobalEvent::DeliveryFailed { hold, channel, to, why }) => {
            members!(data, {"hold": Text(hold), "channel": channel, "to": to, "why": why});
        }
        Event::Global(GlobalEvent::McpServerConnected { server, issuer, .. }) => {
            members!(data, {"server": server, "issuer": issuer})
        }
        Event::Global(GlobalEvent::McpServerDisconnected { server, issuer, why, .. }) => {
            members!(data, {"server": server, "issuer": issuer, "why": why})
        }
        Event::Global(GlobalEvent::McpServerRefused { server, why, .. }) => {
            members!(data, {"server": server, "why": why})
        }
    }
    Ok(())
}

fn hold_payload<M: SerializeMap>(
    data: &mut M,
    event: &HoldEvent,
    secrets: &Secrets,
) -> Result<(), M::Error> {
    match event {
        HoldEvent::Opened { hold } => members!(data, {
            "hold": Hold::of(hold),
            "run": hold.run().map(Text),
            "call": hold.call_id().map(Text),
        }),
        HoldEvent::Updated { hold, change } => {
            members!(data, {"hold": Text(hold)});
            changed(data, change, secrets)?;
        }
        HoldEvent::Decided { hold, state } => {
            let decision = state.decision().map(|decision| Answered::decision(decision, secrets));
            members!(data, {"hold": Text(hold), "state": state.name(), "decision": decision});
            if let Some(cancelled) = Cancelled::of(state) {
                members!(data, {"cancelled": cancelled});
            }
        }
    }
    Ok(())
}

fn changed<M: SerializeMap>(
    data: &mut M,
    change: &HoldChange,
    secrets: &Secrets,
) -> Result<(), M::Error> {
    match change {
        HoldChange::Voted(vote) => {
            members!(data, {"change": "voted", "answer": Answered::vote(vote, secrets)});
        }
        HoldChange::Revised { call, risk, rule, .. } => members!(data, {
            "change": "revised",
            "call": Call::of(call),
            "risk": risk.name(),
            "rule": rule,
        }),
        HoldChange::Revealed(who) => {
            members!(data, {"change": "revealed", "revealed_by": Text(who)});
        }
        HoldChange::Commented(comment) => {
            members!(data, {"change": "commented", "comment": Comment::of(comment)});
        }
        HoldChange::Claimed(who) => members!(data, {"change": "claimed", "claimed_by": Text(who)}),
        HoldChange::Unclaimed => members!(data, {"change": "unclaimed"}),
        HoldChange::Outcome(outcome) => {
            members!(data, {"change": "outcome", "outcome": Outcome::of(outcome, false)});
        }
    }
    Ok(())
}

/// Text on its way, which is not stored and has no id.
pub(crate) fn spoken_event(spoken: &Spoken) -> (&'static str, Value) {
    let delta = |message: &dyn ToString, kind, text: &str| json!({"message": message.to_string(), "kind": kind, "text": text});
    match spoken {
        Spoken::Text { message, text } => ("message.delta", delta(message, "text", text)),
        Spoken::Reasoning { message, text } => ("message.delta", delta(message, "reasoning", text)),
        Spoken::Discarded { message } => {
            ("message.discarded", json!({"message": message.to_string()}))
        }
    }
}
