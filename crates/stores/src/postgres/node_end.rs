//! Why a node may do nothing more on its database, for good. What it has in memory is of no use then: the process
//! ends, and a new one begins with what is in the database.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PgNodeEnd {
    #[error(
        "the other nodes took this one for gone, as it was not heard of for too long: restart it"
    )]
    Fenced,
    #[error(
        "the database does not have entry {seq} of the journal, which this node has seen there: it was \
         restored, or a standby without all of the log took over, and what was acknowledged last may be \
         lost; restart this node, and compare the log with an earlier export"
    )]
    TailLost { seq: u64 },
}

/// The end of this node, once there is one. The first reason stays.
#[derive(Clone)]
pub(super) struct NodeEnd(Arc<watch::Sender<Option<PgNodeEnd>>>);

impl NodeEnd {
    pub(super) fn new() -> NodeEnd {
        NodeEnd(Arc::new(watch::Sender::new(None)))
    }

    pub(super) fn end(&self, why: &PgNodeEnd) {
        let is_first = self.0.send_if_modified(|end| {
            let is_first = end.is_none();
            end.get_or_insert_with(|| why.clone());
            is_first
        });
        if is_first {
            tracing::error!(%why, "this node may do nothing more on its database");
        }
    }

    pub(super) fn check(&self) -> Result<(), PgNodeEnd> {
        self.0.borrow().clone().map_or(Ok(()), Err)
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Returns when there is one.
    pub(super) async fn wait(&self) -> PgNodeEnd {
        let mut end = self.0.subscribe();
        match end.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(PgNodeEnd::Fenced),
            // Never: this holds the sender.
            Err(_) => std::future::pending().await,
        }
    }
}
