//! Where the commits of a stream are. Those that come to the table together are one row of it, as most
//! streams get several at once: the first in its own columns, and of each other one how far it is from
//! the one before it.
//!
//! After a crash in the middle of writing them away they come once more, with those that followed: a
//! row may only ever become longer.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, Statement, params};

use super::columns;
use super::error::Failure;
use crate::record::Broken;
use domain::id::StreamId;

/// Where a commit is: its first event in its stream, and among all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitPosition {
    pub(super) first: u64,
    pub(super) global: u64,
}

/// Never another commit in a position that has one: that would be two histories. So what is there must be
/// how the new row begins. (`substr` makes NULL of nothing, so nothing has to be asked for apart.)
pub(super) const WRITE_POSITIONS: &str = concat!(
    "INSERT INTO streams (stream, first, global, more) VALUES (?1, ?2, ?3, ?4) ",
    "ON CONFLICT (stream, first) DO UPDATE SET ",
    "global = iif(global = excluded.global, global, NULL), ",
    // mutant: two-commits-in-one-place
    "more = iif(more = x'' OR substr(excluded.more, 1, length(more)) = more, excluded.more, NULL)",
);

/// By [`WRITE_POSITIONS`]. Oldest first.
pub(super) fn put_positions(
    write: &mut Statement<'_>,
    stream: StreamId,
    positions: &[CommitPosition],
) -> Result<(), rusqlite::Error> {
    let Some(first) = positions.first() else { return Ok(()) };
    let (first, global) = (first.first as i64, first.global as i64);
    write.execute(params![columns::stream(stream), first, global, pack_rest(positions)]).map(drop)
}

fn pack_rest(positions: &[CommitPosition]) -> Vec<u8> {
    let mut more = Vec::with_capacity(positions.len() * 4);
    for pair in positions.windows(2) {
        push(&mut more, pair[1].first - pair[0].first);
        push(&mut more, pair[1].global - pair[0].global);
    }
    more
}

/// Seven bits in a byte, the lowest first; the eighth says that there are more.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for index in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// All positions of a row with the columns `first`, `global` and `more`.
fn read_positions(row: &Row<'_>) -> Result<Vec<CommitPosition>, Failure> {
    let first = CommitPosition {
        first: row.get::<_, i64>(0)? as u64,
        global: row.get::<_, i64>(1)? as u64,
    };
    Ok(unpack_positions(first, row.get_ref(2)?.as_blob()?)?)
}

fn unpack_positions(first: CommitPosition, mut more: &[u8]) -> Result<Vec<CommitPosition>, Broken> {
    let damaged = || Broken::Damaged("the positions of a stream make no sense".into());
    let mut positions = vec![first];
    let mut last = first;
    let next = |last: u64, more: &mut &[u8]| last.checked_add(take(more).filter(|by| *by > 0)?);
    while !more.is_empty() {
        let first = next(last.first, &mut more).ok_or_else(damaged)?;
        let global = next(last.global, &mut more).ok_or_else(damaged)?;
        last = CommitPosition { first, global };
        positions.push(last);
    }
    Ok(positions)
}

/// Those in the table, beginning at the latest with the commit that holds the event after a position:
/// enough of them that so many have events after it, if there are so many.
pub(super) fn positions_after(
    connection: &Connection,
    stream: StreamId,
    after: u64,
    enough: usize,
) -> Result<Vec<CommitPosition>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT first, global, more FROM streams WHERE stream = ?1 AND first >= coalesce(\
             (SELECT max(first) FROM streams WHERE stream = ?1 AND first <= ?2 + 1), 0) \
         ORDER BY first",
    )?;
    let mut rows = statement.query(params![columns::stream(stream), after as i64])?;
    let (mut found, mut later) = (Vec::new(), 0);
    while later < enough
        && let Some(row) = rows.next()?
    {
        let positions = read_positions(row)?;
        later += positions.iter().filter(|position| position.first > after).count();
        found.extend(positions);
    }
    Ok(found)
}

/// The last one in the table.
pub(super) fn last_position(
    connection: &Connection,
    stream: StreamId,
) -> Result<Option<CommitPosition>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT first, global, more FROM streams WHERE stream = ?1 ORDER BY first DESC LIMIT 1",
        )?
        .query_row(params![columns::stream(stream)], |row| match read_positions(row) {
            Ok(positions) => Ok(positions.last().copied()),
            Err(Failure::Sqlite(error)) => Err(error),
            Err(Failure::Broken(broken)) => {
                Err(rusqlite::Error::FromSqlConversionFailure(2, Type::Blob, Box::new(broken)))
            }
        })
        .optional()
        .map(Option::flatten)
}

