//! Sessions and runs.

use domain::budget::Spent;
use domain::context::WhilePending;
use domain::id::{FileId, RunId, SessionId};
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
    {
        "required": ["parts"],
        "properties": {
            "parts": {"type": "array"},
            "text": {"type": "null"},
            "files": {"type": ["array", "null"], "maxItems": 0},
        },
    },
    {
        "required": ["files"],
        "properties": {
            "files": {"type": "array", "minItems": 1},
            "text": {"type": "null"},
            "parts": {"type": "null"},
        },
    },
]))]
pub(crate) struct SayBody {
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    text: Option<String>,
    /// At least one of them says something.
    #[serde(default)]
    #[schemars(length(min = 1))]
    parts: Option<Vec<SayPart>>,
    /// Ids of uploaded files that come with `text`, or are all of the message. Among `parts` they are parts.
    #[serde(default)]
    #[schemars(length(max = 20), inner(regex(pattern = r"^file_[0-7][0-9a-hjkmnp-tv-z]{25}$")))]
    files: Option<Vec<String>>,
    /// What to do while holds are open; the agent's own way if not said.
    #[serde(default)]
    #[schemars(extend("enum" = ["queue", "supersede", "refuse", "deliver", null]))]
    while_pending: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("oneOf" = [
    {
        "required": ["text"],
        "properties": {
            "type": {"const": "text"}, "text": {"type": "string"}, "file": {"type": "null"},
        },
    },
    {
        "required": ["file"],
        "properties": {
            "type": {"const": "file"}, "file": {"type": "string"}, "text": {"type": "null"},
        },
    },
]))]
struct SayPart {
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["text", "file"]))]
    kind: String,
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    text: Option<String>,
    /// The id of an uploaded file.
    #[serde(default)]
    #[schemars(regex(pattern = r"^file_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    file: Option<String>,
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
        let given = self.files.unwrap_or_default();
        let mut files = given.iter().map(|id| file_id(id)).collect::<Result<Vec<_>, _>>()?;
        let mut texts = Vec::new();
        match (self.text, self.parts) {
            (Some(text), None) => texts.push(text),
            (None, Some(parts)) if files.is_empty() => {
                for part in parts {
                    match (part.kind.as_str(), part.text, part.file) {
                        ("text", Some(text), None) => texts.push(text),
                        ("file", None, Some(id)) => files.push(file_id(&id)?),
                        _ => {
                            let why = "a message has parts `{\"type\":\"text\",\"text\"}` and \
                                       `{\"type\":\"file\",\"file\"}` only";
                            return Err(Problem::invalid("parts", why));
                        }
                    }
                }
            }
            (None, None) if !files.is_empty() => {}
            _ => {
                let detail = "send either `text` or `parts`; `files` go with `text` or alone";
                return Err(Problem::bad_request(detail));
            }
        }
        Ok(NewMessage { texts, files, while_pending })
    }
}

fn file_id(text: &str) -> Result<FileId, Problem> {
    text.parse().map_err(|error| Problem::invalid("files", format!("{error}")))
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
