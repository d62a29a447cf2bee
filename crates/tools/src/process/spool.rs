//! Where attempts leave their traces: one folder each, readable by us alone.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::record::{ExitRecord, FirstRecord};
use super::spool_file::{create_spool_file, open_spool_file, read_record, sync_dir};
use crate::limits::SPOOL_KEPT;
use crate::stopwatch::file_age;

/// A folder for the attempts of this machine.
#[derive(Clone, Debug)]
pub struct Spool {
    root: PathBuf,
}

impl Spool {
    pub fn open(root: impl Into<PathBuf>) -> io::Result<Spool> {
        let root = root.into();
        DirBuilder::new().recursive(true).mode(0o700).create(&root)?;
        let root = root.canonicalize()?;
        // A synced file is lost with its folder, so the folder's own name is synced too.
        sync_dir(root.parent().unwrap_or(&root))?;
        Ok(Spool { root })
    }

    pub(crate) fn attempt(&self, key: &str, attempt: u32) -> SpooledAttempt {
        SpooledAttempt { dir: self.root.join(format!("{key}-{attempt}")) }
    }

    pub(crate) fn all_attempts(&self) -> Vec<SpooledAttempt> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Vec::new() };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir())
            .map(|dir| SpooledAttempt { dir })
            .collect()
    }

    pub(crate) fn attempts_of(&self, key: &str) -> impl Iterator<Item = SpooledAttempt> + use<> {
        let prefix = format!("{key}-");
        self.all_attempts().into_iter().filter(move |attempt| {
            attempt
                .dir
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| name.starts_with(&prefix))
        })
    }
}

/// The traces of one attempt at one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpooledAttempt {
    dir: PathBuf,
}

const ANNOUNCED: &str = "announced";
const STARTED: &str = "started";
const EXIT: &str = "exit";
const PID: &str = "pid";
pub(crate) const STDOUT: &str = "stdout";
pub(crate) const STDERR: &str = "stderr";

impl SpooledAttempt {
    pub(crate) fn in_folder(dir: PathBuf) -> SpooledAttempt {
        SpooledAttempt { dir }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.dir
    }

    /// Makes the folder, and says in it that nothing has begun; false if there is a folder already.
    pub(crate) fn announce(&self) -> io::Result<bool> {
        // An empty one is left of an announcement for which the disk had no room: its intent was not written
        // either, or its executor lives and has not begun.
        if !self.make_folder()? && fs::read_dir(&self.dir)?.next().is_some() {
            return Ok(false);
        }
        create_spool_file(&self.dir.join(ANNOUNCED))?.sync_all()?;
        sync_dir(&self.dir)?;
        Ok(true)
    }

    /// Whether the attempt had not begun when this looked. A party that writes the first record
    /// afterwards knows that it still has not.
    pub(crate) fn is_announced(&self) -> bool {
        self.dir.join(ANNOUNCED).symlink_metadata().is_ok_and(|meta| meta.is_file())
    }

