//! What a program is told: the native events of a hold.
//!
//! ```json
//! {"type":"hold.opened","timestamp":"…","data":{"place":{"chat":"ops"},"hold":{"id":"hold_…",
//!   "state":"pending","kind":"approve","title":"…","digest":"sha256:…","opened_at":"…","expires_at":"…",
//!   "risk":"high","call":{"tool":"…","arguments":{…}},"options":[{"id","label"}],"text":"…","link":"…",
//!   "decision":null,"outcome":null}}}
//! ```
//! `text` is the one rendering that all surfaces share; it is what the digest's person should be shown.

use domain::hold::{HoldOutcome, Question};
use domain::time::Timestamp;
use ports::channel::{Place, Showing};
use serde_json::{Value, json};

use super::body::{decided_at, hold_value};

pub(super) struct Event {
    /// The same over retries.
    pub(super) id: String,
    pub(super) body: Vec<u8>,
}

impl Event {
    pub(super) fn opened(place: &Place, showing: &Showing<'_>) -> Event {
        let place = match place {
            Place::Person(person) => json!({"person": person}),
            Place::Chat { chat, .. } => json!({"chat": chat}),
        };
        let at = showing.hold.opened_at;
        Event {
            id: showing.key.as_str().to_owned(),
            body: body("hold.opened", at, &json!({"place": place, "hold": told(showing)})),
        }
    }

    /// `opened` is the id of the event that told of the hold first.
    pub(super) fn changed(opened: &str, showing: &Showing<'_>, now: Timestamp) -> Event {
        let hold = showing.hold;
        let (kind, at) = match (decided_at(&hold.state), &hold.outcome) {
            (None, _) => ("hold.updated", now),
            (Some(at), None | Some(HoldOutcome::Executing)) => ("hold.decided", at),
            (Some(_), Some(_)) => ("call.settled", now),
        };
        Event {
            id: format!("{opened}-{}-{}", hold.version, kind.replace('.', "_")),
            body: body(kind, at, &json!({"hold": told(showing)})),
        }
    }
}

fn body(kind: &str, at: Timestamp, data: &Value) -> Vec<u8> {
    json!({"type": kind, "timestamp": at.to_string(), "data": data}).to_string().into_bytes()
}

fn told(showing: &Showing<'_>) -> Value {
    let hold = showing.hold;
    let mut told = hold_value(hold);
    told["expires_at"] = json!(hold.expires_at.map(|at| at.to_string()));
    told["risk"] = hold.risk.name().into();
    told["text"] = domain::view::render(hold).into();
    told["link"] = json!(showing.link);
    if let Question::Choose { options, .. } = &hold.question {
        let shown = options.iter().map(|one| json!({"id": one.id, "label": one.label}));
        told["options"] = shown.collect();
    }
    told["outcome"] = match &hold.outcome {
        None => Value::Null,
        Some(HoldOutcome::Executing) => "executing".into(),
        Some(HoldOutcome::Succeeded(_)) => "succeeded".into(),
        Some(HoldOutcome::Failed(_)) => "failed".into(),
        Some(HoldOutcome::Unknown) => "unknown".into(),
    };
    told
}
