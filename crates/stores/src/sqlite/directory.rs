//! The data directory: who may use it, and the key that signs its log.
//!
//! `holdpoint.db` (and its `-wal` and `-shm` while it is open), `lock`, `audit.key`, `sealing.key`.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use audit::Signer;

use super::connection::Unsafe;
use super::schema::SCHEMA_VERSION;
use crate::sealing::{SealingKeyId, SealingKeys, lacking};

/// The name of the database file in it.
pub(super) const DATABASE: &str = "holdpoint.db";

/// Why the data cannot be used; a variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "another Holdpoint server is using {}; stop it, or give this one another data directory",
        path.display()
    )]
    InUse { path: PathBuf },
    #[error(
        "{} cannot be written to ({why}); make it writable for the user that runs Holdpoint, or \
         choose another data directory",
        path.display()
    )]
    CannotWrite { path: PathBuf, why: io::Error },
    #[error("the disk with {} is full; free some space and start again", path.display())]
    DiskFull { path: PathBuf },
    #[error(
        "the disk with {} fails ({why}); see that it is sound and has free space, and start again",
        path.display()
    )]
    DiskFails { path: PathBuf, why: String },
    #[error(
        "{} is not a database of Holdpoint; move it away, or choose another data directory",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{} was written by a newer version of Holdpoint (schema {found}, and this one knows up to \
         {SCHEMA_VERSION}); run that version, or restore a backup from before the upgrade",
        path.display()
    )]
    Newer { path: PathBuf, found: i64 },
    #[error("{} is damaged: {why}; restore it from a backup", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error(
        "{} does not belong to this data: {why}; restore the key that was there from a backup, since \
         the signed log cannot be checked with another",
        path.display()
    )]
    Key { path: PathBuf, why: String },
    #[error(
        "{} would not be safe against a crash: {why}; put the data on a local disk",
        path.display()
    )]
    NotDurable { path: PathBuf, why: String },
    #[error("secrets in the store cannot be opened: {why}")]
    SealingKey { why: String },
    #[error(
        "the log in the data directory is not the one that {} vouches for: {why}. Its end was cut off, or an \
         older copy was restored; put the newest data back, or, if the older is meant, move that file away",
        path.display()
    )]
    LogCut { path: PathBuf, why: String },
    #[error("another program keeps {} locked; close it and start again", path.display())]
    Busy { path: PathBuf },
}

impl OpenError {
    pub(super) fn io(path: &Path, source: io::Error) -> OpenError {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => OpenError::DiskFull { path },
            _ => OpenError::CannotWrite { path, why: source },
        }
    }

    pub(super) fn sqlite(path: &Path, error: &rusqlite::Error) -> OpenError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => OpenError::Foreign { path },
            Some(ErrorCode::DiskFull) => OpenError::DiskFull { path },
            // No damage: what is on the disk may be whole, and a backup would be older.
            Some(ErrorCode::SystemIoFailure) => {
                OpenError::DiskFails { path, why: error.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                OpenError::CannotWrite { path, why: io::Error::other(error.to_string()) }
            }
            _ => OpenError::Damaged { path, why: error.to_string() },
        }
    }

    pub(super) fn not_durable(path: &Path, found: &Unsafe) -> OpenError {
        OpenError::NotDurable { path: path.to_owned(), why: found.to_string() }
    }
}

/// A data directory that is ours until this is dropped, or the process dies.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    pub(super) fn lock(path: &Path) -> Result<Directory, OpenError> {
        make(path).map_err(|error| OpenError::io(path, error))?;
        let private = |path: &Path| {
            let mut options = OpenOptions::new();
            options.create(true).append(true).mode(0o600);
            options.open(path).map_err(|error| OpenError::io(path, error))
        };
        let lock_path = path.join("lock");
        let lock = private(&lock_path)?;
        // mutant: a-lock-is-tried-once
        match lock_patiently(&lock) {
            Ok(()) => {
                let directory = Directory { path: path.to_owned(), _lock: lock };
                // SQLite gives its other files the mode of this one.
                private(&directory.database())?;
                Ok(directory)
            }
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(OpenError::io(&lock_path, error)),
        }
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    fn key(&self) -> PathBuf {
        self.path.join("audit.key")
    }

    /// The signing key; a new one only for new data.
    pub(super) fn signer(&self, known: Option<&[u8]>) -> Result<Signer, OpenError> {
        let path = self.key();
        let bad = |why: String| OpenError::Key { path: path.clone(), why };
        let signer = match fs::read(&path) {
            Ok(pkcs8) => Signer::load(&pkcs8).map_err(|error| bad(error.to_string()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if known.is_some() {
                    return Err(bad("it is missing".into()));
                }
                let (signer, pkcs8) = Signer::create().map_err(|error| bad(error.to_string()))?;
                self.keep(&path, &pkcs8).map_err(|error| OpenError::io(&path, error))?;
                signer
            }
            Err(error) => return Err(OpenError::io(&path, error)),
        };
        if known.is_some_and(|known| known != signer.public_key().to_string().as_bytes()) {
            return Err(bad("it is another key than the one that signed the log".into()));
        }
        Ok(signer)
    }

    pub(super) fn sealing_key(&self) -> PathBuf {
        self.path.join("sealing.key")
    }

    /// The keys that seal; a new one only where nothing is sealed.
    pub(super) fn sealing_keys(&self, needed: &[SealingKeyId]) -> Result<SealingKeys, OpenError> {
        let path = self.sealing_key();
        let bad = |why: String| OpenError::SealingKey { why: format!("{}: {why}", path.display()) };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound && needed.is_empty() => {
                let text = SealingKeys::generate()
                    .ok_or_else(|| bad("the system has no random numbers for a key".into()))?;
                self.keep(&path, text.as_bytes()).map_err(|error| OpenError::io(&path, error))?;
                text
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(bad(format!("the file is missing, and in it {}", lacking(needed))));
            }
            Err(error) => return Err(bad(format!("the file cannot be read ({error})"))),
        };
        SealingKeys::parse(&text).map_err(|error| bad(error.to_string()))
    }

    /// Whole or not at all: a half-written key would lock everybody out of their own data.
    fn keep(&self, path: &Path, key: &[u8]) -> io::Result<()> {
        let half = path.with_extension("key.new");
        let mut file =
            OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&half)?;
        file.write_all(key)?;
        file.sync_all()?;
        fs::rename(&half, path)?;
        File::open(&self.path)?.sync_all()
    }
}

