//! Rows of the read tables that wait to be written. The journal is the truth, and it is on disk with
//! every commit; the tables below it serve lists and lookups, and follow a little later, when many
//! changes of the same row have become one. A list is read after the write-behind is flushed; a lookup looks
//! here, too; a store that is opened after a crash has its tables [caught up](super::catch_up).
//!
//! Clearing all of it at once would make everybody wait. So what waits is in two parts: one takes in
//! what is new, while the other is written away, some of it with every transaction.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use domain::hold::Hold;
use domain::id::{HoldId, RunId, SessionId, StreamId};
use ports::store::SessionRow;
use ports::unpoisoned::Unpoisoned as _;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::commit_index::CommitPosition;
use super::rows::{HoldRow, RowKey, Rows};

/// Rows after which what waits begins to be written away. It bounds memory, and what has to be caught
/// up with after a crash.
const ROWS_MAX: usize = 2_048;
/// Events that the tables may be behind, for the same reason: few rows may change often.
const BEHIND_MAX: u64 = 16_384;
/// Rows that are written away with one transaction, at least.
const AT_ONCE: usize = 96;
/// And for each commit in it: more than it usually brings, so that they leave faster than they come.
const FOR_EACH: usize = 5;
/// Rows after which everybody has to wait after all, because commits brought unusually many.
const OVERFLOW: usize = 4 * ROWS_MAX;

#[derive(Default)]
pub(super) struct WriteBehind(RwLock<PendingRows>);

#[derive(Default)]
struct PendingRows {
    young: Rows,
    old: Old,
    /// Where the tables are.
    tables_at: u64,
    /// Where the journal is as far as anybody was told. A commit whose fate is unknown may be behind it.
    known_to: u64,
    /// What a transaction of unknown fate would have changed.
    doubtful: Rows,
}

/// What the table does not say of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Newest {
    /// Of its commits, oldest first. Perhaps the table has some of these as well.
    pub(super) positions: Vec<CommitPosition>,
    /// After this position there may be more, which nobody was told of.
    pub(super) known_to: u64,
}

/// On its way to the tables. All of it stays to be looked at until all of it is written.
#[derive(Default)]
struct Old {
    rows: Rows,
    keys: Vec<RowKey>,
    written: usize,
    /// Where the tables are when it is.
    up_to: u64,
}

/// What one transaction writes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlushAmount {
    Nothing,
    /// So many rows.
    Some(usize),
    All,
}

impl WriteBehind {
    pub(super) fn is_empty(&self) -> bool {
        let pending = self.read();
        pending.young.is_empty() && pending.old.keys.is_empty() && pending.doubtful.is_empty()
    }

    /// What it is time to write away beside so many commits, with the journal at this position.
    pub(super) fn part(&self, commits: usize, global: u64) -> FlushAmount {
        let part = FlushAmount::Some(AT_ONCE.max(commits * FOR_EACH));
        let pending = self.read();
        if pending.young.len() >= OVERFLOW {
            return FlushAmount::All;
        }
        if !pending.old.keys.is_empty() {
            return part;
        }
        let behind = global.saturating_sub(pending.tables_at);
        let is_full = pending.young.len() >= ROWS_MAX || behind > BEHIND_MAX;
        drop(pending);
        if !is_full {
            return FlushAmount::Nothing;
        }
        let mut pending = self.change();
        let rows = std::mem::take(&mut pending.young);
        pending.old = Old { keys: rows.keys(), rows, written: 0, up_to: global };
        part
    }

    /// Others may look meanwhile. Nothing is out of the write-behind before the transaction is on disk.
    pub(super) fn write(
        &self,
        connection: &Connection,
        part: FlushAmount,
        global: u64,
    ) -> Result<(), rusqlite::Error> {
        let pending = self.read();
        let old = &pending.old;
        match part {
            FlushAmount::Nothing => Ok(()),
            FlushAmount::Some(count) => {
                let end = old.keys.len().min(old.written + count);
                old.rows.write(connection, &old.keys[old.written..end])?;
                if end == old.keys.len() { set_tables_at(connection, old.up_to) } else { Ok(()) }
            }
            FlushAmount::All => {
                old.rows.write(connection, &old.keys[old.written..])?;
                pending.young.write(connection, &pending.young.keys())?;
                set_tables_at(connection, global)
            }
        }
    }

    /// The transaction that wrote this part is on disk.
    pub(super) fn written(&self, part: FlushAmount, global: u64) {
        let mut pending = self.change();
        // Thousands of rows are dropped only when nobody waits for the lock.
        let _gone = match part {
            FlushAmount::Nothing => None,
            FlushAmount::Some(count) => {
                pending.old.written += count;
                let is_done = pending.old.written >= pending.old.keys.len();
                is_done.then(|| {
                    let old = std::mem::take(&mut pending.old);
                    pending.young.keep_opened(&old.rows);
                    pending.tables_at = old.up_to;
                    PendingRows { old, ..PendingRows::default() }
                })
            }
            FlushAmount::All => {
                let known_to = pending.known_to.max(global);
                let cleared = PendingRows { tables_at: global, known_to, ..PendingRows::default() };
                Some(std::mem::replace(&mut *pending, cleared))
            }
        };
        drop(pending);
    }

    /// What the commits up to this position have changed.
    pub(super) fn put(&self, known_to: u64, tell: impl FnOnce(&mut Rows)) {
        let mut pending = self.change();
        tell(&mut pending.young);
        pending.known_to = known_to;
    }

    /// A transaction of unknown fate would have changed this.
    pub(super) fn doubt(&self, rows: Rows) {
        self.change().doubtful.merge(rows);
    }

