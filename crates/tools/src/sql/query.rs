//! `sql_query`: one statement that reads.

use std::time::Duration;

use async_trait::async_trait;
use domain::call::ExecutionContext;
use domain::caption::CaptionKind;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::sql_facts::SqlTables;
use domain::tool::{Effects, Place, Tool};
use domain::visible::visible;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use tokio_util::sync::CancellationToken;

use super::authorizer::{SqlAuthorizer, TableAllowlist};
use super::connection::{SqlErrorClass, StopFlag, ValueBound, classify_error, open_to_read};
use super::databases::{ChosenDatabase, SqlDatabases, describe_allowlist, sql_of};
use super::rows::{RowTrouble, SqlRows};
use super::statement::{SqlStatement, SqlStatementKind, check_parameters, parse_statement};
use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::limits::{ROWS_MAX, SQL_TIME_LIMIT};
use crate::title::titled;

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QueryConfig {
    pub name: String,
    pub databases: SqlDatabases,
    pub rows_max: usize,
    /// Tables that may be read, and whatever is behind a view; `None` for all.
    pub tables: Option<Vec<String>>,
    pub time_limit: Duration,
}

impl QueryConfig {
    pub fn new(databases: SqlDatabases) -> QueryConfig {
        QueryConfig {
            name: "sql_query".into(),
            databases,
            rows_max: ROWS_MAX,
            tables: None,
            time_limit: SQL_TIME_LIMIT,
        }
    }
}

#[derive(Debug)]
pub struct SqlQuery {
    tool: Tool,
    config: QueryConfig,
}

