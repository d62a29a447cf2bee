//! `sql_query`: one statement that reads.

use std::time::Duration;

use async_trait::async_trait;
use domain::call::{ClearedCall, ExecutionContext};
use domain::caption::CaptionKind;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::sql_facts::SqlTables;
use domain::tool::{Effects, Place, Tool};
use domain::visible::visible;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use tokio_util::sync::CancellationToken;

use super::connection::{StopFlag, Trouble, ValueBound, open_to_read, trouble};
use super::databases::{Database, Databases, only, sql_of};
use super::gate::{Gate, Tables};
use super::rows::{RowTrouble, Rows};
use super::statement::{Kind, Statement, check_parameters, parse};
use crate::bad_tool::BadTool;
use crate::limits::{ROWS_MAX, SQL_TIME_LIMIT};
use crate::process::blocking;
use crate::title::titled;

#[derive(Clone, Debug)]
pub struct QueryConfig {
    pub name: String,
    pub databases: Databases,
    pub rows_max: usize,
    /// Tables that may be read, and whatever is behind a view; `None` for all.
    pub tables: Option<Vec<String>>,
    pub time_limit: Duration,
}

impl QueryConfig {
    pub fn new(databases: Databases) -> QueryConfig {
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
            only(&config.tables),
            config.rows_max
        );
        let tool = Tool::new(
            &config.name,
            &description,
            config.databases.schema("one SQL query"),
            Effects::ReadOnly,
            Place::Server,
            &format!("sqlite read {} tables={:?}", config.databases.origin(), config.tables),
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(SqlQuery { tool, config })
    }

    fn plan(&self, arguments: &Arguments) -> Result<(Database, String, Statement), String> {
        let sql = sql_of(arguments.value())?;
        let statement = parse(sql)?;
        if statement.kind != Kind::Read {
            return Err(
                "only queries are allowed here: SELECT, VALUES, WITH … SELECT or EXPLAIN".into()
            );
        }
        Ok((self.config.databases.chosen(arguments.value())?, sql.to_owned(), statement))
    }
}

enum Failure {
    Refused(String),
    Database(rusqlite::Error),
    NotBegun(NotBegun),
}

impl From<NotBegun> for Failure {
    fn from(refused: NotBegun) -> Failure {
        Failure::NotBegun(refused)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Database(error)
    }
}

impl Failure {
    fn text(&self) -> String {
        match self {
            Failure::Refused(why) => why.clone(),
            Failure::Database(error) if trouble(error) == Trouble::Interrupted => {
                "it was stopped, or ran into its time limit".into()
            }
            Failure::Database(error) => visible(&error.to_string()),
            Failure::NotBegun(refused) => refused.to_string(),
        }
    }
}

/// How a statement is run once it is compiled.
struct Running {
    rows_max: usize,
    start: Start,
}

/// Compiles the statement, and with `running` runs it.
fn read(
    database: &Database,
    sql: &str,
    statement: &Statement,
    tables: &Tables,
    running: Option<Running>,
    limit: Duration,
    stop: &StopFlag,
) -> Result<Seen, Failure> {
    let mut connection = open_to_read(&database.path, limit, stop)?;
    // Waits here for whoever holds the file. From then on it is ours to read, and no later step waits.
    connection.execute_batch("BEGIN; SELECT 1 FROM main.sqlite_schema LIMIT 1")?;
    let gate = Gate::close(&mut connection, Kind::Read, tables)?;
    let bound = ValueBound::set(&connection, sql)?;
    let refused = |error| match gate.refusal().or_else(|| bound.refusal(&error)) {
        Some(why) => Failure::Refused(why),
        None => Failure::Database(error),
    };
    let mut prepared = connection.prepare(sql).map_err(refused)?;
    // EXPLAIN compiles to something that SQLite itself calls read-only, like every query.
    gate.agrees_with(statement, prepared.readonly()).map_err(Failure::Refused)?;
    check_parameters(&prepared).map_err(Failure::Refused)?;
    let rows = match running {
        None => None,
        Some(Running { rows_max, start }) => {
            // Let go when its first step begins: that step alone may be the whole of a long query.
            drop(start.enter_blocking()?);
            let rows = Rows::collect(&mut prepared, rows_max, false);
            Some(rows.map_err(|trouble| match (trouble, stop.memory_refusal()) {
                (RowTrouble::TooLong(why), _) | (_, Some(why)) => Failure::Refused(why),
                (RowTrouble::Database(error), None) => refused(error),
            })?)
        }
    };
    Ok(Seen { tables: gate.tables(), rows })
}

struct Seen {
    tables: SqlTables,
    /// If it was run.
    rows: Option<Rows>,
}

#[async_trait]
impl ToolHost for SqlQuery {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let (database, sql, statement) = self.plan(arguments).map_err(PrepareError::Unsound)?;
        let mut prepared = Prepared {
            context: ExecutionContext {
                detail: format!("{}, read only", database.line()),
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
        let looked = blocking(move || {
            let seen =
                read(&database, &sql, &statement, &tables, None, limit, &StopFlag::default())?;
            Ok(statement.facts(seen.tables, None))
        })
        .await;
        match looked {
            Ok(facts) => {
                prepared.context.sql = Some(facts);
                Ok(prepared)
            }
            Err(Failure::Database(error)) if trouble(&error) != Trouble::Statement => {
                Err(PrepareError::Blind {
                    why: format!("the database cannot be read: {}", visible(&error.to_string())),
                    sql: Some(unseen),
                })
            }
            Err(failure) => Err(PrepareError::Unsound(failure.text())),
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
        let (database, sql, statement) = match self.plan(&call.call().arguments) {
            Ok(plan) => plan,
            Err(why) => return Ok(failed(why)),
        };
        let running = Running { rows_max: self.config.rows_max, start };
        let limit = self.config.time_limit;
        let tables = self.config.tables.clone();
        let flag = StopFlag::default();
        let raised = flag.clone();
        let work = blocking(move || {
            read(&database, &sql, &statement, &tables, Some(running), limit, &raised)
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
            Ok(Seen { rows: Some(rows), .. }) => {
                Outcome::Succeeded(Output::text(rows.json().to_string()))
            }
            Ok(Seen { rows: None, .. }) => failed("nothing was read".into()),
            Err(Failure::NotBegun(refused)) => return Err(refused),
            Err(failure) => failed(failure.text()),
        })
    }
}

#[cfg(test)]
mod tests;