    pub(super) fn known_to(&self) -> u64 {
        self.read().known_to
    }

    pub(super) fn doubts(&self, key: RowKey) -> bool {
        self.read().doubtful.has(key)
    }

    pub(super) fn hold(&self, id: HoldId) -> Option<Arc<Hold>> {
        self.newest(|rows| rows.holds.get(&id).map(|row| row.hold.clone()))
    }

    /// Every hold that is on it, newest state only.
    pub(super) fn holds(&self) -> Vec<HoldRow> {
        let pending = self.read();
        let PendingRows { young, old, .. } = &*pending;
        let replaced = |row: &&HoldRow| !young.holds.contains_key(&row.hold.id);
        young.holds.values().chain(old.rows.holds.values().filter(replaced)).cloned().collect()
    }

    pub(super) fn session(&self, id: SessionId) -> Option<SessionRow> {
        self.newest(|rows| rows.sessions.get(&id).map(|row| SessionRow::clone(row)))
    }

    pub(super) fn session_of_run(&self, run: RunId) -> Option<SessionId> {
        self.newest(|rows| rows.runs.get(&run).copied())
    }

    pub(super) fn of_stream(&self, stream: StreamId) -> Newest {
        let pending = self.read();
        let parts = [&pending.old.rows, &pending.young];
        let positions = parts.iter().filter_map(|rows| rows.positions.get(&stream)).flatten();
        Newest { positions: positions.copied().collect(), known_to: pending.known_to }
    }

    /// Where the newest commit of a stream is, if the table does not say it.
    pub(super) fn last_of(&self, stream: StreamId) -> Option<CommitPosition> {
        self.newest(|rows| {
            rows.positions.get(&stream).and_then(|positions| positions.last().copied())
        })
    }

    fn newest<T>(&self, find: impl Fn(&Rows) -> Option<T>) -> Option<T> {
        let pending = self.read();
        find(&pending.young).or_else(|| find(&pending.old.rows))
    }

    fn read(&self) -> RwLockReadGuard<'_, PendingRows> {
        // Nothing is ever half changed in there.
        self.0.read().unpoisoned()
    }

    fn change(&self) -> RwLockWriteGuard<'_, PendingRows> {
        self.0.write().unpoisoned()
    }
}

/// The position up to which the tables are true.
pub(super) fn tables_at(connection: &Connection) -> Result<u64, rusqlite::Error> {
    let at: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE key = 'tables_at'", [], |row| row.get(0))
        .optional()?;
    Ok(at.unwrap_or_default() as u64)
}

pub(super) fn set_tables_at(connection: &Connection, global: u64) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('tables_at', ?1)")?
        .execute(params![global as i64])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(numbers: std::ops::Range<u128>) -> Rows {
        let mut rows = Rows::default();
        for number in numbers {
            let stream = StreamId::Session(SessionId::new(1, number));
            let position = CommitPosition { first: 1, global: number as u64 + 1 };
            rows.positions.insert(stream, vec![position]);
        }
        rows
    }

    /// What one transaction would do.
    fn write(write_behind: &WriteBehind, commits: usize, global: u64) -> FlushAmount {
        let part = write_behind.part(commits, global);
        write_behind.written(part, global);
        part
    }

    #[test]
    fn a_full_write_behind_is_written_away_in_parts_and_stays_to_be_looked_at_until_then() {
        let write_behind = WriteBehind::default();
        let (full, last) = (ROWS_MAX as u128, ROWS_MAX as u64);
        write_behind.put(last, |rows| rows.merge(streams(0..full - 1)));
        assert_eq!(write(&write_behind, 1, last), FlushAmount::Nothing);
        write_behind.put(last, |rows| rows.merge(streams(full - 1..full)));
        assert_eq!(write(&write_behind, 1, last), FlushAmount::Some(AT_ONCE));
        assert_eq!(
            write(&write_behind, 100, last),
            FlushAmount::Some(100 * FOR_EACH),
            "as fast as they come"
        );
        let first = StreamId::Session(SessionId::new(1, 0));
        assert_eq!(write_behind.last_of(first), Some(CommitPosition { first: 1, global: 1 }));
        let parts =
            (0..).take_while(|_| write(&write_behind, 1, last) != FlushAmount::Nothing).count();
        let left = ROWS_MAX - AT_ONCE - 100 * FOR_EACH;
        assert_eq!(parts, left.div_ceil(AT_ONCE));
        assert!(write_behind.is_empty());
    }

    #[test]
    fn what_comes_faster_than_it_leaves_is_written_away_at_once() {
        let write_behind = WriteBehind::default();
        write_behind.put(1, |rows| rows.merge(streams(0..ROWS_MAX as u128)));
        assert!(matches!(write(&write_behind, 1, 1), FlushAmount::Some(_)));
        write_behind.put(2, |rows| rows.merge(streams(0..OVERFLOW as u128)));
        assert_eq!(write(&write_behind, 1, 2), FlushAmount::All);
        assert!(write_behind.is_empty());
    }

    #[test]
    fn few_rows_that_change_often_are_written_away_as_well() {
        let write_behind = WriteBehind::default();
        write_behind.put(BEHIND_MAX, |rows| rows.merge(streams(0..1)));
        assert_eq!(write(&write_behind, 1, BEHIND_MAX), FlushAmount::Nothing);
        assert!(matches!(write(&write_behind, 1, BEHIND_MAX + 1), FlushAmount::Some(_)));
        assert!(write_behind.is_empty());
    }
}
