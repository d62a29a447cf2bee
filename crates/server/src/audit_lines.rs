//! How the lines of an audit export look. The crate `audit` knows; it is not ours to see, because
//! whoever checks a log need not trust the server, so the binary passes it in.

use ports::store::AuditEntry;

pub trait AuditLines: Send + Sync {
    /// The first line, with the public key. `None`: the key cannot be read.
    fn header(&self, public_key: &[u8]) -> Option<String>;

    fn entry(&self, entry: &AuditEntry) -> String;

    /// The line of a stored checkpoint, and how many entries it covers. `None`: it cannot be read.
    fn checkpoint(&self, stored: &[u8]) -> Option<(u64, String)>;
}
