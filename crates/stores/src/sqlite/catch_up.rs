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

use super::error::Failure;
use super::reads;
use super::shelf::{HoldRow, Rows, tables_at};
use crate::record::{key_of, read_row};

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
    let caught_up = changed_since(connection, behind)?.into_iter().try_for_each(|stream| {
        let entries = reads::load(connection, stream)?;
        Ok::<(), Failure>(rows_of(stream, &entries).write(connection, last)?)
    });
    match caught_up {
        Ok(()) => connection.execute_batch("COMMIT")?,
        Err(failure) => {
            // The first error is the one to tell; a failed rollback ends with the connection.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(failure);
        }
    }
    Ok(last)
}

fn changed_since(connection: &Connection, global: u64) -> Result<Vec<StreamId>, Failure> {
    let mut statement = connection
        .prepare("SELECT min(global), bytes FROM journal WHERE global > ?1 GROUP BY stream")?;
    let mut rows = statement.query(params![global as i64])?;
    let mut streams = Vec::new();
    while let Some(row) = rows.next()? {
        let entry = read_row(row.get_ref(1)?.as_blob()?, row.get::<_, i64>(0)? as u64)?;
        streams.push(entry.stream);
    }
    Ok(streams)
}

/// The rows that all of a stream's events lead to.
pub(super) fn rows_of(stream: StreamId, entries: &[Entry]) -> Rows {
    let mut rows = Rows::default();
    let opened = opened(entries);
    match stream {
        StreamId::Session(id) => session_rows(id, entries, &opened, &mut rows),
        StreamId::Outside(_) => {
            if let Some(outside) = Outside::replay(events(entries)) {
                rows.add_hold(hold_row(&outside.hold, None, &opened));
            }
        }
        StreamId::House => {}
    }
    rows
}

fn session_rows(id: SessionId, entries: &[Entry], opened: &Opened, rows: &mut Rows) {
    let mut session = Session::begin(id);
    for entry in entries {
        for event in &entry.events {
            session.apply(event, entry.at);
            rows.add_run(event, id);
        }
    }
    let creator: Option<Arc<str>> = key_of(&session.creator).map(Into::into);
    for hold in session.holds.values() {
        rows.add_hold(hold_row(hold, creator.clone(), opened));
    }
    rows.add_session(SessionRow::of(&session, NOBODY));
}

type Opened = HashMap<HoldId, (u64, Arc<Hold>)>;

fn opened(entries: &[Entry]) -> Opened {
    let mut opened = HashMap::new();
    for entry in entries {
        for event in &entry.events {
            if let Event::HoldOpened { hold } = event {
                opened.insert(hold.id, (entry.global, hold.clone()));
            }
        }
    }
    opened
}

fn hold_row(hold: &Arc<Hold>, creator: Option<Arc<str>>, opened: &Opened) -> HoldRow {
    let opening = opened.get(&hold.id);
    HoldRow {
        hold: hold.clone(),
        creator,
        opened_in: opening.map(|(global, _)| *global),
        is_as_opened: opening.is_some_and(|(_, opened)| opened == hold),
    }
}

fn events(entries: &[Entry]) -> impl Iterator<Item = &Event> {
    entries.iter().flat_map(|entry| &entry.events)
}
