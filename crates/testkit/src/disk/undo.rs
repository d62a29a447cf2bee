//! Takes back what was never synced, from the log that the shim keeps (`lossy/log.h`).
//!
//! Two models of a cut. In one, nothing survives that was not synced. In the other, anything may:
//! for each file some of the last writes, in any order, each torn at sectors; for each folder the
//! first few changes of its names. A name is safe when its folder was synced, not its file.

mod bytes;
mod log;
mod names;

use std::fmt;
use std::path::Path;

use crate::rng::Rng;

/// What a cut takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All that was not synced.
    Everything,
    /// A part of it, by chance.
    Some,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Changes of files that were not safe, and those of them that are gone at least in part.
    pub writes: u64,
    pub files: u64,
    /// Files of which some sectors are new and others old.
    pub torn: u64,
    /// Names made, removed or changed, and then not.
    pub names: u64,
}

impl Lost {
    pub fn add(&mut self, other: Lost) {
        self.writes += other.writes;
        self.files += other.files;
        self.torn += other.torn;
        self.names += other.names;
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} writes to {} files, {} of which are torn, and {} changes of names",
            self.writes, self.files, self.torn, self.names
        )
    }
}

/// Makes the folder what it is after a cut, and forgets the log.
pub(super) fn restore(
    state: &Path,
    folder: &Path,
    loss: Loss,
    rng: &mut Rng,
) -> Result<Lost, String> {
    let bytes = std::fs::read(state.join("log")).map_err(said)?;
    let log = log::Log::read(&bytes)?;
    let graves = state.join("graves");
    let mut lost = Lost::default();
    // Bytes first, and of removed files, too: a file is found by its inode, whatever its name is.
    bytes::undo(&log, &[folder, &graves], loss, rng, &mut lost)?;
    names::undo(&log, loss, rng, &mut lost)?;
    forget_shared_memory(folder).map_err(said)?;
    std::fs::remove_dir_all(&graves).map_err(said)?;
    std::fs::create_dir(&graves).map_err(said)?;
    std::fs::File::create(state.join("log")).map_err(said)?;
    Ok(lost)
}

/// SQLite's `-shm` is memory with a name. It is rebuilt from the log of the database.
fn forget_shared_memory(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget_shared_memory(&path)?;
        } else if path.as_os_str().as_encoded_bytes().ends_with(b"-shm") {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn said(error: impl fmt::Display) -> String {
    format!("what was not synced cannot be taken back: {error}")
}

#[cfg(test)]
mod tests;
