//! What an earlier process had in hand when it ended. Nobody else has it now, so nobody waits until its
//! lease is over: people already see the card, and press it.

use std::collections::HashMap;

use domain::id::NodeId;
use domain::time::Timestamp;
use engine::Error;
use ports::store::{OutboxItem, OutboxKind};

use crate::item::Next;
use crate::limits::PAGE;
use crate::prompt_record::PromptRecord;
use crate::saying::TextRecord;
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Before anything else is sent. What only waited for its platform is tried at once, too: a restart is
    /// a new attempt. What another node has in hand that is alive stays there.
    pub(crate) async fn take_over(&self, wire: &ChannelRuntime) -> Result<(), Error> {
        let now = self.0.clock.now();
        // mutant: leases-outlive-their-process
        let until = self.lease(wire, now).until;
        let mut gone: HashMap<NodeId, bool> = HashMap::new();
        for item in self.ready_by(wire, until).await? {
            if item.ready_at() <= now {
                continue;
            }
            if let Some(lease) = item.lease.filter(|lease| lease.until > now) {
                let is_gone = match gone.get(&lease.owner) {
                    Some(known) => *known,
                    None => {
                        let ours = lease.owner == self.0.engine.node();
                        ours || self.store().is_gone(lease.owner).await?
                    }
                };
                gone.insert(lease.owner, is_gone);
                if !is_gone {
                    continue;
                }
            }
            let at_once =
                |due_at: Option<Timestamp>| due_at.filter(|at| *at > now).map(|_| Next::due(now));
            match item.kind {
                OutboxKind::Text => drop(
                    self.update(wire, &item.key, |_: &mut TextRecord, due| at_once(due)).await?,
                ),
                _ => drop(
                    self.update(wire, &item.key, |_: &mut PromptRecord, due| at_once(due)).await?,
                ),
            }
        }
        Ok(())
    }

    /// Those that were in hand are ready last, behind all that waits.
    async fn ready_by(
        &self,
        wire: &ChannelRuntime,
        until: Timestamp,
    ) -> Result<Vec<OutboxItem>, Error> {
        let mut page = PAGE;
        loop {
            let items = self.store().outbox_items(&wire.shelves.queue, until, page).await?;
            if items.len() < page {
                return Ok(items);
            }
            page *= 4;
        }
    }
}
