//! What doors read and write beside commands: the log of a session, the audit log, small notes of their own,
//! and what is counted of the store. A door never has the store itself, so nothing is written past a commit.

use std::sync::Arc;

use domain::hold::{Hold, HoldStateName};
use domain::id::{HoldId, SessionId, StreamId};
use ports::store::{AuditEntry, Entry, HoldQuery, Note, OutboxKind, PutNote, Viewer};

use crate::accounts::Caller;
use crate::{Engine, Error};

impl Engine {
    /// A note that a door keeps on a shelf of its own.
    pub async fn read_note(&self, shelf: &str, key: &str) -> Result<Option<Note>, Error> {
        Ok(self.0.store.note(shelf, key).await?)
    }

    /// Whether it was written: not if the note is no longer what `put` expects.
    pub async fn write_note(&self, put: PutNote) -> Result<bool, Error> {
        Ok(self.0.store.put_notes(vec![put]).await?)
    }

    /// The whole log of a session that the caller of this was allowed to see.
    pub async fn read_log(&self, id: SessionId) -> Result<Vec<Entry>, Error> {
        Ok(self.0.store.load(StreamId::Session(id)).await?)
    }

    /// Commits of such a session with events after a position, oldest first. The first may begin before it.
    pub async fn read_log_after(
        &self,
        id: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        Ok(self.0.store.entries(Some(StreamId::Session(id)), after, limit).await?)
    }

    /// A hold as it is on disk, for whoever was told of it already.
    pub async fn read_hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, Error> {
        Ok(self.0.store.hold(id).await?)
    }

    /// Every hold that waits, a page at a time, for those who count them.
    pub async fn read_pending_holds(
        &self,
        after: Option<HoldId>,
        limit: usize,
    ) -> Result<Vec<Arc<Hold>>, Error> {
        let query = HoldQuery {
            state: Some(HoldStateName::Pending),
            after,
            ..HoldQuery::all(Viewer::Everything, limit)
        };
        Ok(self.0.store.holds(query).await?)
    }

    /// How many items of each kind wait to be sent.
    pub async fn read_outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, Error> {
        Ok(self.0.store.outbox_backlog().await?)
    }

    /// What the store takes up, where it can say so.
    pub fn store_size_bytes(&self) -> Option<u64> {
        self.0.store.size_bytes()
    }

    /// Entries of the audit log after a sequence number, for admins.
    pub async fn read_audit(
        &self,
        caller: &Caller,
        after: u64,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, Error> {
        caller.must_be_admin()?;
        Ok(self.0.store.audit(after, limit).await?)
    }

    /// How many entries the audit log has, for admins. They are numbered from 1 without a gap.
    pub async fn count_audit(&self, caller: &Caller) -> Result<u64, Error> {
        caller.must_be_admin()?;
        // Every entry has at least one event, so there are no more of them.
        let (mut low, (mut high, _)) = (0, self.0.store.last().await?);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.0.store.audit(middle, 1).await?.is_empty() {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }

    /// All signed checkpoints of the audit log, for admins.
    pub async fn read_checkpoints(&self, caller: &Caller) -> Result<Vec<Vec<u8>>, Error> {
        caller.must_be_admin()?;
        Ok(self.0.store.checkpoints(0).await?)
    }

    /// A checkpoint that covers the audit log as it is now, for admins.
    pub async fn sign_checkpoint(&self, caller: &Caller) -> Result<Vec<u8>, Error> {
        caller.must_be_admin()?;
        Ok(self.0.store.checkpoint_now(self.now()).await?)
    }

    /// The public key that checkpoints are signed with.
    pub fn audit_key(&self) -> Vec<u8> {
        self.0.store.audit_key()
    }
}
