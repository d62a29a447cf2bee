//! Rows of the read tables, on their way there.

use std::mem::discriminant;
use std::sync::Arc;

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, RunId, SessionId, StreamId};
use domain::id_map::IdMap;
use ports::store::{HoldQuery, SessionRow, StreamRows};
use rusqlite::{Connection, Statement, params};

use super::columns;
use super::commit_index::{CommitPosition, WRITE_POSITIONS, put_positions};
use crate::record::key_of;
use crate::wish::Wish;

/// The rows that one commit, or many, have changed.
#[derive(Clone, Default)]
pub(super) struct Rows {
    pub(super) sessions: IdMap<SessionId, Arc<SessionRow>>,
    pub(super) runs: IdMap<RunId, SessionId>,
    pub(super) holds: IdMap<HoldId, HoldRow>,
    /// Where the commits of a stream are, oldest first.
    pub(super) positions: IdMap<StreamId, Vec<CommitPosition>>,
}

#[derive(Clone)]
pub(super) struct HoldRow {
    pub(super) hold: Arc<Hold>,
    /// Of its session.
    pub(super) creator: Option<Arc<str>>,
    /// If the commit that opened it is among those whose rows these are, or shortly before them.
    pub(super) opened: Option<Opened>,
}

/// A hold as it was opened, and the position of the commit that did.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) hold: Arc<Hold>,
    pub(super) global: u64,
}

/// Which row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowKey {
    Stream(StreamId),
    Session(SessionId),
    Run(RunId),
    Hold(HoldId),
}

impl RowKey {
    /// What writes such a row.
    fn statement(self) -> &'static str {
        match self {
            RowKey::Stream(_) => WRITE_POSITIONS,
            RowKey::Session(_) => columns::WRITE_SESSION,
            RowKey::Run(_) => "INSERT OR IGNORE INTO runs (id, session) VALUES (?1, ?2)",
            RowKey::Hold(_) => columns::WRITE_HOLD,
        }
    }
}

/// What a commit changes in the tables, before anybody knows where the commit will be.
#[derive(Default)]
pub(super) struct Changes {
    session: Option<(Arc<SessionRow>, Vec<RunId>)>,
    /// With what this commit opened it as, if it does.
    holds: Vec<(HoldRow, Option<Arc<Hold>>)>,
}

impl Changes {
    /// Of a commit with these events. Its grants are written with the commit itself, and given back.
    pub(super) fn of(events: &[Event], rows: StreamRows) -> (Changes, Vec<Arc<Grant>>) {
        let (session, holds, grants) = match rows {
            StreamRows::Session { row, holds, grants } => (Some(row), holds, grants),
            StreamRows::ExternalHold(hold) => (None, vec![hold], Vec::new()),
            StreamRows::Global => (None, Vec::new(), Vec::new()),
        };
        let creator: Option<Arc<str>> = match &session {
            Some(session) if !holds.is_empty() => key_of(&session.creator).map(Into::into),
            _ => None,
        };
        // mutant: rows-without-their-holds
        let holds = holds.into_iter().map(|hold| {
            let opened = events.iter().find_map(|event| match event.hold_event() {
                Some(HoldEvent::Opened { hold: opened }) if opened.id == hold.id => {
                    Some(opened.clone())
                }
                _ => None,
            });
            (HoldRow { hold, creator: creator.clone(), opened: None }, opened)
        });
        let holds = holds.collect();
        let session = session.map(|session| {
            let runs = events.iter().filter_map(run_of).collect();
            (session, runs)
        });
        (Changes { session, holds }, grants)
    }
}

/// The run that an event is the first to tell of.
pub(super) fn run_of(event: &Event) -> Option<RunId> {
    match event {
        Event::Session(
            SessionEvent::RunStarted { run } | SessionEvent::MessageQueued { run, .. },
        ) => Some(*run),
        _ => None,
    }
}

impl Rows {
    /// What a commit at this position changes, over what was there before.
    pub(super) fn add(
        &mut self,
        changes: Changes,
        stream: StreamId,
        position: Option<CommitPosition>,
    ) {
        if let Some((session, runs)) = changes.session {
            self.runs.extend(runs.into_iter().map(|run| (run, session.id)));
            self.sessions.insert(session.id, session);
        }
        for (row, opened) in changes.holds {
            let opened = opened
                .zip(position)
                .map(|(hold, position)| Opened { hold, global: position.global });
            self.put_hold(HoldRow { opened, ..row });
        }
        self.positions.entry(stream).or_default().extend(position);
    }

