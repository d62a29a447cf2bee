//! Signed checkpoints in a file outside of the data directory. Whoever cuts the end off the database, or puts an
//! older copy in its place, would have to change that file, too: the next start compares.
//!
//! What happened after the last checkpoint (at most 1,000 entries, or the last second before a quiet moment)
//! is not covered.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use audit::{Checkpoint, PublicKey};
use rusqlite::{Connection, params};

use super::directory::OpenError;
use super::reads;

/// No checkpoint is longer.
const LINE_BYTES_MAX: usize = 4 << 10;

pub(super) struct KeptCheckpoints {
    path: PathBuf,
    /// Entries that the last line vouches for.
    count: u64,
    /// Entries that were signed before, where no line vouches for any.
    unvouched: Option<u64>,
}

impl KeptCheckpoints {
    /// Refuses a journal that is not the one which the last kept checkpoint vouches for.
    pub(super) fn open(
        path: &Path,
        connection: &Connection,
        key: &PublicKey,
    ) -> Result<KeptCheckpoints, OpenError> {
        let refused = |why: String| OpenError::LogCut { path: path.to_owned(), why };
        let unreadable = |error| OpenError::io(path, error);
        // Better now than in the middle of the night.
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(unreadable)?;
        let end = Tail::read(&mut file).map_err(unreadable)?;
        // A line vouches for all entries before it, so the last is enough.
        let last = match &end.line {
            None => None,
            Some(line) => {
                let line = std::str::from_utf8(line).ok().and_then(|line| line.trim().parse().ok());
                let last: Checkpoint =
                    line.ok_or_else(|| refused("its last line is no checkpoint".into()))?;
                if !last.is_signed_by(key) {
                    return Err(refused("it vouches for the log of other data".into()));
                }
                Some(last)
            }
        };
        if let Some(last) = &last {
            let found = reads::audit(connection, last.count.saturating_sub(1), 1)
                .map_err(|failure| refused(ports::store::StoreError::from(failure).to_string()))?;
            match found.first() {
                Some(entry) if entry.seq == last.count && entry.hash == *last.head.as_bytes() => {}
                Some(entry) if entry.seq == last.count => {
                    return Err(refused(format!("entry {} of the log is another", last.count)));
                }
                _ => {
                    let why =
                        format!("it vouches for {} entries, and the log has fewer", last.count);
                    return Err(refused(why));
                }
            }
        }
        // The machine stopped while a line was written: the next one must not go on in its middle.
        if end.whole < end.length {
            file.set_len(end.whole).and_then(|()| file.sync_all()).map_err(unreadable)?;
        }
        let unvouched = match &last {
            Some(_) => None,
            None => signed(connection).map_err(|error| OpenError::sqlite(path, &error))?,
        };
        if let Some(entries) = unvouched {
            let path = path.display();
            tracing::warn!(
                %path,
                "no checkpoint is kept here, but {entries} entries of the log were signed before: \
                 nothing outside vouches for them. This is so at the first start with `[audit] \
                 checkpoints`; otherwise the file was removed"
            );
        }
        // Only what is signed from here on is kept: an old signature would hide that lines are missing.
        let count = last.map(|last| last.count).or(unvouched).unwrap_or(0);
        Ok(KeptCheckpoints { path: path.to_owned(), count, unvouched })
    }

    /// How many entries were signed before the file had any line.
    pub(super) fn unvouched(&self) -> Option<u64> {
        self.unvouched
    }

    /// After a checkpoint is on disk. That it cannot be kept elsewhere stops nobody.
    pub(super) fn keep(&mut self, connection: &Connection, vouched: u64) {
        if vouched <= self.count {
            return;
        }
        match self.append(connection, vouched) {
            Ok(()) => self.count = vouched,
            Err(error) => {
                let path = self.path.display();
                tracing::error!(%error, %path, "a checkpoint of the log cannot be kept outside");
            }
        }
    }

    fn append(&self, connection: &Connection, vouched: u64) -> io::Result<()> {
        let bytes: Vec<u8> = connection
            .prepare_cached("SELECT bytes FROM checkpoints WHERE seq = ?1")
            .and_then(|mut found| found.query_row(params![vouched as i64], |row| row.get(0)))
            .map_err(io::Error::other)?;
        let mut file = self.file()?;
        file.write_all(&[&bytes[..], b"\n"].concat())?;
        file.sync_data()
    }

    fn file(&self) -> io::Result<fs::File> {
        OpenOptions::new().create(true).append(true).open(&self.path)
    }
}

