//! Which agent and which format a client gets. A stream that goes on after a pause is in the format in
//! which the pause was sent, whatever the configuration says by then.

use domain::id::SessionId;
use domain::session::Session;
use ports::store::PutNote;
use serde_json::{Value, json};

use super::limits::REPEATS_KEPT_MS;
use super::{Frontend, NAME};
use crate::app::App;
use crate::doors::{AgentType, Format};
use crate::problem::{Problem, Reply};

/// What the client takes where it names nothing.
const DEFAULT: &str = "agent_frontend_tools";

impl Frontend {
    pub(super) fn kind(&self, name: Option<&str>) -> Result<&AgentType, Problem> {
        let agents = &self.setup.agents;
        let named = |name: &str| agents.iter().find(|kind| kind.name == name);
        let found = match name {
            Some(name) => named(name),
            None => named(DEFAULT).or_else(|| agents.first()),
        };
        found.ok_or_else(|| {
            let known: Vec<&str> = agents.iter().map(|kind| kind.name.as_str()).collect();
            let why =
                format!("there is no such agent type; the agent types are: {}", known.join(", "));
            Problem::invalid("agent_type", why)
        })
    }

    /// The same for a session that there is already. Its agent cannot be exchanged.
    pub(super) fn kind_for(
        &self,
        session: &Session,
        name: Option<&str>,
    ) -> Result<AgentType, Problem> {
        if let Some(name) = name {
            let kind = self.kind(Some(name))?;
            if kind.agent != session.agent {
                let why = "this conversation is with another agent; begin a new one";
                return Err(Problem::invalid("agent_type", why));
            }
            return Ok(kind.clone());
        }
        let opened_as = session.metadata.get("agent_type").and_then(Value::as_str);
        let kinds = self.setup.agents.iter().filter(|kind| kind.agent == session.agent);
        let best = kinds.clone().find(|kind| Some(kind.name.as_str()) == opened_as);
        let kind = best.or_else(|| kinds.clone().next()).cloned();
        let format = opened_in(session);
        Ok(match kind {
            Some(kind) => AgentType { format: format.unwrap_or(kind.format), ..kind },
            // Opened elsewhere, with an agent that this door has no name for.
            None => AgentType {
                name: session.agent.to_string(),
                agent: session.agent.clone(),
                format: format.unwrap_or_default(),
                history: false,
            },
        })
    }
}

/// What is kept with a session from its first day.
pub(super) fn metadata(kind: &AgentType) -> Value {
    json!({"agent_type": kind.name, "format": kind.format.name()})
}

fn opened_in(session: &Session) -> Option<Format> {
    parse(session.metadata.get("format")?.as_str()?)
}

fn parse(name: &str) -> Option<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name)
}

fn note_namespace() -> String {
    format!("{NAME}.formats")
}

/// Before a stream of another format than the session's own begins.
pub(super) async fn remember(app: &App, session: &Session, format: Format) -> Reply<()> {
    let noted = noted(app, session.id).await?;
    // mutant: frontend-format-of-the-day
    if noted.or_else(|| opened_in(session)) == Some(format) {
        return Ok(());
    }
    let put = PutNote {
        shelf: note_namespace(),
        key: session.id.to_string(),
        value: Some(format.name().as_bytes().to_vec()),
        expected: None,
        due_at: None,
        forget_at: Some(app.engine.now().plus_ms(REPEATS_KEPT_MS)),
    };
    app.engine.write_note(put).await?;
    Ok(())
}

/// The format that the client of a session reads now, if it is not the session's own.
pub(super) async fn noted(app: &App, id: SessionId) -> Reply<Option<Format>> {
    let note = app.engine.read_note(&note_namespace(), &id.to_string()).await?;
    Ok(note.and_then(|note| parse(std::str::from_utf8(&note.value).ok()?)))
}
