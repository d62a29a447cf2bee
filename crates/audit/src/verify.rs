//! The offline verifier: one pass, one line in memory at a time.

use std::io::{self, BufRead, Read as _};

use crate::chain::Chain;
use crate::checkpoint::Checkpoint;
use crate::export::{ExportLine, read_header};
use crate::hash::Hash;
use crate::key::PublicKey;
use crate::tampered::{TamperKind, Tampered, VerifyError};

/// An entry holds one commit, which holds at most a turn of calls; nothing honest is longer.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// What a sound log comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    pub entries: u64,
    pub checkpoints: u64,
    pub head: Hash,
    /// Keep it for the next time.
    pub end: Checkpoint,
    pub key: PublicKey,
    /// The key was the one that the verifier trusts, and not just the one that the export names.
    pub trusted: bool,
    /// The known checkpoint was compared.
    pub compared: bool,
}

/// Checks an export from its first line to its signed end. Without `trusted` it only shows that the
/// export agrees with itself: anybody can sign a log of their own.
pub fn verify(
    reader: impl BufRead,
    trusted: Option<PublicKey>,
    known: Option<Checkpoint>,
) -> Result<VerifyReport, VerifyError> {
    let mut lines = NumberedLines { reader, number: 0, buffer: Vec::new() };
    let key = match lines.next()? {
        Some(line) => read_header(line),
        None => None,
    };
    let Some(key) = key else {
        return Err(Tampered { index: 0, line: 1, what: TamperKind::Header }.into());
    };
    if trusted.is_some_and(|trusted| trusted != key) {
        return Err(Tampered { index: 0, line: 1, what: TamperKind::WrongKey }.into());
    }
    if known.as_ref().is_some_and(|known| !known.is_signed_by(&key)) {
        return Err(VerifyError::KnownIsForeign);
    }
    let mut walk = ExportVerifier {
        key,
        known,
        chain: Chain::default(),
        vouched: 0,
        last_checkpoint: None,
        checkpoints: 0,
        end: None,
    };
    walk.check_fork(1)?;
    while let Some(line) = lines.next()? {
        if !line.ends_with(b"\n") && (line.len() as u64) < LINE_BYTES_MAX {
            // Cut off in the middle of a line.
            break;
        }
        let line = ExportLine::parse(line);
        let number = lines.number;
        if let Err(fault) = walk.check_line(line, number) {
            return Err(fault.into_tampered(&walk.chain, &mut lines)?.into());
        }
    }
    let truncated = |index| Tampered { index, line: lines.number, what: TamperKind::Truncated };
    let Some(end) = walk.end else { return Err(truncated(walk.chain.count() + 1).into()) };
    // mutant: cut-log-is-whole
    if walk.known.as_ref().is_some_and(|known| known.count > end.count) {
        return Err(truncated(end.count + 1).into());
    }
    Ok(VerifyReport {
        entries: walk.chain.count(),
        checkpoints: walk.checkpoints,
        head: walk.chain.head(),
        end,
        key,
        trusted: trusted.is_some(),
        compared: walk.known.is_some(),
    })
}

struct ExportVerifier {
    key: PublicKey,
    known: Option<Checkpoint>,
    chain: Chain,
    /// Entries that a sound checkpoint covers.
    vouched: u64,
    last_checkpoint: Option<u64>,
    checkpoints: u64,
    end: Option<Checkpoint>,
}

