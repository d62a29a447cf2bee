//! Where Holdpoint remembers: SQLite for real, memory for tests, and the one conformance suite
//! that every store passes. What is written has its own versioned language, [`record`].

#![cfg_attr(
    not(feature = "sqlite"),
    allow(dead_code, unused_imports, reason = "records that only SQLite writes")
)]

#[cfg(feature = "conformance")]
pub mod conformance;
mod lane_order;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod record;
pub mod sealing;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod wish;

pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PgAddress, PgNodeEnd, PgOpenError, PgStore};
pub use sealing::{BadSealingKeys, SealingKeyId, SealingKeys};
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteOptions, SqliteStore};

/// What a list is searched for: title, tool, agent, requester and tag, in lower case.
fn search_text(hold: &domain::hold::Hold) -> String {
    let tool = hold.call().map(|call| &*call.tool);
    let requester = hold.requester.as_ref().map(domain::person::PersonId::as_str);
    let words = [Some(&*hold.title), tool, hold.agent(), requester, Some(&*hold.tag)];
    // A line for each: no text goes over from one to the next.
    Vec::from_iter(words.into_iter().flatten()).join("\n").to_lowercase()
}
