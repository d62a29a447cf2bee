//! A message is its id and its words. The same id with other words is an edit: the conversation goes on
//! from before that message, and nothing that followed the old words is shown or answered under the new
//! ones. Another answer to the same message (`regenerate-message`) begins at the same place.

use std::sync::Arc;

use domain::digest::{Digest, Framed};
use domain::hold::SUPERSEDED;
use domain::id::MessageId;
use domain::message::{Message as Told, Origin, Part, Role};
use domain::session::{RunStatus, Session};
use ports::store::PutNote;

use super::super::conversation;
use super::read::{AiSdkPost, PostedMessage};
use super::{AiSdkContext, NAME};
use crate::auth::Who;
use crate::problem::Reply;

/// The session in which a posted message belongs: the given one, or the branch from before the message that
/// it takes the place of.
pub(super) async fn superseded(
    here: &AiSdkContext,
    who: &Who,
    place: &str,
    session: Arc<Session>,
    id: Option<&str>,
    posted: &AiSdkPost,
) -> Reply<Arc<Session>> {
    let PostedMessage::User { texts, .. } = &posted.message else { return Ok(session) };
    let failed = session.run.as_ref().is_some_and(|run| run.status() == RunStatus::Failed);
    // What failed goes on where it stopped.
    if posted.regenerate && failed {
        return Ok(session);
    }
    let known = match id {
        Some(id) => known(here, place, &session, id).await?,
        None => None,
    };
    let (app, caller) = (&here.app, &who.caller);
    let replaced = match known {
        Some(known) if posted.regenerate || known.words != texts_digest(texts) => known.message,
        Some(_) => return Ok(session),
        // A client that wants another answer to a message whose id we do not know means the last.
        None if posted.regenerate => match session.transcript.iter().rfind(|it| is_own(it)) {
            Some(last) if texts_of(last) == *texts => last.id,
            _ => return Ok(session),
        },
        None => return Ok(session),
    };
    if session.transcript.iter().any(|message| message.id == replaced) {
        return conversation::branch(app, caller, NAME, place, &session, replaced).await;
    }
    // It waits its turn: nothing came of it yet.
    if let Some(queued) = session.queue.iter().find(|queued| queued.message.id == replaced) {
        app.engine.cancel_run(caller, queued.run, Some(SUPERSEDED.into())).await?;
        return Ok(app.engine.session(caller, session.id).await?);
    }
    Ok(session)
}

/// What a client calls a message, and what it said then.
struct Known {
    message: MessageId,
    words: Digest,
}

/// By the client's own id; or by ours, which a page has that loaded the chat from here.
async fn known(
    here: &AiSdkContext,
    place: &str,
    session: &Session,
    id: &str,
) -> Reply<Option<Known>> {
    if let Ok(ours) = id.parse::<MessageId>()
        && let Some(told) = session.transcript.iter().find(|message| message.id == ours)
        && is_own(told)
    {
        return Ok(Some(Known { message: ours, words: texts_digest(&texts_of(told)) }));
    }
    let note = here.app.engine.read_note(SHELF, &key(place, id)).await?;
    Ok(note.and_then(|note| {
        let text = String::from_utf8(note.value).ok()?;
        let (message, words) = text.split_once(' ')?;
        Some(Known { message: message.parse().ok()?, words: words.parse().ok()? })
    }))
}

/// What the client calls a message that was said just now.
pub(super) async fn remember(
    here: &AiSdkContext,
    place: &str,
    id: &str,
    message: MessageId,
    texts: &[String],
) -> Reply<()> {
    let put = PutNote {
        shelf: SHELF.to_owned(),
        key: key(place, id),
        value: Some(format!("{message} {}", texts_digest(texts)).into_bytes()),
        expected: None,
        due_at: None,
        forget_at: None,
    };
    here.app.engine.write_note(put).await?;
    Ok(())
}

const SHELF: &str = "ai_sdk.messages";

/// Of a bounded length, whatever clients call chats and messages.
fn key(place: &str, id: &str) -> String {
    digest("holdpoint.ai_sdk.message_key.v1", place, id, &[]).to_string()
}

fn texts_digest(texts: &[String]) -> Digest {
    digest("holdpoint.ai_sdk.words.v1", "", "", texts)
}

pub(super) fn digest(label: &'static str, of: &str, id: &str, texts: &[String]) -> Digest {
    let framed = Framed::new(label).field("of", of.as_bytes()).field("id", id.as_bytes());
    texts.iter().fold(framed, |framed, text| framed.field("text", text.as_bytes())).finish()
}

fn is_own(message: &Told) -> bool {
    message.role == Role::User && message.origin == Origin::Own
}

fn texts_of(message: &Told) -> Vec<String> {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}
