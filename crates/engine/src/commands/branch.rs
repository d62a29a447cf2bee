//! A conversation from before one of its messages, in a session of its own. The earlier session keeps
//! everything in its journal; what follows the message there is not part of what the model sees here.
//!
//! Words are carried over, and nothing else: no run, no call, no hold and no grant. What was approved in
//! the earlier session is not approved in this one.

use std::sync::Arc;

use domain::id::{MessageId, SessionId};
use domain::message::{Message, Part};
use domain::refusal::Refusal;
use domain::schema::redact;
use domain::session::Session;
use serde_json::{Value, json};

use crate::accounts::Caller;
use crate::commands::session::NewSession;
use crate::{Engine, Error};

impl Engine {
    /// Opens the branch that ends just before `before`, which the caller's own session must have.
    pub async fn open_branch(
        &self,
        caller: &Caller,
        source: SessionId,
        before: MessageId,
    ) -> Result<Arc<Session>, Error> {
        let source = self.session(caller, source).await?;
        if !source.creator.is_same(&caller.actor) {
            let why = "only its creator speaks in a session";
            return Err(Refusal::NotEntitled { why: why.into() }.into());
        }
        let kept = source.transcript.iter().take_while(|message| message.id != before).count();
        if kept == source.transcript.len() {
            return Err(Refusal::NotFound { what: "message" }.into());
        }
        let transcript = source.transcript.iter().take(kept);
        let transcript = transcript.map(|message| without_secrets(message, &source)).collect();
        let new = NewSession {
            agent: source.agent.to_string(),
            title: source.title.clone(),
            metadata: branched(&source, before),
            home: source.home.clone(),
        };
        match self.open_as(caller, self.new_session_id(), new, transcript, None).await? {
            Some(session) => Ok(session),
            None => Err(Error::Unavailable("the branch could not be opened; try again".into())),
        }
    }
}

/// The record of a call says where its secrets are. It stays behind, so they do too.
fn without_secrets(message: &Arc<Message>, source: &Session) -> Arc<Message> {
    let secrets_of = |part: &Part| match part {
        Part::ToolCall { call, .. } => {
            let call = source.calls.get(call)?.call.as_ref()?;
            Some(&call.secrets).filter(|secrets| !secrets.is_empty())
        }
        _ => None,
    };
    if !message.parts.iter().any(|part| secrets_of(part).is_some()) {
        return message.clone();
    }
    let mut copy = Message::clone(message);
    for part in &mut copy.parts {
        let Some(secrets) = secrets_of(part) else { continue };
        if let Part::ToolCall { input, .. } = part {
            let read: Value = serde_json::from_str(input).unwrap_or_default();
            *input = redact(&read, secrets).to_string();
        }
    }
    Arc::new(copy)
}

fn branched(source: &Session, before: MessageId) -> Value {
    let mut metadata = source.metadata.clone();
    if let Value::Object(members) = &mut metadata {
        let from = json!({"session": source.id.to_string(), "before": before.to_string()});
        members.insert("branch_of".into(), from);
    }
    metadata
}
