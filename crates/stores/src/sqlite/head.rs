//! What the writer knows by heart: the end of the journal, and the versions of busy streams.

use audit::{Chain, Hash};
use domain::id::StreamId;
use domain::id_map::IdMap;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns;
use super::commit_index::last_position;
use super::error::Failure;
use super::reads::check_last;
use super::write_behind::WriteBehind;
use crate::record::Broken;

/// Streams whose versions are remembered, in each of two generations. A stream that was forgotten
/// costs one lookup.
const STREAMS_MAX: usize = 8_192;

/// True of what is on disk together with the open transaction. A rollback of more than
/// the last operation reads it anew from disk.
pub(super) struct Head {
    pub(super) chain: Chain,
    pub(super) global: u64,
    pub(super) at_ms: i64,
    /// Entries that the last signed checkpoint covers.
    pub(super) vouched: u64,
    young: IdMap<StreamId, u64>,
    old: IdMap<StreamId, u64>,
}

impl Head {
    pub(super) fn read(connection: &Connection) -> Result<Head, Failure> {
        let last = connection
            .query_row(
                "SELECT global + n - 1, seq, at, hash FROM journal ORDER BY global DESC LIMIT 1",
                [],
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?, row.get(3)?)),
            )
            .optional()?;
        let vouched: i64 =
            connection
                .query_row("SELECT coalesce(max(seq), 0) FROM checkpoints", [], |row| row.get(0))?;
        let (global, seq, at_ms, hash): (i64, i64, i64, [u8; 32]) =
            last.unwrap_or((0, 0, 0, *Hash::NONE.as_bytes()));
        if vouched > seq {
            // A signature covers more than there is: the end of the journal is gone.
            return Err(
                Broken::Damaged("the journal is shorter than what was signed".into()).into()
            );
        }
        // mutant: the-clock-begins-where-the-file-says
        check_last(connection)?;
        Ok(Head {
            chain: Chain::resume(Hash::from_bytes(hash), seq as u64),
            global: global as u64,
            at_ms,
            vouched: vouched as u64,
            young: IdMap::default(),
            old: IdMap::default(),
        })
    }

    pub(super) fn version(
        &mut self,
        connection: &Connection,
        stream: StreamId,
        write_behind: &WriteBehind,
    ) -> Result<u64, rusqlite::Error> {
        if let Some(version) = self.young.get(&stream) {
            return Ok(*version);
        }
        let version = match self.old.get(&stream) {
            Some(version) => *version,
            None => read_version(connection, stream, write_behind)?,
        };
        self.remember(stream, version);
        Ok(version)
    }

    /// After all of a commit is written.
    pub(super) fn advance(
        &mut self,
        chain: Chain,
        stream: StreamId,
        version: u64,
        events: u64,
        at_ms: i64,
    ) {
        self.chain = chain;
        self.global += events;
        self.at_ms = at_ms;
        self.remember(stream, version);
    }

    fn remember(&mut self, stream: StreamId, version: u64) {
        self.young.insert(stream, version);
        if self.young.len() >= STREAMS_MAX {
            self.old = std::mem::take(&mut self.young);
        }
    }

    pub(super) fn unvouched(&self) -> u64 {
        self.chain.count() - self.vouched
    }
}

fn read_version(
    connection: &Connection,
    stream: StreamId,
    write_behind: &WriteBehind,
) -> Result<u64, rusqlite::Error> {
    let last = match write_behind.last_of(stream) {
        // The table does not know the newest commit yet.
        Some(position) => Some(position),
        // In two steps, as most streams that are asked for are new, and have none.
        None => last_position(connection, stream)?,
    };
    let Some(last) = last else { return Ok(0) };
    // A commit that is not there is an error, and not the beginning of another history.
    connection
        .prepare_cached("SELECT first + n - 1 FROM journal WHERE global = ?1 AND stream = ?2")?
        .query_row(params![last.global as i64, columns::stream(stream)], |row| row.get::<_, i64>(0))
        .map(|version| version as u64)
}

#[cfg(test)]
mod tests {
    use domain::id::SessionId;

    use super::super::commit_index::CommitPosition;
    use super::super::rows::Rows;
    use super::*;

    #[test]
    fn a_forgotten_version_is_looked_up_and_a_remembered_one_is_not() {
        let connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&connection).unwrap();
        let write_behind = WriteBehind::default();
        let mut head = Head::read(&connection).unwrap();
        let stream = |number: usize| StreamId::Session(SessionId::new(1, number as u128));
        let version = |head: &mut Head, number: usize| {
            head.version(&connection, stream(number), &write_behind).unwrap()
        };
        head.advance(head.chain, stream(0), 7, 1, 5);
        assert_eq!(version(&mut head, 0), 7);
        for number in 1..=2 * STREAMS_MAX {
            assert_eq!(version(&mut head, number), 0);
        }
        // By now it is forgotten, and the empty journal knows nothing of it.
        assert_eq!(version(&mut head, 0), 0);
        assert!(head.young.len() + head.old.len() <= 2 * STREAMS_MAX);
    }

    #[test]
    fn a_version_that_the_table_does_not_know_yet_is_looked_up_where_the_shelf_says() {
        let connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&connection).unwrap();
        let stream = StreamId::Session(SessionId::new(1, 1));
        let journal = "INSERT INTO journal (global, stream, first, n, seq, at, hash, bytes) \
                       VALUES (5, ?1, 3, 4, 2, 0, x'00', x'00')";
        connection.execute(journal, params![columns::stream(stream)]).unwrap();
        let mut rows = Rows::default();
        rows.positions.insert(stream, vec![CommitPosition { first: 3, global: 5 }]);
        let write_behind = WriteBehind::default();
        write_behind.put(8, |pending| pending.merge(rows));
        assert_eq!(read_version(&connection, stream, &write_behind).unwrap(), 6);
        assert_eq!(read_version(&connection, stream, &WriteBehind::default()).unwrap(), 0);
    }
}
