//! What was shown on a wire that carries no digest: the one recorded when the prompt went out to this
//! person counts. What somebody else was shown says nothing about them.
//!
//! A call that was never edited has had one digest only, so nothing is written for it: the usual pause
//! costs nothing.

use domain::digest::Digest;
use domain::hold::Hold;
use domain::refusal::Refusal;
use engine::{Caller, Error};
use ports::store::PutNote;

use super::limits::SHOWN_KEPT_MS;
use crate::app::App;
use crate::problem::Reply;

/// To be called before a prompt is sent out.
pub(crate) async fn record(app: &App, caller: &Caller, door: &str, hold: &Hold) -> Reply<()> {
    if is_first(hold) || !hold.is_pending() {
        return Ok(());
    }
    let put = PutNote {
        shelf: note_namespace(door),
        key: key(caller, hold),
        value: Some(hold.digest().to_string().into_bytes()),
        expected: None,
        due_at: None,
        forget_at: Some(app.engine.now().plus_ms(SHOWN_KEPT_MS)),
    };
    app.engine.write_note(put).await?;
    Ok(())
}

/// The digest that an answer over this wire stands for. A person who saw an older version than the
/// one that is asked about now is told so.
pub(crate) async fn digest(app: &App, caller: &Caller, door: &str, hold: &Hold) -> Reply<Digest> {
    match seen(app, caller, door, hold).await? {
        Some(seen) => Ok(seen),
        None => Err(Refusal::VersionConflict { hold: Box::new(hold.clone()) }.into()),
    }
}

/// The same; `None` if an older version was shown there, or none.
pub(crate) async fn seen(
    app: &App,
    caller: &Caller,
    door: &str,
    hold: &Hold,
) -> Result<Option<Digest>, Error> {
    // What is decided cannot be answered in error: a late answer is told what stands.
    if is_first(hold) || !hold.is_pending() {
        return Ok(Some(hold.digest()));
    }
    let note = app.engine.read_note(&note_namespace(door), &key(caller, hold)).await?;
    let shown = note.and_then(|note| String::from_utf8(note.value).ok()?.parse().ok());
    // mutant: shown-any-version
    Ok(shown.filter(|shown| *shown == hold.digest()))
}

/// Whether what is asked is what was asked at first.
fn is_first(hold: &Hold) -> bool {
    hold.call().is_none_or(|call| call.revision == 1)
}

fn note_namespace(door: &str) -> String {
    format!("{door}.shown")
}

fn key(caller: &Caller, hold: &Hold) -> String {
    format!("{} {}", hold.id, caller.stable_name())
}
