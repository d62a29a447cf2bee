//! `sql_query` and `sql_modify`, on SQLite files that the configuration names; [`postgres`] has the same on
//! PostgreSQL.
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
#[cfg(test)]
mod facts_tests;
mod gate;
mod marker;
mod modify;
pub mod postgres;
mod query;
mod rows;
mod statement;
mod told;

use domain::sql_facts::SqlFacts;

pub use databases::Databases;
pub use modify::{ModifyConfig, SqlModify};
pub use query::{QueryConfig, SqlQuery};

/// What the parser alone can say about a statement, for `policy explain`: without the database neither
/// rows nor tables behind views, triggers and foreign keys are known. `Err` says why nothing is.
pub fn facts_of_text(dialect: Dialect, sql: &str) -> Result<SqlFacts, String> {
    match dialect {
        Dialect::Sqlite => statement::parse(sql).map(|statement| statement.facts_unseen()),
        Dialect::Postgres => {
            postgres::statement::parse(sql).map(|statement| statement.facts_unseen())
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// What both readers of a statement say it is, and the table that it changes, on a database that the
/// caller brings along; nothing is run. For whoever wants to try them with hostile text.
pub fn judged(
    connection: &mut rusqlite::Connection,
    sql: &str,
) -> Result<(&'static str, Option<String>), String> {
    let statement = statement::parse(sql)?;
    let gate =
        gate::Gate::close(connection, statement.kind, &None).map_err(|error| error.to_string())?;
    let agreed = match connection.prepare(sql) {
        Ok(prepared) => gate.agrees_with(&statement, prepared.readonly()),
        Err(error) => Err(gate.refusal().unwrap_or_else(|| error.to_string())),
    };
    gate::Gate::open(connection).map_err(|error| error.to_string())?;
    agreed?;
    let kind = match statement.kind {
        statement::Kind::Read => "read",
        statement::Kind::Insert => "insert",
        statement::Kind::Update => "update",
        statement::Kind::Delete => "delete",
        statement::Kind::Define => "define",
    };
    Ok((kind, statement.table))
}