impl SqlQuery {
    pub fn new(config: QueryConfig) -> Result<SqlQuery, BadTool> {
        let description = format!(
            "Runs one SQL query (SELECT, VALUES, WITH … SELECT, EXPLAIN) on a SQLite database{} and returns at most {} rows. It cannot change anything.",
            describe_allowlist(&config.tables),
            config.rows_max
        );
        let tool = Tool::new(
            &config.name,
            &description,
            config.databases.arguments_schema("one SQL query"),
            Effects::ReadOnly,
            Place::Server,
            &format!("sqlite read {} tables={:?}", config.databases.tool_origin(), config.tables),
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(SqlQuery { tool, config })
    }

    fn parse_query(
        &self,
        arguments: &Arguments,
    ) -> Result<(ChosenDatabase, String, SqlStatement), String> {
        let sql = sql_of(arguments.value())?;
        let statement = parse_statement(sql)?;
        if statement.kind != SqlStatementKind::Read {
            return Err(
                "only queries are allowed here: SELECT, VALUES, WITH … SELECT or EXPLAIN".into()
            );
        }
        Ok((self.config.databases.choose_database(arguments.value())?, sql.to_owned(), statement))
    }
}

enum SqlQueryFailure {
    Refused(String),
    Database(rusqlite::Error),
    NotBegun(NotBegun),
}

impl From<NotBegun> for SqlQueryFailure {
    fn from(refused: NotBegun) -> SqlQueryFailure {
        SqlQueryFailure::NotBegun(refused)
    }
}

impl From<rusqlite::Error> for SqlQueryFailure {
    fn from(error: rusqlite::Error) -> SqlQueryFailure {
        SqlQueryFailure::Database(error)
    }
}

impl SqlQueryFailure {
    fn describe(&self) -> String {
        match self {
            SqlQueryFailure::Refused(why) => why.clone(),
            SqlQueryFailure::Database(error)
                if classify_error(error) == SqlErrorClass::Interrupted =>
            {
                "it was stopped, or ran into its time limit".into()
            }
            SqlQueryFailure::Database(error) => visible(&error.to_string()),
            SqlQueryFailure::NotBegun(refused) => refused.to_string(),
        }
    }
}

/// How a statement is run once it is compiled.
struct QueryExecution {
    rows_max: usize,
    start: Start,
}

/// Compiles the statement, and with `running` runs it.
fn read_rows(
    database: &ChosenDatabase,
    sql: &str,
    statement: &SqlStatement,
    tables: &TableAllowlist,
    running: Option<QueryExecution>,
    limit: Duration,
    stop: &StopFlag,
) -> Result<QueryFindings, SqlQueryFailure> {
    let mut connection = open_to_read(&database.path, limit, stop)?;
    // Waits here for the process that holds the file. From then on it is ours to read, and no later step waits.
    connection.execute_batch("BEGIN; SELECT 1 FROM main.sqlite_schema LIMIT 1")?;
    let authorizer = SqlAuthorizer::install(&mut connection, SqlStatementKind::Read, tables)?;
    let bound = ValueBound::set_for(&connection, sql)?;
    let refused = |error| match authorizer.refusal().or_else(|| bound.refusal(&error)) {
        Some(why) => SqlQueryFailure::Refused(why),
        None => SqlQueryFailure::Database(error),
    };
    let mut prepared = connection.prepare(sql).map_err(refused)?;
    // EXPLAIN compiles to something that SQLite itself calls read-only, like every query.
    authorizer.agrees_with(statement, prepared.readonly()).map_err(SqlQueryFailure::Refused)?;
    check_parameters(&prepared).map_err(SqlQueryFailure::Refused)?;
    let rows = match running {
        None => None,
        Some(QueryExecution { rows_max, start }) => {
            // Let go when its first step begins: that step alone may be the whole of a long query.
            drop(start.enter_blocking()?);
            let rows = SqlRows::collect(&mut prepared, rows_max, false);
            Some(rows.map_err(|trouble| match (trouble, stop.memory_refusal()) {
                (RowTrouble::TooLong(why), _) | (_, Some(why)) => SqlQueryFailure::Refused(why),
                (RowTrouble::Database(error), None) => refused(error),
            })?)
        }
    };
    Ok(QueryFindings { tables: authorizer.seen_tables(), rows })
}

struct QueryFindings {
    tables: SqlTables,
    /// If it was run.
    rows: Option<SqlRows>,
}

#[async_trait]
impl ToolHost for SqlQuery {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let (database, sql, statement) =
            self.parse_query(arguments).map_err(PrepareError::Unsound)?;
        let mut prepared = Prepared {
            context: ExecutionContext {
                detail: database.place_read_only(),
                ..ExecutionContext::default()
            },
            title: Some(titled(CaptionKind::QueryDatabase {
                database: database.name.to_string(),
                sql: sql.to_string(),
            })),
            ..Prepared::default()
        };
        let (limit, tables) = (self.config.time_limit, self.config.tables.clone());
        let unseen = statement.facts_unseen();
        let looked = run_blocking(move || {
            let seen =
                read_rows(&database, &sql, &statement, &tables, None, limit, &StopFlag::default())?;
            Ok(statement.sql_facts(seen.tables, None))
        })
        .await;
        match looked {
            Ok(facts) => {
                prepared.context.sql = Some(facts);
                Ok(prepared)
            }
            Err(SqlQueryFailure::Database(error))
                if classify_error(&error) != SqlErrorClass::Statement =>
            {
                Err(PrepareError::Blind {
                    why: NoPreviewReason::because(
                        PhraseCode::DatabaseUnreadable,
                        visible(&error.to_string()).into(),
                    ),
                    sql: Some(unseen),
                })
            }
            Err(failure) => Err(PrepareError::Unsound(failure.describe())),
        }
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let failed =
            |why: String| Outcome::Failed(Output::text(format!("The query failed: {why}")));
        let (database, sql, statement) = match self.parse_query(&call.call().arguments) {
            Ok(plan) => plan,
            Err(why) => return Ok(failed(why)),
        };
        let running = QueryExecution { rows_max: self.config.rows_max, start };
        let limit = self.config.time_limit;
        let tables = self.config.tables.clone();
        let flag = StopFlag::default();
        let raised = flag.clone();
        let work = run_blocking(move || {
            read_rows(&database, &sql, &statement, &tables, Some(running), limit, &raised)
        });
        let mut work = std::pin::pin!(work);
        let done = tokio::select! {
            done = &mut work => done,
            () = stop.cancelled() => {
                flag.raise();
                work.await
            }
        };
        Ok(match done {
            Ok(QueryFindings { rows: Some(rows), .. }) => {
                Outcome::Succeeded(Output::text(rows.to_json().to_string()))
            }
            Ok(QueryFindings { rows: None, .. }) => failed("nothing was read".into()),
            Err(SqlQueryFailure::NotBegun(refused)) => return Err(refused),
            Err(failure) => failed(failure.describe()),
        })
    }
}

#[cfg(test)]
mod tests;
