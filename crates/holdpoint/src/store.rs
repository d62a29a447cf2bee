//! For stores of one's own: the trait, and what it speaks of. [`crate::Builder::store`] takes one.
//!
//! A store has one way to write, [`Store::commit`], which is atomic, durable when it is told, and refuses a
//! version that has been overtaken. It passes the conformance suite of the crate `holdpoint-stores`.

pub use domain::id::NodeId;
pub use ports::store::*;
pub use stores::{BadSealingKeys, MemoryStore, SealingKeyId, SealingKeys};
#[cfg(feature = "sqlite")]
pub use stores::{OpenError, SqliteOptions, SqliteStore};
#[cfg(feature = "postgres")]
pub use stores::{PgAddress, PgNodeEnd, PgOpenError, PgStore};
