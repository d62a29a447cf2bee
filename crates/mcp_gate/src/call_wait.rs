//! How long one call waits for people, and under which name it is known meanwhile.

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use domain::id::HoldId;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::forms::FormRung;
use crate::tasks::TaskId;

/// How long a call waits, and who is told that it does.
pub(crate) struct CallWait {
    /// `None`: as long as people take.
    pub(crate) limit: Option<Duration>,
    /// When people were first asked: an upstream that takes its time to start takes none of theirs.
    pub(crate) asked_at: OnceLock<Instant>,
    pub(crate) announce: Mutex<Option<oneshot::Sender<AnnouncedHold>>>,
    pub(crate) form: FormRung,
    /// The task that the call is, and the hold under which it is kept.
    pub(crate) task: Mutex<Option<(TaskId, HoldId)>>,
}

/// The first question of a call.
pub(crate) struct AnnouncedHold {
    pub(crate) id: HoldId,
    /// Whether the call asked it itself.
    pub(crate) is_new: bool,
}

impl CallWait {
    pub(crate) fn new(
        limit: Option<Duration>,
        announce: Option<oneshot::Sender<AnnouncedHold>>,
        form: FormRung,
    ) -> CallWait {
        let (asked_at, announce) = (OnceLock::new(), Mutex::new(announce));
        CallWait { limit, asked_at, announce, form, task: Mutex::default() }
    }

    /// Of a task that an earlier process began: as long as people take, and nobody is told.
    pub(crate) fn of_task(id: TaskId, hold: HoldId) -> CallWait {
        let wait = CallWait::new(None, None, FormRung::None);
        wait.note_task(id, hold);
        wait
    }

    pub(crate) fn note_task(&self, id: TaskId, hold: HoldId) {
        *self.task.lock().unpoisoned() = Some((id, hold));
    }
}
