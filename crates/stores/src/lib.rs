//! Where Holdpoint remembers: SQLite for real, memory for tests, and the one conformance suite
//! that every store passes. What is written has its own versioned language, [`record`].

#![cfg_attr(
    not(feature = "sqlite"),
    allow(dead_code, unused_imports, reason = "records that only SQLite writes")
)]

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod memory;
pub mod record;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod turns;
mod wish;

pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteStore};

/// Whether a hold's title or tool has this text in it, which is in lower case.
fn mentions(hold: &domain::hold::Hold, wanted: &str) -> bool {
    let tool = hold.call.as_ref().map(|call| call.tool.to_lowercase());
    hold.title.to_lowercase().contains(wanted) || tool.is_some_and(|tool| tool.contains(wanted))
}
