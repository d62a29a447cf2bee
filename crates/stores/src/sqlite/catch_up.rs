//! Brings the read tables up to the journal: after a crash they may be behind it, never ahead.

use std::collections::HashMap;
use std::sync::Arc;

use domain::event::HoldEvent;
use domain::external_hold::ExternalHold;
use domain::hold::Hold;
use domain::id::{Bits, HoldId, NodeId, StreamId};
use domain::session::Session;
use ports::durable::Replay as _;
use ports::store::{Entry, SessionRow, StoreError};
use rusqlite::{Connection, params};

use super::columns;
use super::commit_index::CommitPosition;
use super::error::Failure;
use super::reads;
use super::rows::{HoldRow, Opened, Rows, run_of};
use super::write_behind::{Newest, set_tables_at, tables_at};
use crate::record::{Broken, key_of};

/// Whoever held a session's work when the tables fell behind is gone: this process has the lock.
const NOBODY: NodeId = NodeId(Bits(0));

/// All of it, or nothing. Returns the position that the tables are at then.
pub(super) fn catch_up(connection: &Connection) -> Result<u64, Failure> {
    let (last, _) = reads::last(connection)?;
    let behind = tables_at(connection)?;
    if behind >= last {
        return Ok(behind);
    }
    tracing::info!(from = behind, to = last, "bringing the tables up to the journal");
    connection.execute_batch("BEGIN IMMEDIATE")?;
    match bring_up(connection, behind).and_then(|()| Ok(set_tables_at(connection, last)?)) {
        Ok(()) => connection.execute_batch("COMMIT")?,
        Err(failure) => {
            // The first error is the one to tell; a failed rollback ends with the connection.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(failure);
        }
    }
    Ok(last)
}

