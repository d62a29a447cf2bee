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

mod authorizer;
mod change;
mod change_preview;
mod connection;
mod databases;
#[cfg(test)]
mod facts_tests;
mod marker;
mod modify;
pub mod postgres;
mod query;
mod rows;
mod statement;

use domain::sql_facts::SqlFacts;

pub use databases::SqlDatabases;
pub use modify::{ModifyConfig, SqlModify};
pub use query::{QueryConfig, SqlQuery};

/// What the parser alone can say about a statement, for `policy explain`: without the database neither
/// rows nor tables behind views, triggers and foreign keys are known. `Err` says why nothing is.
pub fn facts_of_text(dialect: SqlDialect, sql: &str) -> Result<SqlFacts, String> {
    match dialect {
        SqlDialect::Sqlite => {
            statement::parse_statement(sql).map(|statement| statement.facts_unseen())
        }
        SqlDialect::Postgres => {
            postgres::statement::parse_pg_statement(sql).map(|statement| statement.facts_unseen())
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlDialect {
    Sqlite,
    Postgres,
}

/// What both readers of a statement say it is, and the table that it changes, on a database that the
/// caller brings along; nothing is run. Fuzz targets call it with hostile text.
pub fn judge_statement(
    connection: &mut rusqlite::Connection,
    sql: &str,
) -> Result<(&'static str, Option<String>), String> {
    let statement = statement::parse_statement(sql)?;
    let authorizer = authorizer::SqlAuthorizer::install(connection, statement.kind, &None)
        .map_err(|error| error.to_string())?;
    let agreed = match connection.prepare(sql) {
        Ok(prepared) => authorizer.agrees_with(&statement, prepared.readonly()),
        Err(error) => Err(authorizer.refusal().unwrap_or_else(|| error.to_string())),
    };
    authorizer::SqlAuthorizer::remove(connection).map_err(|error| error.to_string())?;
    agreed?;
    let kind = match statement.kind {
        statement::SqlStatementKind::Read => "read",
        statement::SqlStatementKind::Insert => "insert",
        statement::SqlStatementKind::Update => "update",
        statement::SqlStatementKind::Delete => "delete",
        statement::SqlStatementKind::Define => "define",
    };
    Ok((kind, statement.table))
}
