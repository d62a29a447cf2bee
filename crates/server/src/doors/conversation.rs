//! Which session is meant by what a client calls its conversation. The first who uses a name owns it;
//! for everybody else there is no such conversation. A session's own id names it on every door, so that
//! what was opened on one can go on through another.

use std::sync::Arc;

use domain::hold::{Question, SUPERSEDED};
use domain::id::{MessageId, SessionId};
use domain::refusal::Refusal;
use domain::session::{Home, Session};
use engine::{Caller, NewSession};
use ports::store::PutNote;

use super::limits::PLACE_BYTES_MAX;
use crate::app::App;
use crate::problem::{Problem, Reply};

/// The session of a conversation; `None` before anything was said in it.
pub(crate) async fn find(
    app: &App,
    caller: &Caller,
    door: &str,
    place: &str,
) -> Reply<Option<Arc<Session>>> {
    let Some(note) = app.engine.read_note(&note_namespace(door), sound(place)?).await? else {
        return elsewhere(app, caller, place).await;
    };
    match app.engine.session(caller, owned(&note.value, &caller.stable_name())?).await {
        Ok(session) => Ok(Some(session)),
        // The name was written, but the process ended before the session was opened.
        Err(engine::Error::Refused(Refusal::NotFound { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A session that was opened somewhere else, where the client names its conversation by our own id: what
/// is asked through one door can be answered through any other.
async fn elsewhere(app: &App, caller: &Caller, place: &str) -> Reply<Option<Arc<Session>>> {
    let name = place.rsplit(['/', ':']).next().unwrap_or_default();
    let Ok(id) = name.parse::<SessionId>() else { return Ok(None) };
    by_id(app, caller, id).await.map(Some)
}

/// The same, and a new session if there is none. Of many who come at once, all get the same.
pub(crate) async fn find_or_open(
    app: &App,
    caller: &Caller,
    door: &str,
    place: &str,
    agent: &str,
) -> Reply<Arc<Session>> {
    let (engine, shelf, key) = (&app.engine, note_namespace(door), sound(place)?);
    let id = match engine.read_note(&shelf, key).await? {
        Some(note) => owned(&note.value, &caller.stable_name())?,
        None => {
            if let Some(session) = elsewhere(app, caller, key).await? {
                return Ok(session);
            }
            let id = app.engine.new_session_id();
            let put = PutNote {
                shelf: shelf.clone(),
                key: key.to_owned(),
                value: Some(written_note(id, &caller.stable_name())),
                expected: Some(0),
                due_at: None,
                forget_at: None,
            };
            if engine.write_note(put).await? {
                id
            } else {
                let note = engine.read_note(&shelf, key).await?;
                owned(&note.ok_or_else(gone)?.value, &caller.stable_name())?
            }
        }
    };
    let home = Some(Home { door: door.into(), place: place.to_owned() });
    let new = NewSession {
        agent: agent.to_owned(),
        title: None,
        metadata: serde_json::Value::Object(serde_json::Map::new()),
        home,
    };
    Ok(app.engine.open_once(caller, id, new).await?)
}

/// The same conversation from before one of its messages: what was said from there on is superseded, its
/// open holds are cancelled, and none of it is part of what the model sees. The journal keeps all.
pub(crate) async fn branch(
    app: &App,
    caller: &Caller,
    door: &str,
    place: &str,
    session: &Session,
    before: MessageId,
) -> Reply<Arc<Session>> {
    let (engine, shelf, key) = (&app.engine, note_namespace(door), sound(place)?);
    let note = engine.read_note(&shelf, key).await?;
    let current =
        note.as_ref().map(|note| owned(&note.value, &caller.stable_name())).transpose()?;
    // Another request branched it just now.
    if current.is_some_and(|current| current != session.id) {
        return Err(gone().into());
    }
    // mutant: worlds-edit-keeps-holds
    supersede(app, caller, session).await?;
    let branch = app.engine.open_branch(caller, session.id, before).await?;
    let put = PutNote {
        shelf,
        key: key.to_owned(),
        value: Some(written_note(branch.id, &caller.stable_name())),
        expected: Some(note.map_or(0, |note| note.version)),
        due_at: None,
        forget_at: None,
    };
    match engine.write_note(put).await? {
        true => Ok(branch),
        false => Err(gone().into()),
    }
}

/// Ends everything that a conversation led to. What a crash left unknown stays a question.
async fn supersede(app: &App, caller: &Caller, session: &Session) -> Reply<()> {
    // First the run: in one that goes on, an approved call would begin when its siblings are cancelled.
    stop(app, caller, session, Some(SUPERSEDED)).await?;
    let rest = app.engine.session(caller, session.id).await?;
    let open = rest.open_holds().filter(|hold| hold.question != Question::Settle);
    let mut cancelled = false;
    for hold in open {
        match app.engine.supersede_hold(caller, hold.id).await {
            Ok(_) => cancelled = true,
            // It was decided, or ran out, meanwhile.
            Err(engine::Error::Refused(
                Refusal::AlreadyDecided { .. } | Refusal::Expired { .. },
            )) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A cancelled two-phase hold queues a note for the model: stop the run that it would begin.
    if cancelled {
        let rest = app.engine.session(caller, session.id).await?;
        stop(app, caller, &rest, Some(SUPERSEDED)).await?;
    }
    Ok(())
}

/// Whether a conversation goes on in this session, and not in another branch.
pub(crate) async fn goes_on_in(
    app: &App,
    door: &str,
    place: &str,
    session: SessionId,
) -> Reply<bool> {
    let note = app.engine.read_note(&note_namespace(door), place).await?;
    let named = note.and_then(|note| {
        let text = String::from_utf8(note.value).ok()?;
        text.split(' ').next()?.parse::<SessionId>().ok()
    });
    Ok(named.is_none_or(|named| named == session))
}

/// Ends what is under way and what waits behind it: open holds are cancelled, and every call gets its
/// result. `false`: there was nothing.
pub(crate) async fn stop(
    app: &App,
    caller: &Caller,
    session: &Session,
    why: Option<&str>,
) -> Reply<bool> {
    let under_way = session.run.as_ref().filter(|run| !run.is_over()).map(|run| run.id);
    let waiting = session.queue.iter().filter(|queued| !queued.join).map(|queued| queued.run);
    let mut stopped = false;
    // First what waits: it would begin as soon as the other ends.
    for run in waiting.chain(under_way) {
        match app.engine.cancel_run(caller, run, why.map(str::to_owned)).await {
            Ok(_) => stopped = true,
            // It came to its end meanwhile.
            Err(engine::Error::Refused(Refusal::OutOfTurn { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(stopped)
}

/// A session of the caller's own, wherever it was opened.
async fn by_id(app: &App, caller: &Caller, id: SessionId) -> Reply<Arc<Session>> {
    let session = app.engine.session(caller, id).await?;
    match session.creator.is_same(caller.actor()) {
        true => Ok(session),
        false => Err(Problem::not_found("conversation").into()),
    }
}

fn note_namespace(door: &str) -> String {
    format!("{door}.places")
}

fn sound(place: &str) -> Result<&str, Problem> {
    match place.len() {
        0 => Err(Problem::invalid("id", "a conversation needs a name")),
        1..=PLACE_BYTES_MAX => Ok(place),
        _ => Err(Problem::invalid("id", format!("is longer than {PLACE_BYTES_MAX} bytes"))),
    }
}

/// A note that names a session and whose it is.
pub(super) fn written_note(session: SessionId, owner: &str) -> Vec<u8> {
    format!("{session} {owner}").into_bytes()
}

/// The session that the note names, if it is the caller's own.
pub(super) fn owned(note: &[u8], caller: &str) -> Result<SessionId, Problem> {
    let text = std::str::from_utf8(note).unwrap_or_default();
    let (id, owner) = text.split_once(' ').unwrap_or_default();
    match id.parse() {
        // mutant: ai-sdk-chat-of-anybody
        Ok(id) if owner == caller => Ok(id),
        _ => Err(Problem::not_found("conversation")),
    }
}

fn gone() -> Problem {
    Problem::unavailable("the conversation changed just now; try again", 1)
}
