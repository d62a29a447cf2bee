//! Sessions and runs.

use domain::budget::Spent;
use domain::context::WhilePending;
use domain::id::{RunId, SessionId};
use domain::person::Actor;
use domain::session::{Run as DomainRun, Session as Domain, Stopping};
use domain::time::Timestamp;
use engine::{Engine, NewMessage, NewSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hold::Hold;
use super::message::Message;
use super::text::Text;
use crate::problem::Problem;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(crate) struct SessionDocument<'a> {
    #[serde(flatten)]
    summary: Summary<'a>,
    messages: Vec<Message<'a>>,
    /// Messages that wait for their turn.
    queued: Vec<Message<'a>>,
}

/// A session as lists show it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Summary<'a> {
    id: Text<SessionId>,
    /// The position of its last event.
    version: u64,
    agent: &'a str,
    title: Option<&'a str>,
    metadata: &'a Value,
    creator: Text<&'a Actor>,
    created_at: Text<Timestamp>,
    updated_at: Text<Timestamp>,
    /// The open holds.
    pending: Vec<Hold<'a>>,
    /// The latest run; null only before the first message.
    run: Option<Run>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) session: String,
    /// `queued`: its message waits for its turn.
    #[schemars(extend("enum" = ["running", "paused", "completed", "failed", "cancelled", "queued"]))]
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Why it was cancelled, or ended because a budget was used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) usage: Usage,
    /// Somebody cancelled it, and something of it is still running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopping_by: Option<String>,
    /// What an approved call waits for that is no person: a thaw, a tool that is not configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked: Option<String>,
}

/// What a run has used so far.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// Model calls.
    turns: u32,
    input_tokens: u64,
    /// Of these, read from the provider's cache.
    cached_tokens: u64,
    output_tokens: u64,
    /// As a decimal number, in the unit of the configured prices; absent if nothing was paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<String>,
    /// Seconds for which it was running. The time for which it waited for people does not count.
    time_s: f64,
}

impl Usage {
    pub(crate) fn of(spent: &Spent, now: Timestamp) -> Usage {
        Usage {
            turns: spent.turns,
            input_tokens: spent.usage.input_tokens,
            cached_tokens: spent.usage.cached_tokens,
            output_tokens: spent.usage.output_tokens,
            money: (spent.usage.money > 0).then(|| domain::budget::money(spent.usage.money)),
            time_s: spent.time_ms(now) as f64 / 1_000.0,
        }
    }
}

impl<'a> Summary<'a> {
    pub(crate) fn of(session: &'a Domain, engine: &Engine) -> Summary<'a> {
        Summary {
            id: Text(session.id),
            version: session.version,
            agent: &session.agent,
            title: session.title.as_deref(),
            metadata: &session.metadata,
            creator: Text(&session.creator),
            created_at: Text(session.opened_at),
            updated_at: Text(session.changed_at),
            pending: session.open_holds().map(|hold| Hold::of(hold)).collect(),
            run: Run::latest(session, engine),
        }
    }
}

impl<'a> SessionDocument<'a> {
    pub(crate) fn of(session: &'a Domain, engine: &Engine) -> SessionDocument<'a> {
        let shown = |message: &'a _| Message::of(message, Some(session), engine);
        SessionDocument {
            summary: Summary::of(session, engine),
            messages: session.transcript.iter().map(|message| shown(message)).collect(),
            queued: session.queue.iter().map(|queued| shown(&queued.message)).collect(),
        }
    }
}

impl Run {
    pub(crate) fn latest(session: &Domain, engine: &Engine) -> Option<Run> {
        let run = session.run.as_ref()?;
        let blocked = engine.blocked(session);
        Some(Run { blocked, ..Run::of(run, session, engine) })
    }

    /// A run as it is or was, whether it is the latest or not.
    pub(crate) fn of(run: &DomainRun, session: &Domain, engine: &Engine) -> Run {
        Run {
            id: run.id.to_string(),
            session: session.id.to_string(),
            status: run.status().name(),
            error: run.error().map(str::to_owned),
            reason: run.stopping().and_then(|stopping| stopping.reason.clone()),
            usage: Usage::of(&run.spent, engine.now()),
            stopping_by: run.stopping().map(|Stopping { by, .. }| by.to_string()),
            blocked: None,
        }
    }

    /// One whose message waits for its turn.
    pub(crate) fn queued(id: RunId, session: &Domain) -> Run {
        Run {
            id: id.to_string(),
            session: session.id.to_string(),
            status: "queued",
            error: None,
            reason: None,
            usage: Usage::default(),
            stopping_by: None,
            blocked: None,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NewSessionBody {
    /// One of `GET /v1/agents`.
    agent: String,
    #[serde(default)]
    #[schemars(length(max = 500))]
    title: Option<String>,
    #[serde(default)]
    metadata: Option<Value>,
}

impl NewSessionBody {
    pub(crate) fn parse(self) -> NewSession {
        let metadata = self.metadata.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        NewSession { agent: self.agent, title: self.title, metadata, home: None }
    }
}

/// A message: `text`, or `parts` of type `text`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [
    {"required": ["text"], "properties": {"text": {"type": "string"}, "parts": {"type": "null"}}},
    {"required": ["parts"], "properties": {"parts": {"type": "array"}, "text": {"type": "null"}}},
]))]
pub(crate) struct SayBody {
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    text: Option<String>,
    /// At least one of them says something.
    #[serde(default)]
    #[schemars(length(min = 1))]
    parts: Option<Vec<SayPart>>,
    /// What to do while holds are open; the agent's own way if not said.
    #[serde(default)]
    #[schemars(extend("enum" = ["queue", "supersede", "refuse", "deliver", null]))]
    while_pending: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SayPart {
    #[serde(rename = "type")]
    #[schemars(extend("const" = "text"))]
    kind: String,
    #[schemars(required, with = "String", regex(pattern = r"\S"))]
    text: Option<String>,
}

impl SayBody {
    pub(crate) fn parse(self) -> Result<NewMessage, Problem> {
        let while_pending = match self.while_pending.as_deref() {
            None => None,
            Some(text) => Some(WhilePending::parse(text).ok_or_else(|| {
                let why = "write one of `queue`, `supersede`, `refuse`, `deliver`";
                Problem::invalid("while_pending", why)
            })?),
        };
        let texts = match (self.text, self.parts) {
            (Some(text), None) => vec![text],
            (None, Some(parts)) => parts
                .into_iter()
                .map(|part| match (part.kind.as_str(), part.text) {
                    ("text", Some(text)) => Ok(text),
                    _ => Err(Problem::invalid(
                        "parts",
                        "a message has parts `{\"type\":\"text\",\"text\"}` only",
                    )),
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(Problem::bad_request("send either `text` or `parts`")),
        };
        Ok(NewMessage { texts, while_pending })
    }
}

/// What became of a message.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Said")]
pub(crate) struct MessageReceipt {
    run: String,
    message: String,
}

impl MessageReceipt {
    pub(crate) fn of(said: &engine::MessageReceipt) -> MessageReceipt {
        MessageReceipt { run: said.run.to_string(), message: said.message.to_string() }
    }
}
