//! Brings the read tables up to the journal: after a crash they may be behind it, never ahead.

use std::collections::HashMap;
use std::sync::Arc;

use domain::event::Event;
use domain::hold::Hold;
use domain::id::{Bits, HoldId, NodeId, SessionId, StreamId};
use domain::outside::Outside;
use domain::session::Session;
use ports::store::{Entry, SessionRow};
use rusqlite::{Connection, params};

use super::cells;
use super::error::Failure;
use super::reads;
use super::rows::{HoldRow, Opened, Rows, run_of};
use super::shelf::{Newest, set_tables_at, tables_at};
use crate::record::key_of;

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
    // First the ways from streams to their commits: everything else is read by them.
    connection
        .prepare(
            "INSERT INTO streams (stream, first, global) \
             SELECT stream, first, global FROM journal WHERE global > ?1 \
             ON CONFLICT (stream, first) DO UPDATE SET \
                 global = iif(global = excluded.global, global, NULL)",
        )?
        .execute(params![behind as i64])?;
    let mut changed =
        connection.prepare("SELECT DISTINCT stream FROM journal WHERE global > ?1")?;
    let mut changed = changed.query(params![behind as i64])?;
    // The table has them all by now.
    let none = Newest { places: Vec::new(), known_to: u64::MAX >> 1 };
    while let Some(row) = changed.next()? {
        let stream = cells::stream_of(row.get_ref(0)?.as_blob()?)?;
        match reads::load(connection, stream, &none) {
            Ok(entries) => {
                let rows = rows_of(stream, &entries);
                rows.write(connection, &rows.keys())?;
            }
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
pub(super) fn rows_of(stream: StreamId, entries: &[Entry]) -> Rows {
    let mut rows = Rows::default();
    let opened = opened(entries);
    match stream {
        StreamId::Session(id) => session_rows(id, entries, &opened, &mut rows),
        StreamId::Outside(_) => {
            if let Some(outside) = Outside::replay(events(entries)) {
                rows.put_hold(hold_row(&outside.hold, None, &opened));
            }
        }
        StreamId::House => {}
    }
    rows
}

fn session_rows(
    id: SessionId,
    entries: &[Entry],
    opened: &HashMap<HoldId, Opened>,
    rows: &mut Rows,
) {
    let mut session = Session::begin(id);
    for entry in entries {
        for event in entry.events.iter() {
            session.apply(event, entry.at);
            rows.runs.extend(run_of(event).map(|run| (run, id)));
        }
    }
    let creator: Option<Arc<str>> = key_of(&session.creator).map(Into::into);
    for hold in session.holds.values() {
        rows.put_hold(hold_row(hold, creator.clone(), opened));
    }
    rows.sessions.insert(id, Arc::new(SessionRow::of(&session, NOBODY)));
}

fn opened(entries: &[Entry]) -> HashMap<HoldId, Opened> {
    let mut opened = HashMap::new();
    for entry in entries {
        for event in entry.events.iter() {
            if let Event::HoldOpened { hold } = event {
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

fn events(entries: &[Entry]) -> impl Iterator<Item = &Event> {
    entries.iter().flat_map(|entry| &*entry.events)
}
