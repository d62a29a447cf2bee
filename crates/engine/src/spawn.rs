//! The one home of background tasks: each is tracked, so that closing can wait for it.

use std::future::Future;

use crate::Engine;

impl Engine {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // By its address: allocators are slow with what is large and aligned, as tasks are. On the engine's
        // runtime: what follows from a commit may run on a thread of the store.
        self.0.tasks.spawn_on(Box::pin(task), &self.0.runtime);
    }

    /// Work that is dropped when the engine closes.
    pub fn spawn_housekeeping(&self, task: impl Future<Output = ()> + Send + 'static) {
        let engine = self.clone();
        self.spawn(async move {
            tokio::select! {
                biased;
                () = engine.0.closing.begins() => {}
                () = task => {}
            }
        });
    }
}
