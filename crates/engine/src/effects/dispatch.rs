//! Starts the pending work of a session (`Session::pending_work_iter`) that this node took on and is not doing yet.

use std::sync::Mutex;

use domain::id::{CallId, SessionId};
use domain::id_map::IdMap;
use domain::session::{PendingWork, Session};
use ports::durable::Durable;
use ports::unpoisoned::Unpoisoned as _;
use tokio_util::sync::CancellationToken;

use crate::Engine;

/// What this process is doing right now, so that nothing is started twice and all can be stopped.
#[derive(Default)]
pub(crate) struct AtWork(Mutex<IdMap<Work, CancellationToken>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    Think(SessionId),
    Execute(CallId, u32),
    /// Finds out what became of a call whose executor is gone.
    Recover(CallId),
    /// Changed tools look at calls that are to be asked about again.
    Recheck(SessionId),
}

impl AtWork {
    /// Takes the work on; `None` if it is being done already.
    pub(crate) fn take(&self, work: Work) -> Option<CancellationToken> {
        let mut doing = self.doing();
        if doing.contains_key(&work) {
            return None;
        }
        let stop = CancellationToken::new();
        doing.insert(work, stop.clone());
        Some(stop)
    }

    pub(crate) fn done(&self, work: Work) {
        self.doing().remove(&work);
    }

    /// Whether it was being done.
    pub(crate) fn stop(&self, work: Work) -> bool {
        let doing = self.doing();
        doing.get(&work).inspect(|stop| stop.cancel()).is_some()
    }

    pub(crate) fn stop_all(&self) {
        for stop in self.doing().values() {
            stop.cancel();
        }
    }

    fn doing(&self) -> std::sync::MutexGuard<'_, IdMap<Work, CancellationToken>> {
        self.0.lock().unpoisoned()
    }
}

impl Engine {
    /// Starts the pending work of this session that this node took on. Called after each commit of a session, and
    /// when its newest state was read again; a second call starts nothing twice.
    pub(crate) fn dispatch(&self, session: &Durable<Session>) {
        // mutant: a-call-left-alone-at-the-end
        let is_closing = self.0.closing.has_begun();
        let mut thinks = false;
        for owed in session.pending_work_iter() {
            match owed {
                // Also when the engine began to close while the start of the call was on its way to
                // disk: left alone, a call that nobody touched would be in doubt.
                PendingWork::Execute { call, node } if node == self.0.node => {
                    self.start_execute(session, call)
                }
                PendingWork::Stop { call, node } if node == self.0.node => {
                    self.stop_execute(session, call)
                }
                PendingWork::Think => {
                    thinks = true;
                    if !is_closing {
                        self.start_think(session.id);
                    }
                }
                // A call may wait for a thaw, or for its tool to look at it again.
                PendingWork::Waits if !is_closing => self.start_rechecks(session.state()),
                // Its executor is gone, and what became of it is being found out.
                // mutant: a-cancel-waits-for-the-look begins
                PendingWork::Stop { call, .. } => {
                    self.0.at_work.stop(Work::Recover(call));
                }
                // mutant: a-cancel-waits-for-the-look ends
                // Another node's work, or the next start's.
                PendingWork::Execute { .. } | PendingWork::Waits => {}
            }
        }
        if !thinks {
            self.0.at_work.stop(Work::Think(session.id));
        }
    }
}
