//! `sql_query` and `sql_modify`, on SQLite files that the configuration names.
//!
//! A statement is judged twice, by two programs that know nothing of each other: a parser says what it
//! is, and SQLite's own compiler reports, through its authorizer, what it is about to do. Only where
//! both agree does anything run. Whatever either of them does not know is refused.
//!
//! A change is counted before anybody is asked, in a transaction that is rolled back. It runs in one
//! transaction with a marker row named after the call, so after a crash the marker says whether it
//! happened. If it would no longer touch as many rows as the person saw, it does not run.

mod change;
mod connection;
mod databases;
mod gate;
mod marker;
mod modify;
mod query;
mod rows;
mod statement;

pub use databases::Databases;
pub use modify::{ModifyConfig, SqlModify};
pub use query::{QueryConfig, SqlQuery};
