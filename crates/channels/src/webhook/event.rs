//! What a program is told: the native events of a hold.
//!
//! ```json
//! {"type":"hold.opened","timestamp":"…","data":{"place":{"chat":"ops"},"hold":{"id":"hold_…",
//!   "state":"pending","kind":"approve","title":"…","digest":"sha256:…","opened_at":"…","expires_at":"…",
//!   "tag":"7Q2","requester":"ana","agent":"ops","opened_by":{"kind":"program","name":"ci"},"rule":"…",
//!   "audience":{"people":[],"roles":["dba"],"quorum":2,"exclude_requester":true},"votes":[…],
//!   "risk":"high","call":{"tool":"…","arguments":{…}},"options":[{"id","label"}],"text":"…","link":"…",
//!   "decision":null,"outcome":null}}}
//! ```
//! `text` is the one rendering that all surfaces share; it is what the digest's person should be shown. In
//! it every line with a foreign word begins with a bar; a receiver that wraps lines draws `parts` instead.

use domain::hold::{Decision, Hold, HoldOutcome, HoldState, Question};
use domain::time::Timestamp;
use domain::view::View;
use ports::channel::{Destination, Showing, Step, StepKind};
use serde_json::{Value, json};

use super::body::hold_value;
use crate::limits::WEBHOOK_PARTS_TEXT_BYTES_MAX;

pub(super) struct WebhookEvent {
    /// The same over retries.
    pub(super) id: String,
    pub(super) body: Vec<u8>,
}

impl WebhookEvent {
    pub(super) fn opened(place: &Destination, showing: &Showing<'_>) -> WebhookEvent {
        let place = match place {
            Destination::Person(person) => json!({"person": person}),
            Destination::Chat { chat, .. } => json!({"chat": chat}),
        };
        let at = showing.hold.opened_at;
        let then = Hold { votes: Vec::new(), ..undecided(showing.hold, at) };
        let data = json!({"place": place, "hold": hold_json(&then, showing.link)});
        WebhookEvent {
            id: showing.key.as_str().to_owned(),
            body: event_body("hold.opened", at, &data),
        }
    }

    /// `opened` is the id of the event that told of the hold first.
    pub(super) fn of(opened: &str, showing: &Showing<'_>, step: &Step) -> WebhookEvent {
        let kind = match step.kind {
            StepKind::Updated | StepKind::Started | StepKind::InDoubt => "hold.updated",
            StepKind::Decided => "hold.decided",
            StepKind::Settled => "call.settled",
        };
        let then = as_it_was(showing.hold, step);
        WebhookEvent {
            id: format!("{opened}-{}", step.position),
            body: event_body(kind, step.at, &json!({"hold": hold_json(&then, showing.link)})),
        }
    }
}

/// A step may be told when the hold has gone on: then it is told as it was.
fn as_it_was(hold: &Hold, step: &Step) -> Hold {
    let outcome = match step.kind {
        StepKind::Updated => return undecided(hold, step.at),
        StepKind::Decided => None,
        StepKind::Started => Some(HoldOutcome::Executing),
        StepKind::InDoubt => Some(HoldOutcome::Unknown),
        StepKind::Settled => hold.outcome().cloned(),
    };
    with_outcome(hold.clone(), outcome)
}

fn with_outcome(mut hold: Hold, outcome: Option<HoldOutcome>) -> Hold {
    if let Some(on_hold) = &mut hold.call_on_hold {
        on_hold.outcome = outcome;
    }
    hold
}

fn undecided(hold: &Hold, at: Timestamp) -> Hold {
    let last = hold.state.decision().and_then(Decision::vote);
    // Votes of one moment: the one that decided came after the others.
    let counted = hold.votes.iter().filter(|vote| vote.at <= at && Some(*vote) != last);
    let votes = counted.cloned().collect();
    with_outcome(Hold { state: HoldState::Pending, votes, ..hold.clone() }, None)
}

fn event_body(kind: &str, at: Timestamp, data: &Value) -> Vec<u8> {
    json!({"type": kind, "timestamp": at.to_string(), "data": data}).to_string().into_bytes()
}

fn hold_json(hold: &Hold, link: Option<&str>) -> Value {
    let mut told = hold_value(hold);
    told["expires_at"] = json!(hold.expires_at.map(|at| at.to_string()));
    told["risk"] = hold.risk.name().into();
    let view = View::of(hold);
    let text = view.text();
    // Many times as large as the text if it has many short lines.
    if text.len() <= WEBHOOK_PARTS_TEXT_BYTES_MAX {
        told["parts"] = view.json();
    }
    told["text"] = text.into();
    told["link"] = json!(link);
    if let Question::Choose { options, .. } = &hold.question {
        let shown = options.iter().map(|one| json!({"id": one.id, "label": one.label}));
        told["options"] = shown.collect();
    }
    told["outcome"] = match hold.outcome() {
        None => Value::Null,
        Some(outcome) => outcome.name().into(),
    };
    told
}
