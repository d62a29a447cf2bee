//! What was shown on a wire that carries no digest: the one recorded when the prompt went out counts.
//!
//! A call that was never edited has had one digest only, so nothing is written for it: the usual pause
//! costs nothing.

use domain::digest::Digest;
use domain::hold::Hold;
use domain::refusal::Refusal;
use ports::store::PutNote;

use super::limits::SHOWN_KEPT_MS;
use crate::app::App;
use crate::problem::Reply;

/// To be called before a prompt is sent out.
pub(crate) async fn record(app: &App, door: &str, hold: &Hold) -> Reply<()> {
    if is_first(hold) || !hold.is_pending() {
        return Ok(());
    }
    let put = PutNote {
        shelf: shelf(door),
        key: hold.id.to_string(),
        value: Some(hold.digest().to_string().into_bytes()),
        expected: None,
        due_at: None,
        forget_at: Some(app.engine.now().plus_ms(SHOWN_KEPT_MS)),
    };
    app.engine.store().put_notes(vec![put]).await?;
    Ok(())
}

/// The digest that an answer over this wire stands for. Whoever saw an older version than the one that
/// is asked about now is told so.
pub(crate) async fn digest(app: &App, door: &str, hold: &Hold) -> Reply<Digest> {
    // What is decided cannot be answered in error: whoever tries is told what stands.
    if is_first(hold) || !hold.is_pending() {
        return Ok(hold.digest());
    }
    let note = app.engine.store().note(&shelf(door), &hold.id.to_string()).await?;
    let shown = note.and_then(|note| String::from_utf8(note.value).ok()?.parse().ok());
    match shown {
        Some(shown) if shown == hold.digest() => Ok(shown),
        _ => Err(Refusal::VersionConflict { hold: Box::new(hold.clone()) }.into()),
    }
}

/// Whether what is asked is what was asked at first.
fn is_first(hold: &Hold) -> bool {
    hold.call.as_ref().is_none_or(|call| call.revision == 1)
}

fn shelf(door: &str) -> String {
    format!("{door}.shown")
}
