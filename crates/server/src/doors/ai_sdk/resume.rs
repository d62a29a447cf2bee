//! `GET …/stream`: the current assistant message from its beginning, then as it goes on. Nothing when
//! its run is over and a client was told so.

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use domain::session::{RunStatus, Session};

use super::super::conversation;
use super::chat::{AiSdkRequest, follow_run, streamed};
use super::chunk_writer::{ChunkWriter, end_mark};
use super::{AiSdkContext, NAME, Ui, project, refusal};
use crate::auth::Who;
use crate::problem::{Problem, Reply};

pub(crate) async fn chat(
    State(here): State<AiSdkContext>,
    Path(chat): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
) -> Response {
    let resumed = resumed(&here, &who, &chat, query.as_deref(), &headers).await;
    resumed.unwrap_or_else(|refused| refusal::worded(refused, refusal::problem))
}

pub(crate) async fn project(
    State(here): State<AiSdkContext>,
    Path(project): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
) -> Response {
    let place = project::project_place(&project);
    let resumed = resumed(&here, &who, &place, query.as_deref(), &headers).await;
    resumed.unwrap_or_else(|refused| refusal::worded(refused, refusal::success_false))
}

/// Versions 5 and 6 put the chat behind the whole address, also behind its query:
/// `/api/chat?ui=6/chat_1/stream`.
pub(crate) async fn by_query(
    State(here): State<AiSdkContext>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    who: Who,
) -> Response {
    let Some((query, chat)) = query.as_deref().and_then(named_chat) else {
        return refusal::problem(Problem::wrong_method());
    };
    let resumed = resumed(&here, &who, &chat, Some(query), &headers).await;
    resumed.unwrap_or_else(|refused| refusal::worded(refused, refusal::problem))
}

/// The query, and the chat behind it.
pub(super) fn named_chat(query: &str) -> Option<(&str, String)> {
    let (query, chat) = query.strip_suffix("/stream")?.rsplit_once('/')?;
    Some((query, decoded(chat)))
}

async fn resumed(
    here: &AiSdkContext,
    who: &Who,
    place: &str,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Reply {
    let asked = AiSdkRequest::new(here, query, headers)?;
    let found = conversation::find(&here.app, &who.caller, NAME, place).await?;
    let Some(session) = found else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let nothing_new = match session.run.as_ref().map(|run| run.status()) {
        None => true,
        // Old releases of 5 add a replay to what they have, and then never post an answer.
        Some(RunStatus::Paused) => asked.ui == Ui::Five && asked.has_messages,
        Some(RunStatus::Running) => false,
        // It may have ended after an answer that was given elsewhere: then no client was told.
        Some(_) => was_delivered(here, &session).await?,
    };
    if nothing_new {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let message = session.run.as_ref().map(|run| run.id.to_string()).unwrap_or_default();
    let teller = ChunkWriter::new(here, &who.caller, asked.ui, message, None);
    let permit = here.app.streams.take(who.caller.stable_name())?;
    let flow = follow_run(here, who, &session, None, false).await?;
    Ok(streamed(here, who, permit, flow, teller))
}

/// Whether some client of this door was told the latest message to its end.
async fn was_delivered(here: &AiSdkContext, session: &Session) -> Reply<bool> {
    let mark = here.door.delivered.latest(&here.app, NAME, session.id).await?;
    Ok(mark == Some(end_mark(session)))
}

/// Percent signs undone; what is not UTF-8 then names nothing.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        // A sign before a digit makes a number for the standard library, and none here.
        let hex = after.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|two| std::str::from_utf8(two).ok());
        let byte = hex.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_meant() {
        for (sent, meant) in [
            ("chat_1", "chat_1"),
            ("a%20b%2Fc", "a b/c"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%+1", "%+1"),
            ("%ff", ""),
        ] {
            assert_eq!(decoded(sent), meant);
        }
    }
}
