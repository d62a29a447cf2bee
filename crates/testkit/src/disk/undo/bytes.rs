//! What is in files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::log::{Kind, Log, Record};
use super::{Loss, Lost, said};
use crate::rng::Rng;

/// What a disk writes whole or not at all.
const SECTOR: usize = 512;

pub(super) fn undo(
    log: &Log<'_>,
    folders: &[&Path],
    loss: Loss,
    rng: &mut Rng,
    lost: &mut Lost,
) -> Result<(), String> {
    let mut files = BTreeMap::new();
    for folder in folders {
        find(folder, &mut files).map_err(said)?;
    }
    let mut stories = BTreeMap::<u64, Vec<&Record<'_>>>::new();
    for record in log.records.iter().filter(|record| !record.kind.is_of_names()) {
        stories.entry(record.inode).or_default().push(record);
    }
    for (inode, path) in files {
        let none = Vec::new();
        let story = stories.get(&inode).unwrap_or(&none);
        let now = fs::read(&path).map_err(said)?;
        let versions = Versions::of(&now, story, log.safe_length(inode), rng);
        if versions.safe == now {
            continue;
        }
        lost.writes += versions.writes.max(1);
        let after = match loss {
            Loss::Everything => versions.safe,
            Loss::Some => match rng.below(4) {
                0 => versions.safe,
                1 => versions.last,
                _ => {
                    lost.torn += 1;
                    torn(&versions, rng)
                }
            },
        };
        if after != now {
            lost.files += 1;
            fs::write(&path, after).map_err(said)?;
        }
    }
    Ok(())
}

/// What a file may be after the cut: what is safe, and what was there at some later moment.
struct Versions {
    safe: Vec<u8>,
    last: Vec<u8>,
    /// Changes that are not safe.
    writes: u64,
}

impl Versions {
    fn of(now: &[u8], story: &[&Record<'_>], safe: Option<u64>, rng: &mut Rng) -> Versions {
        let (mut disk, changes) = begin(now, story);
        let mut waiting: Vec<&Change<'_>> = Vec::new();
        let (mut changes, mut writes) = (changes.iter(), 0);
        for record in story {
            if record.kind.is_of_bytes() {
                waiting.extend(changes.next());
                continue;
            }
            let (done, rest): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|change| change.record.at < record.offset);
            waiting = rest;
            match record.kind {
                Kind::Sync => done.iter().for_each(|change| change.make(&mut disk)),
                _ => writes += done.len() as u64,
            }
        }
        if let Some(safe) = safe.filter(|_| !story.iter().any(|record| record.kind.is_of_bytes())) {
            let safe = now[..now.len().min(safe as usize)].to_vec();
            return Versions { safe, last: now.to_vec(), writes: 1 };
        }
        writes += waiting.len() as u64;
        let moment = rng.below(waiting.len() as u64 + 1) as usize;
        let mut last = disk.clone();
        waiting[..moment].iter().for_each(|change| change.make(&mut last));
        Versions { safe: disk, last, writes }
    }
}

/// A change, with what it brought.
struct Change<'a> {
    record: &'a Record<'a>,
    brought: Vec<u8>,
}

impl Change<'_> {
    fn make(&self, bytes: &mut Vec<u8>) {
        let from = self.record.offset as usize;
        let end = from + self.brought.len();
        match self.record.kind {
            Kind::Truncate => bytes.resize(from, 0),
            _ => {
                bytes.resize(bytes.len().max(end), 0);
                bytes[from..end].copy_from_slice(&self.brought);
            }
        }
    }
}

/// The file as it was when the log began, and all changes since.
fn begin<'a>(now: &[u8], story: &[&'a Record<'a>]) -> (Vec<u8>, Vec<Change<'a>>) {
    let mut bytes = now.to_vec();
    let mut changes = Vec::new();
    for record in story.iter().rev().filter(|record| record.kind.is_of_bytes()) {
        let from = (record.offset as usize).min(bytes.len());
        let end = (from + record.count as usize).min(bytes.len());
        changes.push(Change { record, brought: bytes[from..end].to_vec() });
        bytes.resize(record.length as usize, 0);
        let from = record.offset as usize;
        if !record.payload.is_empty() {
            bytes[from..from + record.payload.len()].copy_from_slice(record.payload);
        }
    }
    changes.reverse();
    (bytes, changes)
}

/// Sector by sector either version. Where a file grew and its bytes did not arrive, there is nothing.
fn torn(Versions { safe, last, .. }: &Versions, rng: &mut Rng) -> Vec<u8> {
    let (short, long) = (safe.len().min(last.len()), safe.len().max(last.len()));
    let length = match rng.below(3) {
        0 => safe.len(),
        1 => last.len(),
        _ => short + rng.below((long - short) as u64 / SECTOR as u64 + 1) as usize * SECTOR,
    };
    let mut bytes = vec![0; length.min(long)];
    for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
        let at = number * SECTOR;
        let from = if rng.percent(50) && at < last.len() { last } else { safe };
        let there = from.get(at..).unwrap_or_default();
        let count = there.len().min(sector.len());
        sector[..count].copy_from_slice(&there[..count]);
    }
    bytes
}

fn find(folder: &Path, files: &mut BTreeMap<u64, PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        if meta.is_dir() {
            find(&entry.path(), files)?;
        } else if meta.is_file() {
            files.insert(meta.ino(), entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_file_is_made_of_whole_sectors_of_both_versions() {
        let safe: Vec<u8> = vec![b'o'; 4 * SECTOR + 100];
        let last: Vec<u8> = vec![b'n'; 9 * SECTOR + 7];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let versions = Versions { safe: safe.clone(), last: last.clone(), writes: 1 };
            let bytes = torn(&versions, &mut Rng::new(seed));
            assert!((safe.len()..=last.len()).contains(&bytes.len()));
            for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                let one = sector[0];
                // The last sector of the old version ends within one of the new.
                let whole = if one == b'o' && number == 4 { &sector[..100] } else { sector };
                assert!(whole.iter().all(|byte| *byte == one), "sector {number}");
                seen.insert((number, one));
            }
        }
        assert!(seen.contains(&(0, b'o')) && seen.contains(&(0, b'n')));
        assert!(seen.contains(&(7, 0)) && seen.contains(&(7, b'n')), "{seen:?}");
    }
}
