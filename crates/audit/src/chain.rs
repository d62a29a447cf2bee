//! The chain of entries, as its writer sees it.

use crate::hash::Hash;

/// The end of the log: all that is needed to append to it. Copy it before a transaction, and take
/// the copy back if the transaction fails.
///
/// ```
/// let mut chain = holdpoint_audit::Chain::default();
/// let (seq, hash) = chain.append(b"{}");
/// assert_eq!((seq, chain.count(), chain.head()), (1, 1, hash));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    head: Hash,
    count: u64,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { head: Hash::NONE, count: 0 }
    }
}

impl Chain {
    /// Goes on after the last entry of a stored log.
    pub fn resume(head: Hash, count: u64) -> Chain {
        Chain { head, count }
    }

    pub fn head(&self) -> Hash {
        self.head
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the exact bytes of one entry, and says its number (1, 2, 3, …) and its hash.
    pub fn append(&mut self, entry: &[u8]) -> (u64, Hash) {
        self.head = self.next_hash(entry);
        self.count += 1;
        (self.count, self.head)
    }

    pub(crate) fn next_hash(&self, entry: &[u8]) -> Hash {
        let seq = self.count + 1;
        let (prev, seq) = (self.head.as_bytes(), seq.to_le_bytes());
        Hash::of_parts(&[b"holdpoint.audit.v1", prev, &seq, entry])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_pinned() {
        // Logs that exist depend on it.
        let mut chain = Chain::default();
        chain.append(b"{\"a\":1}");
        assert_eq!(chain.append(b"").0, 2);
        assert_eq!(
            chain.head().to_string(),
            "2eab6fe0a024a8d12a6a28ffe3709e5666f821f17bad55c19a4a995af290de98"
        );
    }

    #[test]
    fn goes_on_where_it_was() {
        let mut whole = Chain::default();
        whole.append(b"a");
        let mut resumed = Chain::resume(whole.head(), whole.count());
        assert_eq!(whole.append(b"b"), resumed.append(b"b"));
    }

    #[test]
    fn order_and_place_count() {
        let of = |entries: &[&[u8]]| {
            let mut chain = Chain::default();
            for entry in entries {
                chain.append(entry);
            }
            chain.head()
        };
        assert_ne!(of(&[b"a", b"b"]), of(&[b"b", b"a"]));
        assert_ne!(of(&[b"ab", b""]), of(&[b"a", b"b"]));
        assert_ne!(of(&[b"a"]), of(&[b"a", b""]));
    }
}
