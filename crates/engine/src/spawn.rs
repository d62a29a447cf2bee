//! The one home of background tasks: each is tracked, so that closing can wait for it.

use std::future::Future;

use crate::Engine;

impl Engine {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }
}