/// A lock outlives its killed holder for a moment: a child that was being started shares it until it has
/// become another program. A longer wait means that the other server lives.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

fn lock_patiently(lock: &File) -> Result<(), TryLockError> {
    for _ in 1..LOCK_TRIES {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            tried => return tried,
        }
    }
    lock.try_lock()
}

/// Makes the directory, and its name safe: whatever is synced in it is lost with its name.
fn make(path: &Path) -> io::Result<()> {
    let missing = path.ancestors().take_while(|above| !above.as_os_str().is_empty());
    let missing = missing.take_while(|above| !above.is_dir()).count();
    // Transcripts and arguments are nobody else's business.
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    // One that was there may have been made just before a power cut, so its name is synced, too.
    for above in path.canonicalize()?.ancestors().skip(1).take(missing.max(1)) {
        match File::open(above) {
            Ok(above) => above.sync_all()?,
            // An operator who keeps us from reading it made the directory for us.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_key_is_made_once_and_only_its_owner_reads_it() {
        let data = tempfile::tempdir().unwrap();
        let directory = Directory::lock(data.path()).unwrap();
        let key = directory.signer(None).unwrap().public_key();
        let mode = fs::metadata(directory.key()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let known = key.to_string();
        assert_eq!(directory.signer(Some(known.as_bytes())).unwrap().public_key(), key);

        let error = directory.signer(Some(b"another")).unwrap_err().to_string();
        assert!(error.contains("another key"), "{error}");
        fs::remove_file(directory.key()).unwrap();
        let error = directory.signer(Some(known.as_bytes())).unwrap_err().to_string();
        assert!(error.contains("is missing") && error.contains("backup"), "{error}");
    }

    #[test]
    fn nobody_else_reads_the_data() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("deep/er");
        let directory = Directory::lock(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&directory.database())), (0o700, 0o600));
    }

    /// A server that was killed holds its lock for a moment longer, and the next one is started at once.
    #[test]
    fn a_lock_that_is_about_to_be_free_is_waited_for() {
        let data = tempfile::tempdir().unwrap();
        let held = Directory::lock(data.path()).unwrap();
        let (begin, began) = std::sync::mpsc::channel();
        let ending = std::thread::spawn(move || {
            began.recv().unwrap();
            std::thread::sleep(Duration::from_millis(300));
            drop(held);
        });
        begin.send(()).unwrap();
        Directory::lock(data.path()).expect("it is free soon");
        ending.join().unwrap();
    }

    #[test]
    fn a_child_process_does_not_keep_the_lock() {
        let data = tempfile::tempdir().unwrap();
        let held = Directory::lock(data.path()).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        drop(held);
        let lock = File::open(data.path().join("lock")).unwrap();
        let free = lock.try_lock();
        child.kill().unwrap();
        child.wait().unwrap();
        free.expect("the child has it");
    }

    #[test]
    fn every_cause_gets_its_remedy() {
        let path = Path::new("data");
        let said = |kind: ErrorKind| OpenError::io(path, kind.into()).to_string();
        assert!(said(ErrorKind::StorageFull).contains("free some space"));
        assert!(said(ErrorKind::ReadOnlyFilesystem).contains("make it writable"));
        assert!(said(ErrorKind::PermissionDenied).contains("make it writable"));
        let sqlite = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            OpenError::sqlite(path, &error).to_string()
        };
        assert!(sqlite(rusqlite::ffi::SQLITE_FULL).contains("free some space"));
        assert!(sqlite(rusqlite::ffi::SQLITE_IOERR).contains("has free space"));
        assert!(sqlite(rusqlite::ffi::SQLITE_READONLY).contains("make it writable"));
        assert!(sqlite(rusqlite::ffi::SQLITE_NOTADB).contains("not a database of Holdpoint"));
        assert!(sqlite(rusqlite::ffi::SQLITE_BUSY).contains("close it"));
        assert!(sqlite(rusqlite::ffi::SQLITE_CORRUPT).contains("restore it from a backup"));
    }
}
