//! The tamper-evident log, and the offline verifier.
//!
//! Every entry of the journal is hash-chained to the one before it, and now and then the head of the
//! chain and the number of entries are signed. A chain alone shows an edited entry, but not one that
//! was edited and re-hashed together with all that follow, and not a missing end: that takes the
//! signatures.
//!
//! This crate knows nothing of the server, so that an auditor need not trust it. What it
//! cannot show: that entries after the last signature a reader has seen were not replaced by the
//! holder of the signing key. Keep the last checkpoint of an export elsewhere, and give it to the
//! next [`verify()`].

mod chain;
mod checkpoint;
mod export;
mod hash;
mod key;
mod tampered;
mod verify;

pub use chain::Chain;
pub use checkpoint::{Checkpoint, NotACheckpoint};
pub use export::{checkpoint_line, entry_line, header_line};
pub use hash::{Hash, NotAHash};
pub use key::{BadKey, KeyId, PublicKey, Signer};
pub use tampered::{TamperKind, Tampered, VerifyError};
pub use verify::{VerifyReport, verify};
