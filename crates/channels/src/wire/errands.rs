//! Small tasks that go on after the platform has its reply: a refusal for one person's eyes, a form
//! to open. They are lost with the process, so nothing that must happen is one of them.

use std::future::Future;
use std::sync::Mutex;

use ports::unpoisoned::Unpoisoned as _;
use tokio::task::JoinSet;

use crate::limits::ERRANDS_MAX;

#[derive(Debug, Default)]
pub(crate) struct Errands(Mutex<JoinSet<()>>);

impl Errands {
    pub(crate) fn run(&self, errand: impl Future<Output = ()> + Send + 'static) {
        let mut errands = self.0.lock().unpoisoned();
        while errands.try_join_next().is_some() {}
        if errands.len() >= ERRANDS_MAX {
            tracing::warn!("a platform is slow: a private reply in a chat was left out");
            return;
        }
        errands.spawn(errand);
    }
}
