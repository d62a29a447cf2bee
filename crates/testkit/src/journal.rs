//! The database as it lies on disk, read without the help of the program that wrote it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

/// One commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub global: u64,
    pub first: u64,
    pub count: u64,
    pub seq: u64,
    pub hash: Vec<u8>,
    pub stream: String,
    /// Each an object with one key, the event's name.
    pub events: Vec<Value>,
}

/// A database that can be read.
#[derive(Debug)]
pub struct Journal {
    connection: Connection,
    /// Where a copy lies.
    _folder: Option<TempDir>,
}

impl Journal {
    /// Opens a database that nobody writes any more.
    pub fn open(file: &Path) -> Result<Journal, String> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
        Ok(Journal { connection: connection.map_err(said)?, _folder: None })
    }

    /// Opens a copy, so that what a crash left is found untouched by the program's next start.
    pub fn open_copy(file: &Path) -> Result<Journal, String> {
        let folder = tempfile::tempdir().map_err(said)?;
        let copy = folder.path().join("copy.db");
        for end in ["", "-wal"] {
            let from = with_end(file, end);
            if from.exists() {
                std::fs::copy(&from, with_end(&copy, end)).map_err(said)?;
            }
        }
        Ok(Journal { connection: Connection::open(&copy).map_err(said)?, _folder: Some(folder) })
    }

    /// What was committed after this position.
    pub fn after(&self, global: u64) -> Result<Vec<Row>, String> {
        let sql = "SELECT global, first, n, seq, hash, bytes FROM journal WHERE global > ?1 ORDER BY global";
        let mut statement = self.connection.prepare(sql).map_err(said)?;
        let rows = statement.query_map([global as i64], |row| {
            let number = |index| row.get::<_, i64>(index).map(|number| number as u64);
            let bytes: Vec<u8> = row.get(5)?;
            Ok((number(0)?, number(1)?, number(2)?, number(3)?, row.get(4)?, bytes))
        });
        let mut found = Vec::new();
        for row in rows.map_err(said)? {
            let (global, first, count, seq, hash, bytes) = row.map_err(said)?;
            let mut record: Value = serde_json::from_slice(&bytes).map_err(said)?;
            let stream = record["stream"].as_str().unwrap_or_default().to_owned();
            let events = match record["events"].take() {
                Value::Array(events) => events,
                _ => Vec::new(),
            };
            found.push(Row { global, first, count, seq, hash, stream, events });
        }
        Ok(found)
    }

    /// The hash of the commit at this position.
    pub fn hash_at(&self, global: u64) -> Option<Vec<u8>> {
        let sql = "SELECT hash FROM journal WHERE global = ?1";
        self.connection.query_row(sql, [global as i64], |row| row.get(0)).ok()
    }

    /// Whether a reply was kept under this idempotency key: then what it answers is on disk, too.
    pub fn has_reply(&self, key: &str) -> bool {
        let sql = "SELECT 1 FROM replies WHERE key = ?1";
        self.connection.query_row(sql, [key], |_| Ok(())).is_ok()
    }

    /// SQLite's own opinion.
    pub fn integrity(&self) -> Result<(), String> {
        let check = "PRAGMA integrity_check";
        let answer: String =
            self.connection.query_row(check, [], |row| row.get(0)).map_err(said)?;
        if answer == "ok" { Ok(()) } else { Err(answer) }
    }
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// What is wrong with the numbers of a whole journal: entries, positions among all events, and
/// positions in each stream are counted from 1 without a gap.
pub fn gaps(rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    let mut next = 1;
    let mut streams = std::collections::BTreeMap::<&str, u64>::new();
    for (row, seq) in rows.iter().zip(1..) {
        let mut expect = |what: &str, is: u64, should: u64| {
            if is != should {
                found.push(format!(
                    "journal: {what} {is} stands where {should} should ({})",
                    row.stream
                ));
            }
        };
        let in_stream = streams.entry(&row.stream).or_insert(1);
        expect("entry", row.seq, seq);
        expect("global position", row.global, next);
        expect("stream position", row.first, *in_stream);
        expect("event count", row.count, row.events.len() as u64);
        next = row.global + row.count;
        *in_stream = row.first + row.count;
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(seq: u64, global: u64, stream: &str, first: u64, events: usize) -> Row {
        let events: Vec<Value> = vec![json!({"run_paused": {}}); events];
        let count = events.len() as u64;
        Row { global, first, count, seq, hash: Vec::new(), stream: stream.into(), events }
    }

    #[test]
    fn gaps_of_every_kind_are_found() {
        let sound = [row(1, 1, "house", 1, 1), row(2, 2, "ses_a", 1, 2), row(3, 4, "ses_a", 3, 1)];
        assert_eq!(gaps(&sound), Vec::<String>::new());
        for (index, broken) in [
            (0, row(1, 2, "house", 1, 1)),
            (1, row(3, 2, "ses_a", 1, 2)),
            (1, row(2, 2, "ses_a", 2, 2)),
            (2, row(3, 4, "ses_a", 4, 1)),
        ] {
            let mut rows = sound.clone();
            rows[index] = broken;
            assert!(!gaps(&rows).is_empty(), "{rows:?}");
        }
        assert!(!gaps(&sound[1..]).is_empty());
    }
}
