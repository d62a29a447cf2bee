//! How the lines of an audit export look. The crate `audit` knows; it is not ours to see, because
//! whoever checks a log need not trust the server, so the binary passes it in.

use std::io::BufRead;

use ports::store::AuditEntry;

pub trait AuditLines: Send + Sync {
    /// The first line, with the public key. `None`: the key cannot be read.
    fn header(&self, public_key: &[u8]) -> Option<String>;

    fn entry(&self, entry: &AuditEntry) -> String;

    /// The line of a stored checkpoint, and how many entries it covers. `None`: it cannot be read.
    fn checkpoint(&self, stored: &[u8]) -> Option<(u64, String)>;

    /// Whether an export, read from its first line to its last, is what this key signed. `None`: nobody here can say.
    fn verify(&self, export: &mut dyn BufRead, public_key: &[u8]) -> Option<AuditVerdict> {
        let _ = (export, public_key);
        None
    }
}

/// What a verifier found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditVerdict {
    Sound {
        entries: u64,
        checkpoints: u64,
        /// The hash that covers all of them.
        head: String,
    },
    Tampered {
        /// The first entry that is wrong.
        entry: u64,
        why: String,
    },
    /// It ended before its end.
    Unreadable,
}