impl ExportVerifier {
    fn check_line(&mut self, line: Option<ExportLine>, number: u64) -> Result<(), ExportFault> {
        let next = self.chain.count() + 1;
        let fault = |index, what| Err(Tampered { index, line: number, what }.into());
        if self.end.is_some() {
            return fault(next, TamperKind::Inserted);
        }
        match line {
            None => Err(ExportFault::Entry { line: number, seq: None, hash: None, expected: None }),
            Some(ExportLine::Entry { seq, hash, bytes }) => {
                let expected = self.chain.next_hash(&bytes);
                // mutant: entry-hash-unchecked
                if seq != next || hash != expected {
                    let (seq, hash, expected) = (Some(seq), Some(hash), Some(expected));
                    return Err(ExportFault::Entry { line: number, seq, hash, expected });
                }
                self.chain.append(&bytes);
                Ok(self.check_fork(number)?)
            }
            Some(ExportLine::Checkpoint(checkpoint)) => {
                let count = self.chain.count();
                if checkpoint.key != self.key.id() {
                    return fault(count, TamperKind::WrongKey);
                }
                // mutant: checkpoint-unsigned
                if !checkpoint.is_signed_by(&self.key) {
                    return fault(count, TamperKind::BadSignature);
                }
                if checkpoint.count > count {
                    return Err(ExportFault::Early { line: number, count: checkpoint.count });
                }
                if checkpoint.count < count {
                    // One that was passed already can only be a copy.
                    return match self.last_checkpoint {
                        Some(last) if checkpoint.count <= last => fault(next, TamperKind::Inserted),
                        _ => fault(checkpoint.count + 1, TamperKind::Reordered),
                    };
                }
                if checkpoint.head != self.chain.head() {
                    return fault(self.vouched + 1, TamperKind::Rewritten { last: count });
                }
                if !checkpoint.end && self.last_checkpoint == Some(count) {
                    return fault(next, TamperKind::Inserted);
                }
                self.vouched = count;
                self.last_checkpoint = Some(count);
                self.checkpoints += 1;
                if checkpoint.end {
                    self.end = Some(checkpoint);
                }
                Ok(())
            }
        }
    }

    fn check_fork(&self, line: u64) -> Result<(), Tampered> {
        match &self.known {
            Some(known) if known.count == self.chain.count() && known.head != self.chain.head() => {
                Err(Tampered { index: known.count, line, what: TamperKind::Fork })
            }
            _ => Ok(()),
        }
    }
}

/// Something is wrong. What it is may depend on what comes later in the export.
enum ExportFault {
    Known(Tampered),
    /// Not the entry that should stand here.
    Entry {
        line: u64,
        seq: Option<u64>,
        hash: Option<Hash>,
        expected: Option<Hash>,
    },
    /// A checkpoint that covers more than there is.
    Early {
        line: u64,
        count: u64,
    },
}

impl From<Tampered> for ExportFault {
    fn from(tampered: Tampered) -> ExportFault {
        ExportFault::Known(tampered)
    }
}

impl ExportFault {
    /// Looks for the missing entry further down, which tells a moved or inserted one from one that
    /// was edited or deleted.
    fn into_tampered(
        self,
        chain: &Chain,
        lines: &mut NumberedLines<impl BufRead>,
    ) -> io::Result<Tampered> {
        let index = chain.count() + 1;
        let (line, what) = match self {
            ExportFault::Known(tampered) => return Ok(tampered),
            ExportFault::Early { line, .. } if lines.have_next_of(chain)? => {
                (line, TamperKind::Reordered)
            }
            ExportFault::Early { line, count } => (line, TamperKind::Deleted { last: count }),
            ExportFault::Entry { line, seq, hash, expected } => {
                let renumbered = hash.is_some() && hash == expected;
                let what = match seq {
                    _ if renumbered => TamperKind::Edited,
                    seq if lines.have_next_of(chain)? => match seq {
                        Some(seq) if seq > index => TamperKind::Reordered,
                        _ => TamperKind::Inserted,
                    },
                    Some(seq) if seq > index => TamperKind::Deleted { last: seq - 1 },
                    _ => TamperKind::Edited,
                };
                (line, what)
            }
        };
        Ok(Tampered { index, line, what })
    }
}

struct NumberedLines<R> {
    reader: R,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> NumberedLines<R> {
    /// The next line with its line feed, if it has one. What is too long comes in pieces, which are
    /// no lines of ours.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.clear();
        let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX);
        if limited.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(&self.buffer))
    }

    /// Whether the entry that belongs at the end of this chain comes later. Uses up the rest.
    fn have_next_of(&mut self, chain: &Chain) -> io::Result<bool> {
        while let Some(line) = self.next()? {
            if let Some(ExportLine::Entry { seq, hash, bytes }) = ExportLine::parse(line)
                && seq == chain.count() + 1
                && hash == chain.next_hash(&bytes)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
