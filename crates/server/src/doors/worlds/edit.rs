//! Stopping a run, and editing and deleting messages. A message that is edited or deleted leaves the
//! conversation that the model sees, with everything that followed it; open prompts are cancelled. What was
//! said stays in the record.

use std::sync::Arc;

use domain::message::{Message, Origin, Role};
use domain::session::{RunStatus, Session};

use super::body::{Detail, Fields};
use super::chat::Chat;
use super::fault::{WorldsFault, WorldsResult};
use super::message::say_in_chat;
use super::name::kebab;
use super::replies::{MessagesRemoved, Notice, RunStopped};
use super::rest::current;
use super::telling::{Generation, ReservedStream};
use super::world_request::{PostRequest, WorldRequest, ok};
use crate::doors::conversation;

/// `false`: there was nothing.
pub(super) async fn end_run(
    here: &WorldRequest,
    session: &Session,
    why: &str,
) -> WorldsResult<bool> {
    Ok(conversation::stop(here.app(), here.caller(), session, Some(why)).await?)
}

pub(super) async fn stop(posted: PostRequest) -> WorldsResult {
    let body = posted.strict()?;
    let mut fields = Fields::of(&body);
    let id = fields.text("chatId");
    fields.done()?;
    let chat = posted.here.chat(&id).await?;
    let mut stopped = false;
    for session in &chat.sessions {
        stopped |= end_run(&posted.here, session, "stopped in the chat").await?;
    }
    let reason = if stopped { "stopped" } else { "no-active-process" };
    Ok(ok(&RunStopped { success: true, chat_id: chat.id, stopped, reason }))
}

/// Takes the message and what followed it out of the conversation, and says the new text in its place.
pub(super) async fn change(posted: PostRequest) -> WorldsResult {
    let body = posted.strict()?;
    let mut fields = Fields::of(&body);
    let (text, id) = (fields.text("newContent"), fields.text("chatId"));
    let stream = fields.flag("stream").unwrap_or(true);
    fields.done()?;
    if text.trim().is_empty() {
        return Err(WorldsFault::invalid(vec![Detail::new("newContent", "must not be empty")]));
    }
    let here = posted.here;
    let chat = here.chat(&id).await?;
    let (session, message) = own_message(&chat, here.path("message"))?;
    let agent = here.source(&chat.id, &session).agent;
    let stream = ReservedStream::take_if(stream, &here, Generation::Second)?;
    cut(&here, &chat, &message).await?;
    let agent = here.agent(&agent).ok_or_else(WorldsFault::no_agent)?;
    let fresh = here.session_with(&chat.id, agent).await?;
    say_in_chat(&here, &chat.id, fresh, text, stream).await
}

/// Takes the message and what followed it out of the conversation. A client that edits says the new text
/// after this.
pub(super) async fn remove(posted: PostRequest) -> WorldsResult {
    let body = posted.strict()?;
    let mut fields = Fields::of(&body);
    let id = fields.text("chatId");
    fields.done()?;
    let here = posted.here;
    let chat = here.chat(&id).await?;
    must_rest(&chat)?;
    let (_, message) = own_message(&chat, here.path("message"))?;
    let removed = cut(&here, &chat, &message).await?;
    let agents: Vec<&str> = removed.iter().map(|(agent, _)| agent.as_str()).collect();
    let total: usize = removed.iter().map(|(_, messages)| messages).sum();
    let told = format!("Successfully removed {total} message(s) from {} agent(s)", agents.len());
    Ok(ok(&MessagesRemoved {
        success: true,
        message_id: message.id.to_string(),
        total_agents: agents.len(),
        processed_agents: agents,
        failed_agents: [],
        messages_removed_total: total,
        message: told,
    }))
}

/// Begins the conversation with one agent anew, in the current chat.
pub(super) async fn forget(here: WorldRequest) -> WorldsResult {
    let agent = here.agent(here.path("agent")).ok_or_else(WorldsFault::no_agent)?.clone();
    if let Some(chat) = current(&here).await? {
        let name = kebab(&agent.name);
        let with = |session: &&Arc<Session>| here.source(&chat.id, session).agent == name;
        if let Some(session) = chat.sessions.iter().find(with)
            && let Some(first) = session.transcript.iter().next()
        {
            must_rest(&chat)?;
            here.branch(&chat.id, session, first.id).await?;
        }
    }
    Ok(ok(&Notice { message: "Agent memory cleared successfully" }))
}

/// What runs cannot be taken back while it does.
fn must_rest(chat: &Chat) -> WorldsResult<()> {
    let works = |session: &Arc<Session>| {
        session.run.as_ref().is_some_and(|run| run.status() == RunStatus::Running)
    };
    match chat.sessions.iter().any(works) {
        true => Err(WorldsFault::locked("World is currently processing another message")),
        false => Ok(()),
    }
}

/// Every agent's conversation from before the message, or from before what was said to it after that; with
/// how many messages left it.
async fn cut(
    here: &WorldRequest,
    chat: &Chat,
    message: &Message,
) -> WorldsResult<Vec<(String, usize)>> {
    let mut cut = Vec::new();
    for session in &chat.sessions {
        let place = session.transcript.iter().position(|said| said.id == message.id);
        let later = || session.transcript.iter().position(|it| is_own(it) && it.at > message.at);
        let Some(at) = place.or_else(later) else { continue };
        let Some(first) = session.transcript.get(at) else { continue };
        here.branch(&chat.id, session, first.id).await?;
        let agent = here.source(&chat.id, session).agent;
        cut.push((agent, session.transcript.len() - at));
    }
    Ok(cut)
}

pub(super) fn is_own(message: &Message) -> bool {
    message.role == Role::User && message.origin == Origin::Own
}

/// A message of the person's, and where it was said.
fn own_message(chat: &Chat, id: &str) -> WorldsResult<(Arc<Session>, Arc<Message>)> {
    for session in &chat.sessions {
        let found = session.transcript.iter().find(|message| message.id.to_string() == id);
        match found {
            Some(message) if is_own(message) => return Ok((session.clone(), message.clone())),
            Some(_) => {
                let error = "Can only edit user messages";
                return Err(WorldsFault::new(400, "INVALID_MESSAGE_TYPE", error));
            }
            None => {}
        }
    }
    Err(WorldsFault::no_message())
}