fn bring_up(connection: &Connection, behind: u64) -> Result<(), Failure> {
    // First the ways from streams to their commits: everything else is read by them. They begin where
    // those began that were in the write-behind, and so do their rows.
    let mut changed = Rows::default();
    let mut journal = connection.prepare(
        "SELECT stream, first, global, bytes FROM journal WHERE global > ?1 ORDER BY global",
    )?;
    let mut commits = journal.query(params![behind as i64])?;
    while let Some(row) = commits.next()? {
        let global = row.get::<_, i64>(2)? as u64;
        // Where the entry itself says: the columns are not signed. One that cannot be read is left to
        // whoever asks for it.
        let (stream, first) = match reads::place_in_entry(row.get_ref(3)?.as_blob()?, global) {
            Ok(position) => position,
            Err(_) => {
                let stream = columns::stream_of(row.get_ref(0)?.as_blob()?)?;
                (stream, row.get::<_, i64>(1)? as u64)
            }
        };
        changed.positions.entry(stream).or_default().push(CommitPosition { first, global });
    }
    changed.write(connection, &changed.keys())?;
    // The table has them all by now.
    let none = Newest { positions: Vec::new(), known_to: u64::MAX >> 1 };
    for &stream in changed.positions.keys() {
        let entries = reads::load(connection, stream, &none);
        match entries.and_then(|entries| rows_of(stream, &entries)) {
            Ok(rows) => rows.write(connection, &rows.keys())?,
            // Whoever asks for it is told; nobody else has to do without.
            Err(Failure::Broken(why)) => {
                tracing::error!(%stream, %why, "what has happened here cannot be read");
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// The rows that all of a stream's events lead to.
pub(super) fn rows_of(stream: StreamId, entries: &[Entry]) -> Result<Rows, Failure> {
    let mut rows = Rows::default();
    let opened = opened(entries);
    match stream {
        StreamId::Session(id) => {
            if let Some(session) = Session::replay(stream, None, entries).map_err(unreadable)? {
                rows.put_session(&session, &opened);
            }
            let events = entries.iter().flat_map(|entry| &*entry.events);
            rows.runs.extend(events.filter_map(run_of).map(|run| (run, id)));
        }
        StreamId::ExternalHold(_) => {
            if let Some(outside) =
                ExternalHold::replay(stream, None, entries).map_err(unreadable)?
            {
                rows.put_hold(hold_row(&outside.hold, None, &opened));
            }
        }
        StreamId::Global => {}
    }
    Ok(rows)
}

fn unreadable(error: StoreError) -> Failure {
    Broken::Damaged(error.to_string()).into()
}

impl Rows {
    fn put_session(&mut self, session: &Session, opened: &HashMap<HoldId, Opened>) {
        let creator: Option<Arc<str>> = key_of(&session.creator).map(Into::into);
        for hold in session.holds.values() {
            self.put_hold(hold_row(hold, creator.clone(), opened));
        }
        self.sessions.insert(session.id, Arc::new(SessionRow::of(session, NOBODY)));
    }
}

fn opened(entries: &[Entry]) -> HashMap<HoldId, Opened> {
    let mut opened = HashMap::new();
    for entry in entries {
        for event in entry.events.iter() {
            if let Some(HoldEvent::Opened { hold }) = event.hold_event() {
                let (global, hold) = (entry.global, hold.clone());
                opened.insert(hold.id, Opened { hold, global });
            }
        }
    }
    opened
}

fn hold_row(
    hold: &Arc<Hold>,
    creator: Option<Arc<str>>,
    opened: &HashMap<HoldId, Opened>,
) -> HoldRow {
    HoldRow { hold: hold.clone(), creator, opened: opened.get(&hold.id).cloned() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use domain::event::SessionEvent;
    use domain::hold::HoldState;
    use domain::person::Actor;
    use ports::store::{HoldQuery, Store as _, StoreError, Viewer};

    use super::super::commit_index::{WRITE_POSITIONS, positions_after, put_positions};
    use super::super::{OpenError, SqliteStore};
    use super::*;
    use crate::conformance::stage::{Stage, at, audience, hold_id, node, person, session_id};

    const ALL: HoldQuery = HoldQuery::all(Viewer::Everything, 9);

    /// Five commits of one stream, all of them in the tables.
    async fn lived(data: &Path) -> (Stage, Vec<CommitPosition>) {
        let store = SqliteStore::open(data, node(1)).unwrap();
        let mut stage = Stage::new(session_id(1), node(1));
        store.commit(stage.open(person("ana"))).await.unwrap();
        store.commit(stage.say(1)).await.unwrap();
        for number in [1, 2] {
            let asked = stage.ask(number, hold_id(number), audience(&["bob"], &[]));
            store.commit(asked).await.unwrap();
        }
        let state = HoldState::Expired { at: at(9) };
        let over = SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(1), state });
        store.commit(stage.commit(vec![over], Actor::Runtime)).await.unwrap();
        assert_eq!(store.holds(ALL).await.unwrap().len(), 2);
        let file = Connection::open(data.join("holdpoint.db")).unwrap();
        let positions = positions_after(&file, StreamId::Session(session_id(1)), 0, 9).unwrap();
        assert_eq!(positions.len(), 5);
        (stage, positions)
    }

    /// As a crash between two parts of the write-behind leaves it: the tables are true up to one commit, and
    /// of those after it some are there.
    fn crash(data: &Path, known: &[CommitPosition], ahead: &[CommitPosition]) {
        let file = Connection::open(data.join("holdpoint.db")).unwrap();
        file.execute_batch("DELETE FROM streams; DELETE FROM holds; DELETE FROM sessions").unwrap();
        let stream = StreamId::Session(session_id(1));
        let mut write = file.prepare(WRITE_POSITIONS).unwrap();
        put_positions(&mut write, stream, known).unwrap();
        put_positions(&mut write, stream, ahead).unwrap();
        let true_to = match known.last() {
            Some(last) => {
                let sql = "SELECT global + n - 1 FROM journal WHERE global = ?1";
                file.query_row(sql, [last.global as i64], |row| row.get(0)).unwrap()
            }
            None => 0_i64,
        };
        set_tables_at(&file, true_to as u64).unwrap();
    }

    #[tokio::test]
    async fn whatever_was_written_before_a_crash_is_there_once_after_it() {
        let data = tempfile::tempdir().unwrap();
        let (stage, positions) = lived(data.path()).await;
        let stream = StreamId::Session(session_id(1));
        for known in 0..positions.len() {
            for ahead in 0..=positions.len() - known {
                let (known, rest) = positions.split_at(known);
                crash(data.path(), known, &rest[..ahead]);
                let store = SqliteStore::open(data.path(), node(1)).unwrap();
                let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
                let again = positions_after(&file, stream, 0, 9).unwrap();
                assert_eq!(again, positions, "{} and {ahead}", known.len());
                let found: Vec<_> = store.load(stream).await.unwrap();
                let found: Vec<_> = found.iter().map(|entry| entry.global).collect();
                assert_eq!(
                    found,
                    positions.iter().map(|position| position.global).collect::<Vec<_>>()
                );
                for after in 0..stage.session.version {
                    let next = store.entries(Some(stream), after, 1).await.unwrap().remove(0);
                    let end = next.first + next.events.len() as u64;
                    assert!(next.first <= after + 1 && end > after + 1, "{after}: {next:?}");
                }
                let holds = store.holds(ALL).await.unwrap();
                let folded: Vec<_> = stage.session.holds.values().rev().cloned().collect();
                assert_eq!(holds, folded);
            }
        }
    }

    #[tokio::test]
    async fn a_place_that_leads_elsewhere_is_an_error_and_no_other_history() {
        let data = tempfile::tempdir().unwrap();
        let (mut stage, positions) = lived(data.path()).await;
        let stream = StreamId::Session(session_id(1));
        for wrong in [positions[4].global, 99] {
            let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
            let sql = "UPDATE streams SET first = ?1, global = ?2, more = x''";
            file.execute(sql, params![positions[0].first as i64, wrong as i64]).unwrap();
            let store = SqliteStore::open(data.path(), node(1)).unwrap();
            let read = store.load(stream).await;
            assert!(matches!(read, Err(StoreError::Unreadable(_))), "{wrong}: {read:?}");
        }
        let store = SqliteStore::open(data.path(), node(1)).unwrap();
        stage.session.version = 0;
        assert!(store.commit(stage.say(9)).await.is_err(), "it begins no second history");
    }

    #[tokio::test]
    async fn another_history_is_noticed_at_start() {
        let data = tempfile::tempdir().unwrap();
        let (_, positions) = lived(data.path()).await;
        let mut other = positions[1..].to_vec();
        other[1].global -= 1;
        crash(data.path(), &positions[..1], &other);
        let refused = SqliteStore::open(data.path(), node(1)).unwrap_err();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
    }
}
