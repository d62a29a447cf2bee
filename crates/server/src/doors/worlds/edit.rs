//! Stopping a run, and what clients call editing and deleting. What was said stays in the record, so
//! nothing can be taken back; a person can stop what is under way and say something else.

use std::sync::Arc;

use domain::message::{Message, Origin, Role};
use domain::session::{RunStatus, Session};
use serde_json::json;

use super::body::{Detail, Fields};
use super::chat::Chat;
use super::fault::{Answered, Fault};
use super::here::{Here, Posted, ok};
use super::message::say;
use crate::doors::conversation;

/// `false`: there was nothing.
pub(super) async fn end_run(here: &Here, session: &Session, why: &str) -> Answered<bool> {
    Ok(conversation::stop(here.app(), here.caller(), session, Some(why)).await?)
}

pub(super) async fn stop(posted: Posted) -> Answered {
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
    Ok(ok(&json!({"success": true, "chatId": chat.id, "stopped": stopped, "reason": reason})))
}

/// Stops what the message led to, and says the new text in its place. Only the latest message: what
/// came before it is the ground that later ones stand on.
pub(super) async fn change(posted: Posted) -> Answered {
    let body = posted.strict()?;
    let mut fields = Fields::of(&body);
    let (text, id) = (fields.text("newContent"), fields.text("chatId"));
    let stream = fields.flag("stream").unwrap_or(true);
    fields.done()?;
    if text.trim().is_empty() {
        return Err(Fault::invalid(vec![Detail::new("newContent", "must not be empty")]));
    }
    let here = posted.here;
    let chat = here.chat(&id).await?;
    let (session, message) = own_message(&chat, here.path("message"))?;
    let own = |message: &&Arc<Message>| is_own(message);
    if session.transcript.iter().rfind(own).map(|latest| latest.id) != Some(message.id) {
        let error =
            "only the latest message can be edited: what was said before it stays in the record";
        return Err(Fault::new(403, "READ_ONLY", error));
    }
    end_run(&here, &session, "the message was edited").await?;
    let fresh = here.app().engine.session(here.caller(), session.id).await?;
    say(&here, &chat.id, fresh, text, stream).await
}

pub(super) async fn remove(posted: Posted) -> Answered {
    let body = posted.strict()?;
    let mut fields = Fields::of(&body);
    let id = fields.text("chatId");
    fields.done()?;
    let here = posted.here;
    let chat = here.chat(&id).await?;
    let works = |session: &Arc<Session>| {
        session.run.as_ref().is_some_and(|run| run.status == RunStatus::Running)
    };
    if chat.sessions.iter().any(works) {
        return Err(Fault::locked("World is currently processing another message"));
    }
    own_message(&chat, here.path("message"))?;
    let error = "what was said stays in the record and is not deleted: edit the latest message (PUT), or say something new";
    Err(Fault::new(403, "READ_ONLY", error))
}

fn is_own(message: &Message) -> bool {
    message.role == Role::User && message.origin == Origin::Own
}

/// A message of the person's, and where it was said.
fn own_message(chat: &Chat, id: &str) -> Answered<(Arc<Session>, Arc<Message>)> {
    for session in &chat.sessions {
        let found = session.transcript.iter().find(|message| message.id.to_string() == id);
        match found {
            Some(message) if is_own(message) => return Ok((session.clone(), message.clone())),
            Some(_) => {
                let error = "Can only edit user messages";
                return Err(Fault::new(400, "INVALID_MESSAGE_TYPE", error));
            }
            None => {}
        }
    }
    Err(Fault::no_message())
}
