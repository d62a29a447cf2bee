//! Which replies reached their client to the end. A client that has the whole of a reply means
//! something new by what it sends next; one that lost a part of it wants that part.
//!
//! A mark counts from the moment in which the connection took the last byte, so a client that has seen the
//! end of a reply finds it. It is on disk a moment later, and then survives a restart.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use domain::id::SessionId;
use engine::Error;
use ports::store::PutNote;
use ports::unpoisoned::Unpoisoned as _;

use super::limits::DELIVERED_KEPT_MS;
use crate::app::App;

/// The marks of one door.
#[derive(Clone, Default)]
pub(crate) struct Delivered(Arc<Mutex<HashMap<SessionId, Arc<str>>>>);

/// What a reply amounts to once it has been delivered; set when its last item is written.
#[derive(Clone, Default)]
pub(crate) struct EndMark(Arc<OnceLock<String>>);

impl EndMark {
    pub(crate) fn set(&self, mark: String) {
        // A reply has one end.
        let _ = self.0.set(mark);
    }
}

impl Delivered {
    /// To be called when a reply was taken to its end. One that broke off has no mark.
    pub(crate) fn record(&self, app: &App, door: &str, session: SessionId, end: &EndMark) {
        let Some(mark) = end.0.get() else { return };
        let mark: Arc<str> = mark.as_str().into();
        self.unwritten().insert(session, mark.clone());
        let (delivered, engine) = (self.clone(), app.engine.clone());
        let put = PutNote {
            shelf: note_namespace(door),
            key: session.to_string(),
            value: Some(mark.as_bytes().to_vec()),
            expected: None,
            due_at: None,
            forget_at: Some(app.engine.now().plus_ms(DELIVERED_KEPT_MS)),
        };
        app.tasks.spawn(async move {
            if let Err(error) = engine.write_note(put).await {
                // The mark stays in memory: only a restart forgets it, and then a reply comes twice.
                tracing::debug!(%error, "the mark of a delivered reply was not written");
                return;
            }
            let mut unwritten = delivered.unwritten();
            if unwritten.get(&session).is_some_and(|latest| Arc::ptr_eq(latest, &mark)) {
                unwritten.remove(&session);
            }
        });
    }

    /// The mark of the latest reply of a session that was delivered to its end.
    pub(crate) async fn latest(
        &self,
        app: &App,
        door: &str,
        session: SessionId,
    ) -> Result<Option<String>, Error> {
        if let Some(mark) = self.unwritten().get(&session) {
            return Ok(Some(mark.to_string()));
        }
        let note = app.engine.read_note(&note_namespace(door), &session.to_string()).await?;
        Ok(note.and_then(|note| String::from_utf8(note.value).ok()))
    }

    fn unwritten(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<str>>> {
        self.0.lock().unpoisoned()
    }
}

fn note_namespace(door: &str) -> String {
    format!("{door}.delivered")
}
