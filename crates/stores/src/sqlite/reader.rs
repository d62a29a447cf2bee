//! Threads that read, each on a connection of its own. Readers never wait for the writer, nor it
//! for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ports::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::DatabaseSource;
use super::error::{Failure, error_text};
use super::queue::{Dequeued, Queue};

/// Enough that one long list does not hold up everybody, few enough to stay small in memory.
pub(super) const READERS: usize = 3;
/// Reads that may wait in the queue; the next caller waits until there is room.
const READS_MAX: usize = 256;

/// A read, or the reason why there is nothing to read from. It says whether the connection is
/// still good.
type ReadJob = Box<dyn FnOnce(Result<&Connection, String>) -> bool + Send>;

#[derive(Clone)]
pub(super) struct Readers(Arc<Queue<ReadJob>>);

impl Readers {
    pub(super) fn new() -> Readers {
        Readers(Arc::new(Queue::new(READS_MAX)))
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: ReadJob = Box::new(move |connection| {
            let (result, is_good) = match connection.map(read) {
                Ok(Ok(found)) => (Ok(found), true),
                // What a row says is not the connection's fault.
                Ok(Err(failure @ Failure::Broken(_))) => (Err(failure.into()), true),
                Ok(Err(failure)) => (Err(failure.into()), false),
                Err(why) => (Err(StoreError::Unavailable(why)), false),
            };
            // A caller who has gone needs no answer.
            drop(reply.send(result));
            is_good
        });
        if self.0.push(job).await.is_err() {
            return Err(StoreError::Unavailable("it is shutting down".into()));
        }
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::Unavailable("the read was given up".into())))
    }

    /// One thread's work.
    pub(super) fn run(&self, source: &DatabaseSource) {
        let mut open: Option<Connection> = None;
        while let Dequeued::Items(jobs) = self.0.take(1, None) {
            for job in jobs {
                if open.is_none() {
                    open = source.reader().ok();
                }
                let connection = open.as_ref().ok_or_else(|| {
                    source
                        .reader()
                        .err()
                        .map_or_else(|| "try again".into(), |error| error_text(&error))
                });
                // One bad row must not take a reader away from everybody.
                let is_good = catch_unwind(AssertUnwindSafe(|| job(connection))).unwrap_or(false);
                if !is_good {
                    open = None;
                }
            }
        }
    }

    pub(super) fn stop(&self) {
        self.0.abandon();
    }
}
