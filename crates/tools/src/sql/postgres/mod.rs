//! SQL on PostgreSQL, after the same rules as on SQLite, and with the server as the second reader.
//!
//! A parser says what a statement is. Then the server is asked, in the transaction in which it runs:
//! it takes exactly one statement (a prepared one cannot be two), says which tables the names mean and
//! which functions have effects, and enforces the rest. A query runs in a `READ ONLY` transaction and
//! through a cursor, whatever the parser thought of it.
//!
//! A change is tried and undone before anybody is asked; where that would fire triggers, the planner is
//! asked for an estimate instead, and people are told that it is one. It runs in one transaction with
//! two marker rows: one named after the attempt, written first, and one named after the call, written
//! last. Recovery writes the first one itself. If an earlier transaction still holds it, recovery waits
//! for how that ends; if not, that transaction can never commit any more.

mod change;
mod check;
mod cut_query;
mod failure;
mod marker;
mod modify;
mod query;
mod rows;
mod session;
pub(super) mod statement;
mod target;

pub use modify::{PgModify, PgModifyConfig};
pub use query::{PgQuery, PgQueryConfig};
pub use target::PgTarget;
