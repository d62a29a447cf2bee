//! One commit: one row of the journal, and one entry of the audit log.

use domain::id::{CommitId, StreamId};
use ports::store::Entry;
use serde::{Deserialize, Serialize};

use super::actor::StoredActor;
use super::event::{StoredEvent, ToWrite, read_events, version_of};
use super::{Broken, FIRST, Ms, RowContext, Text};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommitRow<'a, E> {
    v: u32,
    id: Text<CommitId>,
    stream: Text<StreamId>,
    first: u64,
    at: Ms,
    #[serde(borrow)]
    actor: StoredActor<'a>,
    events: E,
}

/// The position among all events is not part of it: only the writer knows that, and the chain of
/// hashes says it as well.
pub(crate) fn write_row(entry: &Entry) -> Vec<u8> {
    let frame = RowContext { session: entry.stream.session(), at: Some(entry.at), earlier: &[] };
    super::write_record(&CommitRow {
        v: entry.events.iter().map(version_of).max().unwrap_or(FIRST),
        id: Text(entry.id),
        stream: Text(entry.stream),
        first: entry.first,
        at: entry.at.into(),
        actor: (&entry.actor).into(),
        events: ToWrite { events: &entry.events, actor: &entry.actor, frame },
    })
}

pub(crate) fn read_row(bytes: &[u8], global: u64) -> Result<Entry, Broken> {
    let row = super::read_record::<CommitRow<'_, Vec<StoredEvent<'_>>>>(bytes, |row| row.v)?;
    let (actor, at) = (row.actor.into(), row.at.into());
    Ok(Entry {
        id: row.id.0,
        stream: row.stream.0,
        first: row.first,
        global,
        events: read_events(row.events, &actor, row.stream.0, at)?.into(),
        at,
        actor,
    })
}
