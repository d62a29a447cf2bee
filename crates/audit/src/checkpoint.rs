//! A signed statement: the log had this many entries, and this was its head.

use std::fmt;
use std::str::FromStr;

use crate::chain::Chain;
use crate::hash::Hash;
use crate::key::{KeyId, PublicKey, Signature, Signer};

/// Vouches for a log up to its head. Small: keep the last one somewhere else, and no later export
/// can leave out or change what it covers.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub count: u64,
    pub head: Hash,
    pub at_ms: i64,
    pub key: KeyId,
    /// It closes an export. Without this, an export could be cut at an earlier checkpoint and still
    /// look whole.
    pub end: bool,
    signature: Signature,
}

impl Signer {
    /// For the log, as it grows.
    pub fn sign_checkpoint(&self, chain: &Chain, at_ms: i64) -> Checkpoint {
        self.checkpoint_of(chain, at_ms, false)
    }

    /// For the last line of an export.
    pub fn sign_end(&self, chain: &Chain, at_ms: i64) -> Checkpoint {
        self.checkpoint_of(chain, at_ms, true)
    }

    fn checkpoint_of(&self, chain: &Chain, at_ms: i64, end: bool) -> Checkpoint {
        let (count, head, key) = (chain.count(), chain.head(), self.public_key().id());
        let signature = self.sign(&signed_message(count, head, at_ms, key, end));
        Checkpoint { count, head, at_ms, key, end, signature }
    }
}

impl Checkpoint {
    /// Whether this key signed it, and signed exactly this.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let message = signed_message(self.count, self.head, self.at_ms, self.key, self.end);
        self.key == key.id() && key.verifies(&message, &self.signature)
    }
}

fn signed_message(count: u64, head: Hash, at_ms: i64, key: KeyId, end: bool) -> Vec<u8> {
    let hash = Hash::of_parts(&[
        b"holdpoint.checkpoint.v1",
        &count.to_le_bytes(),
        head.as_bytes(),
        &at_ms.to_le_bytes(),
        key.to_string().as_bytes(),
        &[u8::from(end)],
    ]);
    [b"holdpoint.checkpoint.v1".as_slice(), hash.as_bytes()].concat()
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a checkpoint: one is a JSON object, such as the last line of an export")]
pub struct NotACheckpoint;

impl FromStr for Checkpoint {
    type Err = NotACheckpoint;

    /// Reads the JSON form, bare or as the line of an export.
    fn from_str(text: &str) -> Result<Checkpoint, NotACheckpoint> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct CheckpointFields {
            checkpoint: Checkpoint,
        }
        serde_json::from_str(text)
            .or_else(|_| serde_json::from_str(text).map(|line: CheckpointFields| line.checkpoint))
            .map_err(|_| NotACheckpoint)
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_every_field() {
        let signer = Signer::from_seed(&[7; 32]).unwrap();
        let key = signer.public_key();
        let mut chain = Chain::default();
        chain.append(b"{}");
        let checkpoint = signer.sign_checkpoint(&chain, 1_000);
        assert!(checkpoint.is_signed_by(&key));
        let other = Signer::from_seed(&[8; 32]).unwrap().public_key();
        assert!(!checkpoint.is_signed_by(&other));
        let changes: [fn(&mut Checkpoint); 5] = [
            |c| c.count = 2,
            |c| c.head = Hash::NONE,
            |c| c.at_ms = 1_001,
            |c| c.end = true,
            |c| c.key = Signer::from_seed(&[8; 32]).unwrap().public_key().id(),
        ];
        for change in changes {
            let mut changed = checkpoint.clone();
            change(&mut changed);
            assert!(!changed.is_signed_by(&key) && !changed.is_signed_by(&other));
        }
    }

    #[test]
    fn is_read_as_written() {
        let signer = Signer::from_seed(&[7; 32]).unwrap();
        let checkpoint = signer.sign_end(&Chain::default(), 5);
        assert_eq!(checkpoint.to_string().parse(), Ok(checkpoint.clone()));
        let line = crate::checkpoint_line(&checkpoint);
        assert_eq!(line.parse(), Ok(checkpoint));
        assert_eq!("{}".parse::<Checkpoint>(), Err(NotACheckpoint));
    }
}