fn signed(connection: &Connection) -> Result<Option<u64>, rusqlite::Error> {
    let last = connection
        .query_row("SELECT max(seq) FROM checkpoints", [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(last.map(|last| last as u64))
}

/// The end of the file: it may have grown for years, and is never read whole.
struct Tail {
    length: u64,
    /// Up to the last line break.
    whole: u64,
    /// The last whole line, or as much of its end as is looked at.
    line: Option<Vec<u8>>,
}

impl Tail {
    fn read(file: &mut fs::File) -> io::Result<Tail> {
        let length = file.seek(SeekFrom::End(0))?;
        // Half a line and a whole one.
        let begin = length.saturating_sub(2 * LINE_BYTES_MAX as u64);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(length - begin).read_to_end(&mut bytes)?;
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            // Nothing but half a line, unless it is no file of ours.
            let line = (begin > 0).then_some(bytes);
            return Ok(Tail { length, whole: 0, line });
        };
        let before = bytes[..end].iter().rposition(|byte| *byte == b'\n');
        let line = bytes[before.map_or(0, |before| before + 1)..end].to_vec();
        Ok(Tail { length, whole: begin + end as u64 + 1, line: Some(line) })
    }
}

#[cfg(test)]
mod tests {
    use ports::store::Store as _;

    use super::super::{SqliteOptions, SqliteStore};
    use super::*;
    use crate::conformance::stage::{audience, hold, hold_id, node, open_outside, person};

    fn vouched(file: &Path) -> SqliteOptions {
        SqliteOptions { checkpoints: Some(file.to_owned()), ..SqliteOptions::default() }
    }

    async fn add(store: &SqliteStore, number: u128) {
        let hold = hold(hold_id(number), None, person("eve"), audience(&["ana"], &[]));
        store.commit(open_outside(hold)).await.unwrap();
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for file in ["holdpoint.db", "audit.key"] {
            fs::copy(from.join(file), to.join(file)).unwrap();
        }
    }

    #[tokio::test]
    async fn i43_a_log_that_was_cut_by_hand_is_noticed_by_what_was_kept_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (data, kept) = (folder.path().join("data"), folder.path().join("checkpoints.jsonl"));
        let old = folder.path().join("old");
        let open = |data: &Path| SqliteStore::open_with(data, node(1), &vouched(&kept));
        let store = open(&data).unwrap();
        add(&store, 1).await;
        store.close().await;
        copy(&data, &old);
        let store = open(&data).unwrap();
        add(&store, 2).await;
        store.close().await;
        assert_eq!(fs::read_to_string(&kept).unwrap().lines().count(), 2);
        open(&data).unwrap().close().await;

        // The database before the second entry is sound in itself: without the file nobody notices.
        SqliteStore::open(&old, node(1)).unwrap().close().await;
        let error = open(&old).unwrap_err();
        assert!(matches!(error, OpenError::LogCut { .. }), "{error}");
        assert!(error.to_string().contains("vouches for 2 entries"), "{error}");

        // Another second entry.
        let store = SqliteStore::open(&old, node(1)).unwrap();
        add(&store, 3).await;
        store.close().await;
        assert!(open(&old).unwrap_err().to_string().contains("entry 2 of the log is another"));

        // Half a line was being written when the machine stopped.
        let text = fs::read_to_string(&kept).unwrap();
        fs::write(&kept, format!("{text}{}", &text[..20])).unwrap();
        open(&data).unwrap().close().await;
        // And the next checkpoint has a line of its own.
        let store = open(&data).unwrap();
        add(&store, 4).await;
        store.close().await;
        open(&data).unwrap().close().await;
        let text = fs::read_to_string(&kept).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line.parse::<Checkpoint>().is_ok()), "{text}");

        let other = folder.path().join("other");
        assert!(open(&other).unwrap_err().to_string().contains("other data"));
    }

    #[tokio::test]
    async fn i43_a_file_of_checkpoints_that_is_gone_does_not_go_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let (data, kept) = (folder.path().join("data"), folder.path().join("checkpoints.jsonl"));
        let open = || SqliteStore::open_with(&data, node(1), &vouched(&kept)).unwrap();
        let store = open();
        assert_eq!(store.unvouched_entries(), None, "there is nothing yet to vouch for");
        add(&store, 1).await;
        store.close().await;
        let store = open();
        assert_eq!(store.unvouched_entries(), None);
        store.close().await;
        fs::remove_file(&kept).unwrap();
        // Twice: the first look must not hide it from the second.
        for _ in 0..2 {
            let store = open();
            assert_eq!(store.unvouched_entries(), Some(1));
            store.close().await;
        }
    }

    #[test]
    fn only_the_end_of_a_long_file_is_read() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let tail = |text: &str| {
            fs::write(path.path(), text).unwrap();
            let mut file = fs::File::open(path.path()).unwrap();
            let Tail { length, whole, line } = Tail::read(&mut file).unwrap();
            assert_eq!(length, text.len() as u64);
            (whole, line.map(|line| String::from_utf8(line).unwrap()))
        };
        assert_eq!(tail(""), (0, None));
        assert_eq!(tail("hal"), (0, None));
        assert_eq!(tail("one\n"), (4, Some("one".into())));
        assert_eq!(tail("one\ntwo\nhal"), (8, Some("two".into())));
        let long = format!("{}\nlast\nhalf", "x".repeat(1 << 20));
        assert_eq!(tail(&long), ((1 << 20) + 6, Some("last".into())));
        let (_, line) = tail(&"x".repeat(1 << 20));
        assert!(line.is_some(), "it is no checkpoint, and not taken for half of one");
    }
}