#[cfg(test)]
mod tests {
    use domain::id::SessionId;
    use proptest::prelude::*;

    use super::super::schema;
    use super::*;

    const STREAM: StreamId = StreamId::Session(SessionId(domain::id::Bits(7)));

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        schema::migrate(&connection).unwrap();
        connection
    }

    fn at(first: u64, global: u64) -> CommitPosition {
        CommitPosition { first, global }
    }

    fn put(connection: &Connection, positions: &[CommitPosition]) -> Result<(), rusqlite::Error> {
        put_positions(&mut connection.prepare(WRITE_POSITIONS).unwrap(), STREAM, positions)
    }

    fn all(connection: &Connection) -> Vec<CommitPosition> {
        positions_after(connection, STREAM, 0, usize::MAX).unwrap()
    }

    proptest! {
        #[test]
        fn any_positions_are_read_again(
            begin in (1_u64..1 << 40, 1_u64..1 << 62),
            steps in prop::collection::vec((1_u64..1 << 20, 1_u64..1 << 50), 0..40),
        ) {
            let mut expected = vec![at(begin.0, begin.1)];
            for (first, global) in steps {
                let last = expected[expected.len() - 1];
                expected.push(at(last.first + first, last.global + global));
            }
            let written = pack_rest(&expected);
            prop_assert_eq!(&unpack_positions(expected[0], &written).unwrap(), &expected);
            // What is cut off or damaged is an error or something else, never a panic.
            for end in 0..written.len() {
                if let Ok(fewer) = unpack_positions(expected[0], &written[..end]) {
                    prop_assert_eq!(&expected[..fewer.len()], &fewer);
                }
            }
        }

        #[test]
        fn strange_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = unpack_positions(at(1, 1), &bytes);
        }
    }

    #[test]
    fn what_makes_no_sense_is_damaged() {
        for more in [&[1][..], &[0, 1], &[1, 0], &[0x81], &[1, 0x80], &[0xff; 12]] {
            assert!(
                matches!(unpack_positions(at(1, 1), more), Err(Broken::Damaged(_))),
                "{more:?}"
            );
        }
        assert!(unpack_positions(at(u64::MAX, 1), &[1, 1]).is_err());
        let connection = database();
        put(&connection, &[at(1, 5), at(3, 9)]).unwrap();
        connection.execute("UPDATE streams SET more = x'01'", []).unwrap();
        assert!(matches!(positions_after(&connection, STREAM, 0, 9), Err(Failure::Broken(_))));
        assert!(last_position(&connection, STREAM).is_err());
    }

    #[test]
    fn many_are_one_row_and_are_found_from_any_of_them_on() {
        let connection = database();
        assert_eq!(last_position(&connection, STREAM).unwrap(), None);
        put(&connection, &[at(1, 5), at(3, 9), at(4, 400)]).unwrap();
        put(&connection, &[at(9, 1_000), at(10, 2_000)]).unwrap();
        let rows: i64 =
            connection.query_row("SELECT count(*) FROM streams", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2);
        let expected = [at(1, 5), at(3, 9), at(4, 400), at(9, 1_000), at(10, 2_000)];
        let found = |after, enough| positions_after(&connection, STREAM, after, enough).unwrap();
        for after in 0..8 {
            assert_eq!(found(after, 9), expected);
        }
        assert_eq!(found(8, 9), expected[3..]);
        assert_eq!(found(99, 9), expected[3..]);
        assert_eq!(found(0, 3), expected[..3], "no further than it has to");
        assert_eq!(found(1, 3), expected, "the first of them has none");
        assert_eq!(last_position(&connection, STREAM).unwrap(), Some(at(10, 2_000)));
    }

    #[test]
    fn the_same_again_or_with_more_is_taken_and_another_history_is_not() {
        let connection = database();
        let positions = [at(1, 5), at(3, 9), at(4, 400), at(9, 1_000)];
        put(&connection, &positions[..1]).unwrap();
        for end in [1, 1, 3, 3, 4] {
            put(&connection, &positions[..end]).unwrap();
            assert_eq!(all(&connection), positions[..end]);
        }
        let others: [&[CommitPosition]; 5] = [
            &[at(1, 6), at(3, 9), at(4, 400), at(9, 1_000)],
            &[at(1, 5), at(3, 9), at(4, 401), at(9, 1_000)],
            &[at(1, 5), at(2, 9), at(4, 400), at(9, 1_000)],
            &[at(1, 5), at(3, 9), at(4, 400), at(9, 999), at(11, 2_000)],
            // The journal never becomes shorter.
            &positions[..3],
        ];
        for other in others {
            assert!(put(&connection, other).is_err(), "{other:?}");
            assert_eq!(all(&connection), positions);
        }
    }
}
