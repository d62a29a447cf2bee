//! Opening and reading files of the spool. A command that runs as our own user can put anything in their
//! place: whatever is there, it is opened without waiting and read up to a bound.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use domain::visible::visible;
use nix::fcntl::OFlag;
use serde::de::DeserializeOwned;

use crate::limits::SPOOL_RECORD_BYTES_MAX;

/// A file of ours: a link in its place leads elsewhere.
pub(super) fn open_spool_file(path: &Path) -> io::Result<File> {
    open_with(path, OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK)
}

/// A regular file and nothing else: opening a pipe would wait for its writer.
pub(super) fn open_regular_file(path: &Path) -> io::Result<File> {
    open_with(path, OFlag::O_NONBLOCK)
}

fn open_with(path: &Path, flags: OFlag) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// A new file for its owner only; one that is there already is an error.
pub(super) fn create_spool_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// A record, or `None` if there is no such file.
pub(super) fn read_record<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let file = match open_spool_file(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(SPOOL_RECORD_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SPOOL_RECORD_BYTES_MAX {
        return Err(io::Error::other(format!("it is longer than {SPOOL_RECORD_BYTES_MAX} bytes")));
    }
    parse_record(&bytes).map(Some)
}

/// What is wrong with a record is told to people.
pub(super) fn parse_record<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| io::Error::other(visible(&error.to_string())))
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
