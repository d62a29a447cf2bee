//! The shim's log, read.

use std::collections::BTreeMap;

const MAGIC: u32 = 0x4c4f_5353;
const HEADER: usize = 56;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write,
    Truncate,
    Sync,
    Create,
    MakeFolder,
    Link,
    Unlink,
    RemoveFolder,
    Rename,
    Failed,
}

impl Kind {
    const ALL: [Kind; 10] = [
        Kind::Write,
        Kind::Truncate,
        Kind::Sync,
        Kind::Create,
        Kind::MakeFolder,
        Kind::Link,
        Kind::Unlink,
        Kind::RemoveFolder,
        Kind::Rename,
        Kind::Failed,
    ];

    /// It changes a file.
    pub(super) fn is_of_bytes(self) -> bool {
        matches!(self, Kind::Write | Kind::Truncate)
    }

    /// It changes a folder.
    pub(super) fn is_of_names(self) -> bool {
        !self.is_of_bytes() && !matches!(self, Kind::Sync | Kind::Failed)
    }
}

/// One change, with what was there before.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    /// Where it stands in the log.
    pub(super) at: u64,
    pub(super) kind: Kind,
    pub(super) inode: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) count: u64,
    pub(super) name: &'a str,
    pub(super) other: &'a str,
    pub(super) payload: &'a [u8],
}

pub(super) struct Log<'a> {
    pub(super) records: Vec<Record<'a>>,
    /// By inode: what is before this in the log is safe, and how long the file then was.
    synced: BTreeMap<u64, (u64, u64)>,
    /// Files that began in this log.
    created: BTreeMap<u64, u64>,
}

impl<'a> Log<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Log<'a>, String> {
        let mut log =
            Log { records: Vec::new(), synced: BTreeMap::new(), created: BTreeMap::new() };
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = (bytes.len() - rest.len()) as u64;
            let (record, after) =
                read(at, rest).ok_or_else(|| format!("the log is torn at {at}"))?;
            rest = after;
            match record.kind {
                Kind::Sync => {
                    let last = log.synced.entry(record.inode).or_default();
                    *last = (*last).max((record.offset, record.length));
                }
                Kind::Create => {
                    log.created.insert(record.offset, at);
                }
                _ => {}
            }
            log.records.push(record);
        }
        Ok(log)
    }

    pub(super) fn is_safe(&self, record: &Record<'_>) -> bool {
        self.synced.get(&record.inode).is_some_and(|(upto, _)| record.at < *upto)
    }

    /// How much of a file is safe, where the log knows. Commands write to files that they were
    /// handed, which is not in the log; those only grow.
    pub(super) fn safe_length(&self, inode: u64) -> Option<u64> {
        match self.synced.get(&inode) {
            Some((_, length)) => Some(*length),
            None => self.created.get(&inode).map(|_| 0),
        }
    }
}

fn read(at: u64, bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let small =
        |from: usize| u32::from_ne_bytes(header[from..from + 4].try_into().unwrap_or_default());
    let large =
        |from: usize| u64::from_ne_bytes(header[from..from + 8].try_into().unwrap_or_default());
    if small(0) != MAGIC {
        return None;
    }
    let kind = *Kind::ALL.get((small(4) as usize).checked_sub(1)?)?;
    let (name, rest) = rest.split_at_checked(small(40) as usize)?;
    let (other, rest) = rest.split_at_checked(small(44) as usize)?;
    let (payload, rest) = rest.split_at_checked(large(48) as usize)?;
    let record = Record {
        at,
        kind,
        inode: large(8),
        offset: large(16),
        length: large(24),
        count: large(32),
        name: str::from_utf8(name).ok()?,
        other: str::from_utf8(other).ok()?,
        payload,
    };
    Some((record, rest))
}
