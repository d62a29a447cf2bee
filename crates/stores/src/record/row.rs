//! One commit: one row of the journal, and one entry of the audit log.

use domain::id::{CommitId, SessionId, StreamId};
use ports::store::{Commit, Entry};
use serde::{Deserialize, Serialize};

use super::actor::StoredActor;
use super::event::{StoredEvent, ToWrite, read_events, version_of};
use super::{Broken, FIRST, Frame, Ms, Text};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a, E> {
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
pub(crate) fn write_row(commit: &Commit) -> Vec<u8> {
    let frame = Frame { session: session(commit.stream), at: Some(commit.at), earlier: &[] };
    super::write(&Row {
        v: commit.events.iter().map(version_of).max().unwrap_or(FIRST),
        id: Text(commit.id),
        stream: Text(commit.stream),
        first: commit.expected + 1,
        at: commit.at.into(),
        actor: (&commit.actor).into(),
        events: ToWrite { events: &commit.events, actor: &commit.actor, frame },
    })
}

pub(crate) fn read_row(bytes: &[u8], global: u64) -> Result<Entry, Broken> {
    let row = super::read::<Row<'_, Vec<StoredEvent<'_>>>>(bytes, |row| row.v)?;
    let (actor, at) = (row.actor.into(), row.at.into());
    Ok(Entry {
        id: row.id.0,
        stream: row.stream.0,
        first: row.first,
        global,
        events: read_events(row.events, &actor, session(row.stream.0), at)?.into(),
        at,
        actor,
    })
}

fn session(stream: StreamId) -> Option<SessionId> {
    match stream {
        StreamId::Session(id) => Some(id),
        StreamId::Outside(_) | StreamId::House => None,
    }
}