    pub(crate) fn make_folder(&self) -> io::Result<bool> {
        match DirBuilder::new().mode(0o700).create(&self.dir) {
            Ok(()) => sync_dir(self.dir.parent().unwrap_or_else(|| Path::new("/"))).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the first record, durably; false if there is one already. The party that gets `true`
    /// decides whether the attempt happens.
    pub(crate) fn say_first(&self, word: &FirstRecord) -> io::Result<bool> {
        let draft = self.write_draft(STARTED, word)?;
        // A link, unlike a rename, fails if the name is taken.
        let said = match fs::hard_link(&draft, self.dir.join(STARTED)) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        let _ = fs::remove_file(draft);
        // Before anything starts, so that nobody takes an attempt that lost its first word for one that
        // never began.
        match fs::remove_file(self.dir.join(ANNOUNCED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => sync_dir(&self.dir)?,
        }
        Ok(said)
    }

    pub(crate) fn read_first(&self) -> io::Result<Option<FirstRecord>> {
        read_record(&self.dir.join(STARTED))
    }

    /// When the first word was said, for evidence.
    pub(crate) fn began_at(&self) -> Option<domain::time::Timestamp> {
        let modified = self.dir.join(STARTED).metadata().ok()?.modified().ok()?;
        let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(domain::time::Timestamp::from_ms(since.as_millis().try_into().ok()?))
    }

    /// For evidence only, so it is not worth a sync.
    pub(crate) fn note_pid(&self, pid: &super::tree::ProcessIdentity) {
        if let Ok(text) = serde_json::to_vec(pid) {
            let _ =
                create_spool_file(&self.dir.join(PID)).and_then(|mut file| file.write_all(&text));
        }
    }

    pub(crate) fn read_pid(&self) -> Option<super::tree::ProcessIdentity> {
        read_record(&self.dir.join(PID)).ok().flatten()
    }

    /// Says the last word. The output is on disk before it.
    pub(crate) fn say_last(&self, exit: &ExitRecord) -> io::Result<()> {
        for name in [STDOUT, STDERR] {
            match open_spool_file(&self.dir.join(name)) {
                // mutant: output-not-on-disk
                Ok(file) => file.sync_all()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        ports::failpoint!("supervisor.synced");
        let draft = self.write_draft(EXIT, exit)?;
        fs::rename(draft, self.dir.join(EXIT))?;
        sync_dir(&self.dir)
    }

    pub(crate) fn read_exit(&self) -> io::Result<Option<ExitRecord>> {
        read_record(&self.dir.join(EXIT))
    }

    /// For output.
    pub(crate) fn create_file(&self, name: &str) -> io::Result<File> {
        create_spool_file(&self.dir.join(name))
    }

    pub(crate) fn remove_folder(&self) {
        // Rubbish that cannot be removed is met again, and logged again, at the next start.
        if let Err(error) = fs::remove_dir_all(&self.dir)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(dir = %self.dir.display(), %error, "cannot remove a spool folder");
        }
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.dir
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| file_age(at) > SPOOL_KEPT)
    }

    fn write_draft(&self, name: &str, record: &impl Serialize) -> io::Result<PathBuf> {
        let path = self.dir.join(format!("{name}.{}", std::process::id()));
        // One that is left of a process with the same number.
        let _ = fs::remove_file(&path);
        let mut file = create_spool_file(&path)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.sync_all()?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::record::{ExitKind, StartRecord};
    use super::super::tree::ProcessIdentity;
    use super::*;

    fn began() -> FirstRecord {
        let me = ProcessIdentity::of_myself();
        FirstRecord::Began(StartRecord { marker: "m".into(), owner: me.clone(), keeper: me })
    }

    #[test]
    fn i17_only_one_party_says_the_first_word() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path().join("spool")).unwrap();
        let attempt = spool.attempt("call_a-1", 1);
        assert!(attempt.announce().unwrap() && attempt.is_announced());
        assert!(!attempt.announce().unwrap());
        assert_eq!(attempt.read_first().unwrap(), None);
        assert!(attempt.say_first(&FirstRecord::Fenced).unwrap());
        assert!(!attempt.is_announced());
        assert!(!attempt.say_first(&began()).unwrap(), "a fenced attempt cannot start");
        assert_eq!(attempt.read_first().unwrap(), Some(FirstRecord::Fenced));

        let other = spool.attempt("call_a-1", 2);
        assert!(other.announce().unwrap() && other.say_first(&began()).unwrap());
        assert!(
            !other.say_first(&FirstRecord::Fenced).unwrap(),
            "a started attempt cannot be fenced"
        );
        assert_eq!(spool.attempts_of("call_a-1").count(), 2);
        assert_eq!(spool.attempts_of("call_a-2").count(), 0);
    }

    #[test]
    fn i39_an_announcement_that_the_disk_had_no_room_for_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let attempt = Spool::open(dir.path()).unwrap().attempt("call_a-1", 1);
        assert!(attempt.make_folder().unwrap());
        assert!(!attempt.is_announced());
        assert!(attempt.announce().unwrap() && attempt.is_announced());
        assert!(attempt.say_first(&began()).unwrap());
        assert!(!attempt.announce().unwrap(), "what has begun is not announced again");
        assert!(!attempt.is_announced());
    }

    #[test]
    fn the_last_word_is_whole_or_absent_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path()).unwrap();
        let attempt = spool.attempt("call_a-1", 1);
        attempt.announce().unwrap();
        attempt.create_file(STDOUT).unwrap().write_all(b"hello").unwrap();
        let exit = ExitRecord { how: ExitKind::Exited(0), ..ExitRecord::not_started("") };
        attempt.say_last(&exit).unwrap();
        assert_eq!(attempt.read_exit().unwrap(), Some(exit));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(attempt.folder()), 0o700);
        assert_eq!(mode(&attempt.folder().join(EXIT)), 0o600);
        fs::write(attempt.folder().join(EXIT), b"{").unwrap();
        assert!(attempt.read_exit().is_err(), "a torn record is not taken for none");
        fs::write(attempt.folder().join(EXIT), br#"{"how":"\u001b[2J"}"#).unwrap();
        let told = attempt.read_exit().unwrap_err().to_string();
        assert!(told.contains("`⟦U+001B⟧[2J`"), "what is wrong is told to people: {told}");
        attempt.remove_folder();
        assert!(!attempt.folder().exists());
        attempt.remove_folder();
    }

    #[test]
    fn i20_no_last_word_is_said_of_output_that_is_not_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path()).unwrap();
        let attempt = spool.attempt("call_a-1", 1);
        attempt.announce().unwrap();
        // A device that cannot be synced stands for a disk that fails to.
        std::os::unix::fs::symlink("/dev/null", attempt.folder().join(STDERR)).unwrap();
        attempt.create_file(STDOUT).unwrap().write_all(b"hello").unwrap();
        let exit = ExitRecord { how: ExitKind::Exited(0), ..ExitRecord::not_started("") };
        assert!(attempt.say_last(&exit).is_err());
        assert_eq!(
            attempt.read_exit().unwrap(),
            None,
            "whoever looks finds an attempt without an end"
        );
    }
}
