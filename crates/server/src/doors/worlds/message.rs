//! Saying something in a chat. What is said is text, whatever it looks like. The one exception are the
//! whole sentences that the configuration names for a tool (`approve_text`, `deny_text`), with the values
//! of the stored call in them.

use std::sync::Arc;

use domain::session::Session;
use engine::NewMessage;
use serde_json::{Map, Value};

use super::DOOR;
use super::body::{Detail, Fields};
use super::chat::Chat;
use super::fault::WorldsResult;
use super::telling::{Generation, ReservedStream, awaited, streamed};
use super::wire::{Processed, Success};
use super::world_request::{PostRequest, WorldRequest, ok};
use crate::doors::flow::{RunFollower, Since};
use crate::doors::{NamedAgent, agreed};

pub(super) struct Posting {
    pub(super) text: String,
    stream: bool,
    chat: Option<String>,
}

impl Posting {
    /// `sender` gives nobody a name, and `messages` (what the client thinks was said) is not looked at:
    /// our own transcript counts.
    pub(super) fn read(body: &Map<String, Value>) -> Result<Posting, Vec<Detail>> {
        let mut fields = Fields::of(body);
        let text = fields.text("message");
        let stream = fields.flag("stream").unwrap_or(true);
        let chat = fields.maybe_text("chatId");
        fields.maybe_text("sender");
        fields.done()?;
        Ok(Posting { text, stream, chat })
    }
}

pub(super) async fn post(posted: PostRequest) -> WorldsResult {
    let posting = Posting::read(&posted.loose()?)?;
    let here = posted.here;
    let generation = match posting.chat {
        Some(_) => Generation::Second,
        None => Generation::First,
    };
    let stream = ReservedStream::take_if(posting.stream, &here, generation)?;
    let chat = chat(&here, posting.chat.as_deref()).await?;
    let agent = addressed(&here, &posting.text)?;
    let session = here.session_with(&chat.id, agent).await?;
    say_in_chat(&here, &chat.id, session, posting.text, stream).await
}

async fn chat(here: &WorldRequest, named: Option<&str>) -> WorldsResult<Chat> {
    if let Some(id) = named {
        return here.chat(id).await;
    }
    match here.current_chat().await? {
        None => here.open_chat().await,
        Some(id) => match here.chat(&id).await {
            Err(fault) if fault.is_not_found() => here.open_chat().await,
            found => found,
        },
    }
}

/// The agent that the message begins with, such as `@a2`; else the main agent.
fn addressed<'a>(here: &'a WorldRequest, text: &str) -> WorldsResult<&'a NamedAgent> {
    let name = text.trim_start().strip_prefix('@').map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
        &rest[..end.unwrap_or(rest.len())]
    });
    match name.and_then(|name| here.agent(name)) {
        Some(agent) => Ok(agent),
        None => here.main_agent(),
    }
}

/// Says it, and tells what comes of it: as a stream, or (`None`) when everything rests.
pub(super) async fn say_in_chat(
    here: &WorldRequest,
    chat: &str,
    session: Arc<Session>,
    text: String,
    stream: Option<ReservedStream>,
) -> WorldsResult {
    let (app, caller) = (here.app(), here.caller());
    let since = Since::now(&session);
    if let Some(agreed) = agreed::answer_agreed(app, caller, DOOR, &session, &text, None).await? {
        let flow = RunFollower::open(app, caller, &session, agreed.run, agreed.since).await?;
        return run_reply(here, chat, &session, flow, stream).await;
    }
    let saying = NewMessage { texts: vec![text], files: Vec::new(), while_pending: None };
    let said = app.engine.say(caller, session.id, saying, None).await?;
    let flow = RunFollower::open(app, caller, &session, Some(said.run), since).await?;
    run_reply(here, chat, &session, flow, stream).await
}

async fn run_reply(
    here: &WorldRequest,
    chat: &str,
    session: &Session,
    flow: RunFollower,
    stream: Option<ReservedStream>,
) -> WorldsResult {
    let source = here.source(chat, session);
    if let Some(reserved) = stream {
        return Ok(streamed(here, reserved, flow, session, source, Vec::new()));
    }
    let (content, rests) = awaited(here, flow, session, source).await?;
    // Nothing is called processed that is not.
    let message = match rests {
        true => "Message processed successfully",
        false => "Message accepted, and still being processed",
    };
    let content = serde_json::to_string(&content).unwrap_or_default();
    let timestamp = here.app().engine.now().to_string();
    let data = Processed { content, timestamp };
    Ok(ok(&Success { success: true, message, data }))
}