    pub(super) fn put_hold(&mut self, mut row: HoldRow) {
        if row.opened.is_none() {
            row.opened = self.opened(row.hold.id);
        }
        self.holds.insert(row.hold.id, row);
    }

    fn opened(&self, id: HoldId) -> Option<Opened> {
        self.holds.get(&id).and_then(|row| row.opened.clone())
    }

    /// What was opened before is soon forgotten; whose rows have changed since keep it in mind.
    pub(super) fn keep_opened(&mut self, before: &Rows) {
        for (id, row) in self.holds.iter_mut().filter(|(_, row)| row.opened.is_none()) {
            row.opened = before.opened(*id);
        }
    }

    /// Newer rows over older ones.
    pub(super) fn merge(&mut self, newer: Rows) {
        self.sessions.extend(newer.sessions);
        self.runs.extend(newer.runs);
        newer.holds.into_values().for_each(|row| self.put_hold(row));
        for (stream, positions) in newer.positions {
            self.positions.entry(stream).or_default().extend(positions);
        }
    }

    pub(super) fn has(&self, key: RowKey) -> bool {
        match key {
            RowKey::Stream(stream) => self.positions.contains_key(&stream),
            RowKey::Session(session) => self.sessions.contains_key(&session),
            RowKey::Run(run) => self.runs.contains_key(&run),
            RowKey::Hold(hold) => self.holds.contains_key(&hold),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Of a stream's commits, however many, as one.
    pub(super) fn len(&self) -> usize {
        self.sessions.len() + self.runs.len() + self.holds.len() + self.positions.len()
    }

    /// All of them, neighbours in a table beside each other: so a page is touched once.
    pub(super) fn keys(&self) -> Vec<RowKey> {
        let mut keys = Vec::with_capacity(self.len());
        keys.extend(self.positions.keys().map(|stream| RowKey::Stream(*stream)));
        keys.extend(self.sessions.keys().map(|session| RowKey::Session(*session)));
        keys.extend(self.runs.keys().map(|run| RowKey::Run(*run)));
        keys.extend(self.holds.keys().map(|hold| RowKey::Hold(*hold)));
        keys.sort_unstable();
        keys
    }

    pub(super) fn write(&self, connection: &Connection, keys: &[RowKey]) -> rusqlite::Result<()> {
        // Looking a statement up costs as much as some rows do: once for all of a table in a row.
        for keys in keys.chunk_by(|one, next| discriminant(one) == discriminant(next)) {
            let mut statement = connection.prepare_cached(keys[0].statement())?;
            keys.iter().try_for_each(|key| self.write_one(&mut statement, *key))?;
        }
        Ok(())
    }

    fn write_one(&self, statement: &mut Statement<'_>, key: RowKey) -> rusqlite::Result<()> {
        match key {
            RowKey::Session(id) => match self.sessions.get(&id) {
                Some(row) => columns::put_session(statement, row),
                None => Ok(()),
            },
            RowKey::Hold(id) => match self.holds.get(&id) {
                Some(row) => columns::put_hold(statement, row),
                None => Ok(()),
            },
            RowKey::Run(run) => match self.runs.get(&run) {
                Some(session) => {
                    statement.execute(params![columns::id(run.0), columns::id(session.0)]).map(drop)
                }
                None => Ok(()),
            },
            RowKey::Stream(stream) => match self.positions.get(&stream) {
                Some(positions) => put_positions(statement, stream, positions),
                None => Ok(()),
            },
        }
    }
}

/// A list as it is with these rows in place of what the table says of them.
pub(super) fn lay_over(
    mut found: Vec<Arc<Hold>>,
    rows: &[HoldRow],
    query: &HoldQuery,
) -> Vec<Arc<Hold>> {
    if !rows.is_empty() {
        let wish = Wish::new(query);
        found.retain(|hold| rows.iter().all(|row| row.hold.id != hold.id));
        let listed = rows.iter().filter(|row| {
            wish.is_for(&row.hold, |actor| {
                row.creator.is_some() && key_of(actor).as_deref() == row.creator.as_deref()
            })
        });
        found.extend(listed.map(|row| row.hold.clone()));
        found.sort_unstable_by(|one, other| query.order.compare(one, other));
    }
    found.truncate(query.limit);
    found
}
