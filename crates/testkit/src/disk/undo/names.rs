//! What is in folders.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::log::{Kind, Log, Record};
use super::{Loss, Lost, said};
use crate::rng::Rng;

/// Backwards, so that each change finds the folder as it left it.
pub(super) fn undo(
    log: &Log<'_>,
    loss: Loss,
    rng: &mut Rng,
    lost: &mut Lost,
) -> Result<(), String> {
    let mut folders = BTreeMap::<u64, Vec<&Record<'_>>>::new();
    for record in log.records.iter().filter(|record| record.kind.is_of_names()) {
        if !log.is_safe(record) {
            folders.entry(record.inode).or_default().push(record);
        }
    }
    let mut gone: Vec<&Record<'_>> = Vec::new();
    for changes in folders.values() {
        // A folder remembers its changes in their order.
        let kept = match loss {
            Loss::Everything => 0,
            Loss::Some => rng.below(changes.len() as u64 + 1) as usize,
        };
        gone.extend(&changes[kept..]);
    }
    gone.sort_by_key(|record| record.at);
    for record in gone.into_iter().rev() {
        lost.names += 1;
        match take_back(record) {
            // The folder itself is gone, or what stood in it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done.map_err(|error| said(format!("{}: {error}", record.name)))?,
        }
    }
    Ok(())
}

fn take_back(record: &Record<'_>) -> io::Result<()> {
    let name = Path::new(record.name);
    match record.kind {
        Kind::Create | Kind::Link => fs::remove_file(name),
        Kind::MakeFolder => fs::remove_dir_all(name),
        Kind::RemoveFolder => fs::create_dir(name),
        Kind::Unlink => fs::hard_link(record.other, name),
        Kind::Rename => {
            fs::rename(name, record.other)?;
            match str::from_utf8(record.payload) {
                Ok(grave) if !grave.is_empty() => fs::hard_link(grave, name),
                _ => Ok(()),
            }
        }
        Kind::Write | Kind::Truncate | Kind::Sync | Kind::Failed => Ok(()),
    }
}
