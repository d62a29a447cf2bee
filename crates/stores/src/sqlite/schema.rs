//! The tables, and how they came to be what they are.

use rusqlite::Connection;

/// Each is run once, in order. They are never edited; a change is a new file.
const MIGRATIONS: [&str; 13] = [
    include_str!("migrations/0001_begin.sql"),
    include_str!("migrations/0002_inbox.sql"),
    include_str!("migrations/0003_tables_follow.sql"),
    include_str!("migrations/0004_sealed.sql"),
    include_str!("migrations/0005_notes.sql"),
    include_str!("migrations/0006_homes.sql"),
    include_str!("migrations/0007_since.sql"),
    include_str!("migrations/0008_places.sql"),
    include_str!("migrations/0009_login_origins.sql"),
    include_str!("migrations/0010_outbox.sql"),
    include_str!("migrations/0011_lists.sql"),
    include_str!("migrations/0012_files.sql"),
    include_str!("migrations/0013_sealed_values.sql"),
];

/// The version that this program writes, and the newest that it knows.
pub(super) const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// "Hold", in the header of the file: says that a database is ours.
const APPLICATION_ID: i64 = 0x486f_6c64;

/// What kind of file this is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    Empty,
    Ours { version: i64 },
    Foreign,
}

pub(super) fn kind(connection: &Connection) -> Result<DatabaseKind, rusqlite::Error> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let version = pragma("user_version")?;
    if pragma("application_id")? == APPLICATION_ID {
        return Ok(DatabaseKind::Ours { version });
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if tables == 0 && version == 0 { DatabaseKind::Empty } else { DatabaseKind::Foreign })
}

/// Brings a database of ours up to date: all missing steps, or none.
pub(super) fn migrate(connection: &Connection) -> Result<(), rusqlite::Error> {
    let current =
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
    if current == SCHEMA_VERSION {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let steps = || {
        for step in &MIGRATIONS[current.max(0) as usize..] {
            connection.execute_batch(step)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        connection.execute_batch("COMMIT")
    };
    steps().inspect_err(|_| {
        // The first error is the one to tell; a failed rollback ends with the connection.
        let _ = connection.execute_batch("ROLLBACK");
    })
}

/// Data as an older version left it.
#[cfg(test)]
pub(super) fn migrate_to(connection: &Connection, version: usize) -> Result<(), rusqlite::Error> {
    MIGRATIONS[..version].iter().try_for_each(|step| connection.execute_batch(step))?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", version as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> domain::time::Timestamp {
        domain::time::Timestamp::from_ms(ms)
    }

    #[test]
    fn an_empty_file_becomes_ours_once() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(kind(&connection).unwrap(), DatabaseKind::Empty);
        migrate(&connection).unwrap();
        assert_eq!(kind(&connection).unwrap(), DatabaseKind::Ours { version: SCHEMA_VERSION });
        migrate(&connection).unwrap();
    }

    #[test]
    fn a_database_of_the_first_version_keeps_what_is_in_it() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        let hold = "INSERT INTO holds (id, state, kind, risk, audience, opened_in) \
                    VALUES (x'01', 0, 0, 0, '|r:dba|', 7)";
        connection.execute_batch(hold).unwrap();
        migrate(&connection).unwrap();
        assert_eq!(kind(&connection).unwrap(), DatabaseKind::Ours { version: SCHEMA_VERSION });
        // From the index alone, which is new.
        let text = |sql: &str, column| {
            connection.query_row(sql, [], |row| row.get::<_, String>(column)).unwrap()
        };
        let inbox = "SELECT audience FROM holds INDEXED BY holds_pending WHERE state = 0";
        assert_eq!(text(inbox, 0), "|r:dba|");
        let plan = text(&format!("EXPLAIN QUERY PLAN {inbox}"), 3);
        assert!(plan.contains("COVERING INDEX holds_pending"), "{plan}");
    }

    #[test]
    fn what_was_written_before_the_tables_followed_is_found() {
        let connection = Connection::open_in_memory().unwrap();
        for step in &MIGRATIONS[..2] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 2).unwrap();
        let rows = "INSERT INTO journal (global, stream, first, n, seq, at, hash, bytes) VALUES
            (1, x'4801', 1, 2, 1, 0, x'00', x'00'), (3, x'4802', 1, 1, 2, 0, x'00', x'00'),
            (4, x'4801', 3, 3, 3, 0, x'00', x'00')";
        connection.execute_batch(rows).unwrap();
        migrate(&connection).unwrap();
        let positions: i64 = connection
            .query_row(
                "SELECT count(*) FROM streams s JOIN journal j USING (stream, first, global)",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(positions, 3);
        assert_eq!(
            super::super::write_behind::tables_at(&connection).unwrap(),
            6,
            "and none is behind"
        );
    }

    #[test]
    fn places_that_were_written_alone_come_again_in_company() {
        let connection = Connection::open_in_memory().unwrap();
        for step in &MIGRATIONS[..7] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 7).unwrap();
        // A crash between two parts: some are ahead of what the tables are true for.
        let rows = "UPDATE meta SET value = 4 WHERE key = 'tables_at';
            INSERT INTO streams (stream, first, global) VALUES
                (x'48', 1, 1), (x'48', 2, 3), (x'48', 3, 5), (x'48', 4, 6)";
        connection.execute_batch(rows).unwrap();
        migrate(&connection).unwrap();
        let left = super::super::commit_index::positions_after(
            &connection,
            domain::id::StreamId::Global,
            0,
            9,
        );
        let left: Vec<_> =
            left.unwrap().iter().map(|position| (position.first, position.global)).collect();
        assert_eq!(left, [(1, 1), (2, 3)], "the rest is in the journal");
    }

    #[test]
    fn callbacks_that_were_not_sent_yet_are_in_the_outbox() {
        let connection = Connection::open_in_memory().unwrap();
        for step in &MIGRATIONS[..9] {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", 9).unwrap();
        let rows = "INSERT INTO deliveries (key, hold, due_at, attempts) VALUES
            ('a', x'00112233445566778899aabbccddeeff', 20, 3), ('b', x'01', 10, 0)";
        connection.execute_batch(rows).unwrap();
        migrate(&connection).unwrap();
        let found = super::super::outbox::items(&connection, "callbacks", at(20), 9).unwrap();
        let keys: Vec<_> = found.iter().map(|item| (item.key.as_str(), item.attempts)).collect();
        assert_eq!(keys, [("b", 0), ("a", 3)]);
        assert_eq!(found[1].payload, 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes());
        assert_eq!(found[1].kind, ports::store::OutboxKind::Callback);
        let lanes = super::super::outbox::lanes(&connection, "callbacks", false, 9).unwrap();
        let lanes: Vec<_> = lanes.iter().map(|due| (&*due.lane.name, due.due_at)).collect();
        assert_eq!(lanes, [("b", at(10)), ("a", at(20))]);
    }

    #[test]
    fn somebody_elses_database_is_foreign() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(kind(&connection).unwrap(), DatabaseKind::Foreign);
    }
}
