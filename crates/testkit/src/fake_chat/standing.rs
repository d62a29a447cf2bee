//! Trouble that lasts: every request of a kind goes wrong until it is lifted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::front::Fault;

#[derive(Default)]
pub struct Standing {
    faults: Mutex<Vec<(String, Fault)>>,
    lifted: Notify,
}

impl Standing {
    /// For every request whose path contains this.
    pub fn set(&self, path: &str, fault: Fault) {
        self.faults().push((path.to_owned(), fault));
    }

    pub fn lift(&self) {
        self.faults().clear();
        self.lifted.notify_waiters();
    }

    pub(crate) fn meets(&self, path: &str) -> Option<Fault> {
        let faults = self.faults();
        let meant = faults.iter().find(|(part, _)| path.contains(part.as_str()));
        meant.map(|(_, fault)| fault.clone())
    }

    pub(crate) async fn until_lifted(&self) {
        loop {
            let lifted = self.lifted.notified();
            if self.faults().is_empty() {
                return;
            }
            lifted.await;
        }
    }

    fn faults(&self) -> MutexGuard<'_, Vec<(String, Fault)>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
