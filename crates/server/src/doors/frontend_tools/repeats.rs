//! The client's library gives a request up when its tab is hidden, and sends the same body again when it
//! is shown. Such a repeat runs nothing: it finds the run that the first one began.

use std::sync::Arc;

use domain::digest::{Digest, Framed};
use domain::event::HoldEvent;
use domain::id::{FileId, HoldId, RunId, SessionId};
use domain::message::{Message, Part};
use domain::refusal::Refusal;
use domain::session::Session;
use engine::{Caller, Error};
use ports::store::{Note, PutNote};

use super::attached::Connection;
use super::body::RunAsked;
use super::limits::{ALIKE_MAX, GONE_WITHIN, PAGE, REPEATS_KEPT_MS};
use super::transcript::is_prompt;
use super::{Frontend, NAME};
use crate::app::App;
use crate::doors::DoorContext;
use crate::problem::Reply;

/// The run that these very words began, if it is not over.
pub(super) fn under_way(session: &Session, asked: &RunAsked) -> Option<RunId> {
    let says = |message: &Message| {
        let said = message.parts.iter().filter(|part| !matches!(part, Part::File(_)));
        let said = said.map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        });
        is_prompt(message)
            && said.eq(asked.texts.iter().map(Some))
            && message.files().map(|file| file.id).eq(asked.files.iter().copied())
    };
    let run = session.run.as_ref().filter(|run| !run.is_over());
    let latest = session.transcript.iter().rfind(|message| is_prompt(message));
    let current = run.filter(|_| latest.is_some_and(|message| says(message)));
    let queued = || session.queue.iter().find(|queued| says(&queued.message));
    // mutant: frontend-a-repeat-runs-again
    current.map(|run| run.id).or_else(|| queued().map(|queued| queued.run))
}

/// Where a request that names no session belongs.
pub(super) enum Belongs {
    /// To a run that is under way, whose client has gone.
    Again(Arc<Session>, RunId),
    /// To a session that is yet to be opened, or in which nothing was said yet.
    New(SessionId),
}

/// Looks for a run that the same caller began with the same words, that nobody listens to, and whose reply
/// was not delivered to its end.
pub(super) async fn find(
    room: &DoorContext<Frontend>,
    caller: &Caller,
    asked: &RunAsked,
    agent_type: &str,
) -> Reply<(Belongs, Connection)> {
    let (app, attached) = (&room.app, &room.wire.attached);
    let key = key(caller, asked, agent_type).to_string();
    // The newest note wins; of many at once, each round one gets through.
    for _ in 0..ALIKE_MAX {
        let note = app.engine.read_note(&note_namespace(), &key).await?;
        let mut known = note.as_ref().map(|note| sessions(&note.value)).unwrap_or_default();
        for id in known.iter().rev().copied() {
            let session = match app.engine.session(caller, id).await {
                Ok(session) => Some(session),
                Err(Error::Refused(Refusal::NotFound { .. })) => None,
                Err(error) => return Err(error.into()),
            };
            let said = session
                .as_ref()
                .filter(|session| !session.transcript.is_empty() || !session.queue.is_empty());
            let belongs = match said {
                Some(session) => match under_way(session, asked) {
                    Some(run) => Belongs::Again(session.clone(), run),
                    None => continue,
                },
                // The process died before anything was said.
                None => Belongs::New(id),
            };
            // mutant: frontend-a-second-tab-shares
            let Some(connection) = attached.enter_after(id, GONE_WITHIN).await else { continue };
            // Looked at after the other has left: what it was sent is known by then.
            if let Belongs::Again(session, run) = &belongs
                && was_delivered(room, session, *run).await?
            {
                continue;
            }
            return Ok((belongs, connection));
        }
        let id = app.engine.new_session_id();
        known.push(id);
        known.drain(..known.len().saturating_sub(ALIKE_MAX));
        // Before it is known: whoever finds it finds somebody there.
        let connection = attached.enter(id);
        if remember(app, key.clone(), note.as_ref(), &known).await? {
            return Ok((Belongs::New(id), connection));
        }
    }
    let id = app.engine.new_session_id();
    Ok((Belongs::New(id), attached.enter(id)))
}

/// Whether a client has the pause of this run. Its next request in the same words begins a new
/// conversation: the client's library asks again only for what it did not get.
async fn was_delivered(room: &DoorContext<Frontend>, session: &Session, run: RunId) -> Reply<bool> {
    let mark = room.door.delivered.latest(&room.app, room.door.name, session.id).await?;
    let run = run.to_string();
    Ok(mark.is_some_and(|mark| mark.split(' ').any(|delivered| delivered == run)))
}

/// The mark of a reply that ended at a pause.
pub(super) fn delivered_runs(runs: &[Option<RunId>]) -> String {
    let runs: Vec<String> = runs.iter().flatten().map(ToString::to_string).collect();
    runs.join(" ")
}

async fn remember(app: &App, key: String, note: Option<&Note>, known: &[SessionId]) -> Reply<bool> {
    let put = PutNote {
        shelf: note_namespace(),
        key,
        value: Some(repeats_note(known)),
        expected: Some(note.map_or(0, |note| note.version)),
        due_at: None,
        forget_at: Some(app.engine.now().plus_ms(REPEATS_KEPT_MS)),
    };
    Ok(app.engine.write_note(put).await?)
}

pub(super) fn repeats_note(known: &[SessionId]) -> Vec<u8> {
    let ids: Vec<String> = known.iter().map(ToString::to_string).collect();
    ids.join(" ").into_bytes()
}

pub(super) fn sessions(note: &[u8]) -> Vec<SessionId> {
    let text = std::str::from_utf8(note).unwrap_or_default();
    text.split(' ').filter_map(|id| id.parse().ok()).collect()
}

fn note_namespace() -> String {
    format!("{NAME}.runs")
}

fn key(caller: &Caller, asked: &RunAsked, agent_type: &str) -> Digest {
    let framed = Framed::new("holdpoint.frontend_run.v1")
        .field("caller", caller.stable_name().as_bytes())
        .field("agent_type", agent_type.as_bytes());
    let framed =
        asked.texts.iter().fold(framed, |framed, text| framed.field("text", text.as_bytes()));
    let named = |framed: Framed, file: &FileId| framed.field("file", file.to_string().as_bytes());
    asked.files.iter().fold(framed, named).finish()
}

/// The position before the first of these holds was decided.
pub(super) async fn before(app: &App, session: SessionId, holds: &[HoldId]) -> Reply<Option<u64>> {
    let mut after = 0;
    loop {
        let entries = app.engine.read_log_after(session, after, PAGE).await?;
        for entry in &entries {
            for (offset, event) in entry.events.iter().enumerate() {
                let position = entry.first + offset as u64;
                if let Some(HoldEvent::Decided { hold, .. }) = event.hold_event()
                    && holds.contains(hold)
                {
                    return Ok(Some(position - 1));
                }
            }
            after = entry.first + entry.events.len() as u64 - 1;
        }
        if entries.len() < PAGE {
            return Ok(None);
        }
    }
}
