//! What happened, as followers hear it. Each event says enough to be understood by itself; whoever
//! wants all reads the session or the hold again.

use domain::event::{Event, TokenOwner};
use domain::hold::HoldChange;
use domain::id::StreamId;
use engine::{Engine, Happening, Spoken};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::answered::Secrets;
use super::hold::{self, Hold};
use super::message::Message;

/// One event as SSE carries it.
pub(crate) struct Moment {
    pub(crate) name: &'static str,
    /// Only what is stored has one.
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

/// The `data:` of an event: these, and what belongs to its type.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventData {
    session: Option<String>,
    at: String,
    by: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl EventData {
    /// As serialising it would give, without copying everything once more.
    fn into_value(self) -> Value {
        let mut data = Map::new();
        data.insert("session".into(), self.session.into());
        data.insert("at".into(), self.at.into());
        data.insert("by".into(), self.by.into());
        data.extend(self.more);
        Value::Object(data)
    }
}

impl Moment {
    /// `hold` is what is now known of the hold that the event is about.
    pub(crate) fn of(
        happening: &Happening,
        about: Option<&domain::hold::Hold>,
        engine: &Engine,
    ) -> Moment {
        let session = match happening.stream {
            StreamId::Session(id) => Some(id.to_string()),
            StreamId::Outside(_) | StreamId::House => None,
        };
        let secrets = about.map_or_else(Secrets::unknown, Secrets::of);
        let more = match payload(&happening.event, &secrets, engine) {
            Value::Object(more) => more,
            _ => Map::new(),
        };
        let data = EventData {
            session,
            at: happening.at.to_string(),
            by: happening.actor.to_string(),
            more,
        };
        let (name, id) = (happening.event.name(), Some(happening.position));
        Moment { name, id, data: data.into_value() }
    }
}

fn payload(event: &Event, secrets: &Secrets, engine: &Engine) -> Value {
    match event {
        Event::SessionOpened { agent, creator, title, .. } => {
            json!({"agent": &**agent, "creator": creator.to_string(), "title": title})
        }
        Event::MessageQueued { message, run, .. } => {
            json!({"run": run.to_string(), "message": Message::of(message, None, engine)})
        }
        Event::MessageAdded { message } => json!({"message": Message::of(message, None, engine)}),
        Event::RunStarted { run }
        | Event::RunPaused { run }
        | Event::RunResumed { run }
        | Event::RunCompleted { run }
        | Event::RunCancelled { run } => json!({"run": run.to_string()}),
        Event::TurnCounted { run, usage } => json!({
            "run": run.to_string(),
            "input_tokens": usage.input_tokens,
            "cached_tokens": usage.cached_tokens,
            "output_tokens": usage.output_tokens,
            "money": domain::budget::money(usage.money),
        }),
        Event::BudgetUsedUp { run, hold, used_up } => json!({
            "run": run.to_string(),
            "hold": hold.to_string(),
            "budget": used_up.of.name(),
            "used": used_up.used,
            "limit": used_up.limit,
        }),
        Event::RunFailed { run, error } => json!({"run": run.to_string(), "error": error}),
        Event::RunStopping { run, reason, .. } => json!({"run": run.to_string(), "reason": reason}),
        Event::CallProposed { id, call, clearance } => json!({
            "call": id.to_string(),
            "tool": &*call.tool,
            "tool_use_id": call.tool_use_id,
            "proposed": hold::call(call),
            "cleared": clearance.is_some(),
        }),
        Event::CallMalformed { call, tool_use_id, tool } => {
            json!({"call": call.to_string(), "tool": &**tool, "tool_use_id": tool_use_id, "malformed": true})
        }
        Event::HoldOpened { hold } => json!({
            "hold": Hold::of(hold),
            "run": hold.run.map(|run| run.to_string()),
            "call": hold.call_id().map(|call| call.to_string()),
        }),
        Event::HoldUpdated { hold, change } => {
            let mut data = json!({"hold": hold.to_string()});
            merge(&mut data, changed(change, secrets));
            data
        }
        Event::HoldDecided { hold, state } => {
            let mut data = json!({"hold": hold.to_string()});
            merge(&mut data, hold::decided(state, secrets));
            data
        }
        Event::CallStarted { call, attempt, .. } => {
            json!({"call": call.to_string(), "attempt": attempt})
        }
        Event::CallInDoubt { call, evidence, settle } => {
            json!({"call": call.to_string(), "evidence": evidence, "hold": settle.to_string()})
        }
        Event::CallSettled { call, result } => json!({
            "call": call.to_string(),
            "result": {
                "output": result.content,
                "isError": result.is_error,
                "kind": result.kind.name(),
            },
        }),
        Event::GrantMade { grant } => json!({"grant": super::admin::Grant::of(grant)}),
        Event::GrantUsed { grant, call } => {
            json!({"grant": grant.to_string(), "call": call.to_string()})
        }
        Event::GrantRevoked { grant, .. } => json!({"grant": grant.to_string()}),
        Event::Frozen { reason, .. } => json!({"reason": reason}),
        Event::Thawed { .. } => json!({}),
        Event::TokenMinted { token } => json!({
            "token": token.id.to_string(),
            "owner": match &token.owner {
                TokenOwner::Person(id) => id.to_string(),
                TokenOwner::Program(name) => name.clone(),
            },
        }),
        Event::TokenRevoked { token, .. } => json!({"token": token.to_string()}),
        Event::LoggedIn { person, via } => json!({"person": person.to_string(), "via": via}),
        Event::PolicyInForce { policy, .. } => json!({"policy": policy.to_string()}),
        Event::AnswerRefused { refused } => json!({
            "channel": refused.channel,
            "identity": refused.identity,
            "person": refused.person.as_ref().map(ToString::to_string),
            "hold": refused.hold.map(|hold| hold.to_string()),
            "why": refused.why,
            "unlisted": refused.unlisted,
        }),
        Event::DeliveryFailed { hold, channel, to, why } => {
            json!({"hold": hold.to_string(), "channel": channel, "to": to, "why": why})
        }
    }
}

fn changed(change: &HoldChange, secrets: &Secrets) -> Value {
    match change {
        HoldChange::Voted(vote) => json!({"change": "voted", "answer": hold::voted(vote, secrets)}),
        HoldChange::Revised { call, risk, rule, .. } => {
            json!({"change": "revised", "call": hold::call(call), "risk": risk.name(), "rule": rule})
        }
        HoldChange::Revealed(who) => json!({"change": "revealed", "revealed_by": who.to_string()}),
        HoldChange::Claimed(who) => json!({"change": "claimed", "claimed_by": who.to_string()}),
        HoldChange::Unclaimed => json!({"change": "unclaimed"}),
        HoldChange::Outcome(outcome) => {
            json!({"change": "outcome", "outcome": hold::outcome(outcome)})
        }
    }
}

fn merge(data: &mut Value, more: Value) {
    if let (Value::Object(data), Value::Object(more)) = (data, more) {
        data.extend(more);
    }
}

/// Text on its way, which is not stored and has no id.
pub(crate) fn spoken(spoken: &Spoken) -> Moment {
    let delta = |message: &dyn ToString, kind, text: &str| json!({"message": message.to_string(), "kind": kind, "text": text});
    let (name, data) = match spoken {
        Spoken::Text { message, text } => ("message.delta", delta(message, "text", text)),
        Spoken::Reasoning { message, text } => ("message.delta", delta(message, "reasoning", text)),
        Spoken::Discarded { message } => {
            ("message.discarded", json!({"message": message.to_string()}))
        }
    };
    Moment { name, id: None, data }
}

/// The id lets a client that reconnects go on from here.
pub(crate) fn snapshot_event(position: u64, name: &str, snapshot: Value) -> Moment {
    let mut data = json!({"position": position});
    data[name] = snapshot;
    Moment { name: "reset", id: Some(position), data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_an_event_is_what_its_schema_says() {
        let data = || EventData {
            session: Some("ses_1".into()),
            at: "2026-01-01T00:00:00Z".into(),
            by: "ana".into(),
            more: Map::from_iter([("run".to_owned(), json!("run_1"))]),
        };
        let written = |value: &dyn Fn() -> Value| value().to_string();
        assert_eq!(written(&|| data().into_value()), written(&|| json!(data())));
    }
}
