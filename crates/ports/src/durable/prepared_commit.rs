//! A commit on its way to the store, with the state that it will have made durable.

use std::sync::Arc;

use domain::decided::Decided;
use domain::id::CommitId;
use domain::person::Actor;

use super::{Durable, Replay};
use crate::store::{
    Commit, CommitError, Committed, Entry, KeptReply, OutboxItem, Store, StreamRows, WriteBefore,
};

/// A commit with the state that it leads to, as long as the store does not have it. That state follows from a durable
/// one by the commit's own events: it was worked out from them here, or by the decision that made them.
#[derive(Debug)]
pub struct PreparedCommit<S> {
    commit: Commit,
    next: Durable<S>,
}

/// What a commit says beside its decision.
#[derive(Debug)]
pub struct CommitParts {
    /// As [`Commit::id`].
    pub id: CommitId,
    /// As [`Commit::rows`].
    pub rows: StreamRows,
    /// As [`Commit::global_version`].
    pub global_version: Option<u64>,
    /// As [`Commit::actor`].
    pub actor: Actor,
    /// As [`Commit::reply`].
    pub reply: Option<KeptReply>,
    /// As [`Commit::outbox`].
    pub outbox: Vec<OutboxItem>,
    /// As [`Commit::write_before`].
    pub write_before: Option<WriteBefore>,
}

impl<S: Replay> PreparedCommit<S> {
    /// The commit of a decision on `before`. One that was made on any other state, an equal one included, is refused:
    /// nobody knows where that state came from.
    pub fn decided(
        before: Option<&Durable<S>>,
        decided: Decided<S, S::Event>,
        parts: CommitParts,
    ) -> Result<PreparedCommit<S>, CommitError> {
        let is_same = match (before, decided.before()) {
            (Some(before), Some(basis)) => Arc::ptr_eq(before.state(), basis),
            (None, None) => true,
            _ => false,
        };
        let expected = before.map_or(0, |before| before.version());
        // mutant: a-decision-on-any-state
        if !is_same {
            return Err(CommitError::Conflict { actual: expected });
        }
        let at = decided.at();
        let CommitParts { id, rows, global_version, actor, reply, outbox, write_before } = parts;
        let (events, next) = decided.into_parts();
        let events = Arc::new(events.into_iter().map(S::journal_event).collect());
        let commit = Commit {
            id,
            rows,
            expected,
            global_version,
            events,
            at,
            actor,
            reply,
            outbox,
            write_before,
        };
        debug_assert_eq!(
            S::replay(commit.stream(), before.map(|before| &**before), &[commit.entry()]).ok(),
            Some(Some(S::clone(&next))),
            "the events lead to another state than the decision says",
        );
        Ok(PreparedCommit { commit, next: Durable(next) })
    }

    /// A commit that somebody put together by hand: its events are applied to `before`.
    pub fn replayed(
        before: Option<&Durable<S>>,
        commit: Commit,
    ) -> Result<PreparedCommit<S>, CommitError> {
        let actual = before.map_or(0, |before| before.version());
        if actual != commit.expected {
            return Err(CommitError::Conflict { actual });
        }
        let entry = commit.entry();
        match S::replay(entry.stream, before.map(|before| &**before), &[entry])? {
            Some(next) => Ok(PreparedCommit { commit, next: Durable(next.into()) }),
            None => Err(CommitError::Conflict { actual }),
        }
    }

    /// The commit as it will be read back, except for its global position.
    pub fn entry(&self) -> Entry {
        self.commit.entry()
    }

    /// Queues it. `done` hears of the new state when the store has it; for when and how it is called see
    /// [`Store::enqueue`].
    pub fn enqueue(
        self,
        store: &dyn Store,
        done: impl FnOnce(Result<(Durable<S>, Committed), CommitError>) + Send + 'static,
    ) {
        let PreparedCommit { commit, next } = self;
        // mutant: effect-before-intent
        store.enqueue(commit, Box::new(move |fate| done(fate.map(|committed| (next, committed)))));
    }
}
