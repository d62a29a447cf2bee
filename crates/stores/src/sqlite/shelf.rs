//! Rows of the read tables that wait to be written. The journal is the truth, and it is on disk with
//! every commit; the tables below it serve lists and lookups, and follow a little later, when many
//! changes of the same row have become one. Whoever reads a table first has the shelf cleared, or
//! looks on it; whoever opens the store after a crash has the tables [caught up](super::catch_up).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use domain::event::Event;
use domain::hold::Hold;
use domain::id::{HoldId, RunId, SessionId};
use ports::store::{Commit, SessionRow};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::cells::{self, HoldCells, SessionCells};
use crate::record::key_of;

/// Rows that may wait. It bounds memory, and what has to be caught up with after a crash.
const ROWS_MAX: usize = 1_024;
/// Events that the tables may be behind, for the same reason: few rows may change often.
const BEHIND_MAX: u64 = 16_384;

/// The rows that one commit, or many, have changed.
#[derive(Clone, Default)]
pub(super) struct Rows {
    sessions: HashMap<SessionId, Arc<SessionRow>>,
    runs: HashMap<RunId, SessionId>,
    holds: HashMap<HoldId, HoldRow>,
}

#[derive(Clone)]
pub(super) struct HoldRow {
    pub(super) hold: Arc<Hold>,
    /// Of its session.
    pub(super) creator: Option<Arc<str>>,
    /// The commit that opened it, if that is among those whose rows these are.
    pub(super) opened_in: Option<u64>,
    /// As that commit opened it: then the journal has all of it.
    pub(super) is_as_opened: bool,
}

impl Rows {
    /// What a commit changes. Its position is filled in when it has one.
    pub(super) fn of(commit: &Commit) -> Rows {
        let mut rows = Rows::default();
        let Some(session) = &commit.session else {
            rows.add_holds(commit, None);
            return rows;
        };
        for event in &commit.events {
            rows.add_run(event, session.id);
        }
        rows.add_holds(commit, key_of(&session.creator).map(Into::into));
        rows.sessions.insert(session.id, Arc::new(session.clone()));
        rows
    }

    fn add_holds(&mut self, commit: &Commit, creator: Option<Arc<str>>) {
        for hold in &commit.holds {
            let opened = commit.events.iter().find_map(|event| match event {
                Event::HoldOpened { hold: opened } if opened.id == hold.id => Some(opened),
                _ => None,
            });
            let row = HoldRow {
                hold: hold.clone(),
                creator: creator.clone(),
                opened_in: opened.map(|_| 0),
                is_as_opened: opened.is_some_and(|opened| opened == hold),
            };
            self.holds.insert(hold.id, row);
        }
    }

    pub(super) fn add_run(&mut self, event: &Event, session: SessionId) {
        if let Event::RunStarted { run } | Event::MessageQueued { run, .. } = event {
            self.runs.insert(*run, session);
        }
    }

    pub(super) fn add_session(&mut self, row: SessionRow) {
        self.sessions.insert(row.id, Arc::new(row));
    }

    pub(super) fn add_hold(&mut self, row: HoldRow) {
        self.holds.insert(row.hold.id, row);
    }

    /// Newer rows, of a commit at this position, over older ones.
    pub(super) fn lay_over(&mut self, newer: &Rows, global: u64) {
        self.sessions.extend(newer.sessions.iter().map(|(id, row)| (*id, row.clone())));
        self.runs.extend(&newer.runs);
        for (id, row) in &newer.holds {
            let mut row = row.clone();
            row.opened_in = match row.opened_in {
                Some(_) => Some(global),
                None => self.holds.get(id).and_then(|older| older.opened_in),
            };
            self.holds.insert(*id, row);
        }
    }

    fn merge(&mut self, newer: Rows) {
        self.sessions.extend(newer.sessions);
        self.runs.extend(newer.runs);
        for (id, mut row) in newer.holds {
            row.opened_in = row.opened_in.or(self.holds.get(&id).and_then(|older| older.opened_in));
            self.holds.insert(id, row);
        }
    }

    fn len(&self) -> usize {
        self.sessions.len() + self.runs.len() + self.holds.len()
    }

    /// Into the tables, which are then true of everything up to this position.
    pub(super) fn write(&self, connection: &Connection, up_to: u64) -> Result<(), rusqlite::Error> {
        for row in self.sessions.values() {
            SessionCells::new(row).write(connection)?;
        }
        for (run, session) in &self.runs {
            connection
                .prepare_cached("INSERT OR IGNORE INTO runs (id, session) VALUES (?1, ?2)")?
                .execute(params![cells::id(run.0), cells::id(session.0)])?;
        }
        for row in self.holds.values() {
            HoldCells::new(row).write(connection)?;
        }
        connection
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('tables_at', ?1)")?
            .execute(params![up_to as i64])?;
        Ok(())
    }
}

/// The position up to which the tables are true.
pub(super) fn tables_at(connection: &Connection) -> Result<u64, rusqlite::Error> {
    let at: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE key = 'tables_at'", [], |row| row.get(0))
        .optional()?;
    Ok(at.unwrap_or_default() as u64)
}

/// What waits, for the writer who puts it there and for readers who look.
#[derive(Default)]
pub(super) struct Shelf(RwLock<Shelved>);

#[derive(Default)]
struct Shelved {
    rows: Rows,
    /// Where the tables are.
    tables_at: u64,
}

impl Shelf {
    pub(super) fn is_empty(&self) -> bool {
        self.read().rows.len() == 0
    }

    /// Whether it is time to write, with the journal at this position.
    pub(super) fn is_full(&self, global: u64) -> bool {
        let shelved = self.read();
        let behind = global.saturating_sub(shelved.tables_at);
        shelved.rows.len() >= ROWS_MAX || (behind > BEHIND_MAX && shelved.rows.len() > 0)
    }

    pub(super) fn write(&self, connection: &Connection, up_to: u64) -> Result<(), rusqlite::Error> {
        // Others may look meanwhile.
        self.read().rows.write(connection, up_to)
    }

    /// After the transaction that wrote it is on disk.
    pub(super) fn clear(&self, up_to: u64) {
        *self.change() = Shelved { rows: Rows::default(), tables_at: up_to };
    }

    pub(super) fn put(&self, rows: Rows) {
        if rows.len() > 0 {
            self.change().rows.merge(rows);
        }
    }

    pub(super) fn hold(&self, id: HoldId) -> Option<Arc<Hold>> {
        self.read().rows.holds.get(&id).map(|row| row.hold.clone())
    }

    pub(super) fn session(&self, id: SessionId) -> Option<SessionRow> {
        self.read().rows.sessions.get(&id).map(|row| SessionRow::clone(row))
    }

    pub(super) fn session_of_run(&self, run: RunId) -> Option<SessionId> {
        self.read().rows.runs.get(&run).copied()
    }

    fn read(&self) -> RwLockReadGuard<'_, Shelved> {
        // Nothing is ever half changed in there.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Shelved> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
