//! The one home of background tasks: each is tracked, so that closing can wait for it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::Engine;

impl Engine {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // By its address: allocators are slow with what is large and aligned, as tasks are.
        self.0.tasks.spawn(Box::pin(task));
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

    /// Work that goes on to its end even if whoever waits for it hangs up.
    pub(crate) fn unstoppable<F>(&self, work: F) -> Unstoppable<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let tasks = &self.0.tasks;
        Unstoppable { work: Some(Box::pin(work)), tasks: tasks.clone(), counted: tasks.token() }
    }
}

/// Runs in its caller's task, which spares the way to another and back; only a caller who hangs up
/// makes it a task of its own.
pub(crate) struct Unstoppable<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    work: Option<Pin<Box<F>>>,
    tasks: TaskTracker,
    /// Closing waits for this one, too.
    counted: TaskTrackerToken,
}

impl<F> Future for Unstoppable<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<F> Drop for Unstoppable<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        let (Some(work), Ok(_)) = (self.work.take(), Handle::try_current()) else { return };
        let counted = self.counted.clone();
        self.tasks.spawn(async move {
            drop(work.await);
            drop(counted);
        });
    }
}
