//! Signed checkpoints in a file outside of the data directory. Whoever cuts the end off the database, or puts an
//! older copy in its place, would have to change that file, too: the next start compares.
//!
//! What happened after the last checkpoint (at most 1,000 entries, or the last second before a quiet moment)
//! is not covered.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use audit::{Checkpoint, PublicKey};
use rusqlite::{Connection, params};

use super::directory::OpenError;
use super::reads;

pub(super) struct KeptCheckpoints {
    path: PathBuf,
    /// Entries that the last line vouches for.
    count: u64,
}

impl KeptCheckpoints {
    /// Refuses a journal that is not the one which the last kept checkpoint vouches for.
    pub(super) fn open(
        path: &Path,
        connection: &Connection,
        key: &PublicKey,
    ) -> Result<KeptCheckpoints, OpenError> {
        let refused = |why: String| OpenError::LogCut { path: path.to_owned(), why };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(OpenError::io(path, error)),
        };
        // The last line may be half a line: the machine stopped while it was written.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let mut last: Option<Checkpoint> = None;
        for line in whole {
            let checkpoint: Checkpoint = line
                .trim()
                .parse()
                .map_err(|_| refused("it has a line that is no checkpoint".into()))?;
            if !checkpoint.is_signed_by(key) {
                return Err(refused("it vouches for the log of other data".into()));
            }
            if last.as_ref().is_none_or(|last| last.count < checkpoint.count) {
                last = Some(checkpoint);
            }
        }
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
        let count = last.map_or(0, |last| last.count);
        let kept = KeptCheckpoints { path: path.to_owned(), count };
        // Better now than in the middle of the night.
        kept.file().map_err(|error| OpenError::io(path, error))?;
        Ok(kept)
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

#[cfg(test)]
mod tests {
    use ports::store::Store as _;

    use super::super::SqliteStore;
    use super::*;
    use crate::conformance::stage::{audience, hold, hold_id, node, open_outside, person};

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
        let open = |data: &Path| SqliteStore::open_with(data, node(1), Some(&kept));
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
        let other = folder.path().join("other");
        assert!(open(&other).unwrap_err().to_string().contains("other data"));
    }
}
