//! What an earlier process had in hand when it ended. Nobody else has it now, so nobody waits until its
//! lease is over: people already see the card, and press it.

use std::collections::HashMap;
use std::sync::Arc;

use domain::id::NodeId;
use domain::time::Timestamp;
use engine::Error;
use ports::store::{OutboxItem, OutboxKind};
use tokio::sync::watch;

use crate::item::Next;
use crate::limits::{PAGE, STORE_RETRY};
use crate::prompt_record::PromptRecord;
use crate::saying::TextRecord;
use crate::{ChannelRuntime, ChatService};

/// When something is taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TakeoverTime {
    /// This process begins, and has nothing in hand.
    Start,
    Running,
}

impl ChatService {
    /// Before anything else is sent. What only waited for its platform is tried at once, too: a restart is
    /// a new attempt. What another node has in hand that is alive stays there.
    pub(crate) async fn take_over(&self, runtime: &ChannelRuntime) -> Result<(), Error> {
        self.take_over_items(runtime, TakeoverTime::Start).await
    }

    /// The same for nodes that end while this one works: until it closes.
    pub(crate) async fn serve_takeovers(
        &self,
        runtime: &Arc<ChannelRuntime>,
        mut takeovers: watch::Receiver<u64>,
    ) {
        loop {
            tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return,
                changed = takeovers.changed() => if changed.is_err() { return },
            }
            while let Err(error) = self.take_over_items(runtime, TakeoverTime::Running).await {
                tracing::warn!(channel = %runtime.name, %error, "what a node that is gone was sending cannot be read");
                tokio::select! {
                    biased;
                    () = self.0.closing.cancelled() => return,
                    () = self.0.clock.sleep(STORE_RETRY) => {}
                }
            }
            runtime.wake();
        }
    }

    async fn take_over_items(
        &self,
        runtime: &ChannelRuntime,
        time: TakeoverTime,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        // mutant: leases-outlive-their-process
        let until = self.lease(runtime, now).until;
        let mut gone: HashMap<NodeId, bool> = HashMap::new();
        // Items of this process are being sent, unless it has only just begun.
        gone.insert(self.0.engine.node(), time == TakeoverTime::Start);
        for item in self.ready_by(runtime, until).await? {
            if item.ready_at() <= now {
                continue;
            }
            if let Some(lease) = item.lease.filter(|lease| lease.until > now) {
                let is_gone = match gone.get(&lease.owner) {
                    Some(known) => *known,
                    None => self.0.records.is_gone(lease.owner).await?,
                };
                gone.insert(lease.owner, is_gone);
                if !is_gone {
                    continue;
                }
            } else if time == TakeoverTime::Running {
                continue;
            }
            let at_once =
                |due_at: Option<Timestamp>| due_at.filter(|at| *at > now).map(|_| Next::due(now));
            match item.kind {
                OutboxKind::Text => drop(
                    self.update(runtime, &item.key, |_: &mut TextRecord, due| at_once(due)).await?,
                ),
                _ => drop(
                    self.update(runtime, &item.key, |_: &mut PromptRecord, due| at_once(due))
                        .await?,
                ),
            }
        }
        Ok(())
    }

    /// Those that were in hand are ready last, behind all that waits.
    async fn ready_by(
        &self,
        runtime: &ChannelRuntime,
        until: Timestamp,
    ) -> Result<Vec<OutboxItem>, Error> {
        let mut page = PAGE;
        loop {
            let items = self.0.records.outbox_items(&runtime.shelves.queue, until, page).await?;
            if items.len() < page {
                return Ok(items);
            }
            page *= 4;
        }
    }
}
