//! `sql_modify`: one statement that changes rows, shown before it runs and run exactly once.

use std::time::Duration;

use async_trait::async_trait;
use domain::call::Call;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use tokio_util::sync::CancellationToken;

use super::change::{RowCount, SqlChange, SqlChangeFailure, TriedChange};
use super::change_preview::{self, ChangeSummary, CountedRows};
use super::connection::{SqlErrorClass, StopFlag, classify_error};
use super::databases::{SqlDatabases, describe_allowlist, sql_of};
use super::statement::{SqlStatementKind, parse_statement};
use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::limits::{ROWS_MAX, SQL_TIME_LIMIT};

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModifyConfig {
    pub name: String,
    pub databases: SqlDatabases,
    /// Rows of a RETURNING clause that are given back.
    pub rows_max: usize,
    /// Tables that may be touched; `None` for all.
    pub tables: Option<Vec<String>>,
    /// Rows that one statement may change, with those that triggers and foreign keys change.
    pub changes_max: Option<u64>,
    pub time_limit: Duration,
    /// Also lets tables, indexes, views and triggers be made, changed and dropped.
    pub allow_ddl: bool,
    /// Wants a person to look at every change, even where policy would allow it.
    pub ask: bool,
}

impl ModifyConfig {
    pub fn new(databases: SqlDatabases) -> ModifyConfig {
        ModifyConfig {
            name: "sql_modify".into(),
            databases,
            rows_max: ROWS_MAX,
            tables: None,
            changes_max: None,
            time_limit: SQL_TIME_LIMIT,
            allow_ddl: false,
            ask: true,
        }
    }
}

#[derive(Debug)]
pub struct SqlModify {
    tool: Tool,
    config: ModifyConfig,
}

impl SqlModify {
    pub fn new(config: ModifyConfig) -> Result<SqlModify, BadTool> {
        let what = if config.allow_ddl {
            "INSERT, REPLACE, UPDATE, DELETE, or a change of tables"
        } else {
            "INSERT, REPLACE, UPDATE or DELETE"
        };
        if config.allow_ddl && config.tables.is_some() {
            let why =
                "a list of tables says nothing about new ones: take `tables` or `allow_ddl` out";
            return Err(BadTool::new(&config.name, why));
        }
        let only = describe_allowlist(&config.tables);
        let tool = Tool::new(
            &config.name,
            &format!("Runs one SQL statement ({what}) on a SQLite database{only}. A person sees how many rows it touches and may be asked first."),
            config.databases.arguments_schema("one SQL statement"),
            Effects::Transactional,
            Place::Server,
            &format!(
                "sqlite write {} ddl={} tables={:?} rows_max={:?}",
                config.databases.tool_origin(),
                config.allow_ddl,
                config.tables,
                config.changes_max
            ),
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(SqlModify { tool, config })
    }

    fn parse_change(&self, arguments: &Arguments) -> Result<SqlChange, String> {
        let sql = sql_of(arguments.value())?;
        let statement = parse_statement(sql)?;
        match statement.kind {
            SqlStatementKind::Read => {
                return Err("this statement changes nothing; use the query tool".into());
            }
            SqlStatementKind::Define if !self.config.allow_ddl => {
                return Err("tables, indexes, views and triggers cannot be changed here".into());
            }
            _ => {}
        }
        Ok(SqlChange {
            database: self.config.databases.choose_database(arguments.value())?,
            sql: sql.to_owned(),
            statement,
            tables: self.config.tables.clone(),
            rows_max: self.config.rows_max,
            changes_max: self.config.changes_max,
            time_limit: self.config.time_limit,
        })
    }
}

#[async_trait]
impl ToolHost for SqlModify {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let change = self.parse_change(arguments).map_err(PrepareError::Unsound)?;
        let trying = change.clone();
        match run_blocking(move || trying.try_out()).await {
            Ok(TriedChange { count, tables, replaces }) => Ok(change_preview::prepared(
                &ChangeSummary {
                    statement: &change.statement.clone().on_a_table_that(replaces),
                    sql: &change.sql,
                    database: &change.database.name,
                    place: change.database.place(),
                    counted: CountedRows::Exactly(count),
                    tables,
                },
                self.config.ask,
            )),
            Err(failure) => {
                let why = failure.reason();
                match failure {
                    SqlChangeFailure::Database(error)
                        if classify_error(&error) != SqlErrorClass::Statement =>
                    {
                        Err(PrepareError::Blind {
                            why: NoPreviewReason::because(PhraseCode::RowsUncounted, why),
                            sql: Some(change.statement.facts_unseen()),
                        })
                    }
                    _ => Err(PrepareError::Unsound(why.into())),
                }
            }
        }
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let nothing =
            |why: String| Outcome::Failed(Output::text(format!("Nothing was changed: {why}")));
        let change = match self.parse_change(&call.call().arguments) {
            Ok(change) => change,
            Err(why) => return Ok(nothing(why)),
        };
        let detail = &call.call().context.detail;
        // Empty when it could not be tried, and the person approved it knowing that.
        let seen = RowCount::of_detail(detail);
        if !detail.is_empty()
            && (seen.is_none() || detail.lines().next() != Some(&change.database.place()))
        {
            let why = "it is not the database that was approved; propose it again";
            return Ok(nothing(why.into()));
        }
        let (key, attempt) = (call.call().idempotency_key(), call.attempt());
        let flag = StopFlag::default();
        let raised = flag.clone();
        let work = run_blocking(move || change.apply_once(&key, attempt, seen, &start, &raised));
        let mut work = std::pin::pin!(work);
        let made = tokio::select! {
            made = &mut work => made,
            () = stop.cancelled() => {
                flag.raise();
                // Either the change is undone or it was too late to stop it; the answer is the truth.
                work.await
            }
        };
        Ok(match made {
            Ok(recorded) => Outcome::Succeeded(Output::text(recorded)),
            Err(SqlChangeFailure::NotBegun(refused)) => return Err(refused),
            Err(SqlChangeFailure::InDoubt(evidence)) => Outcome::Unknown { evidence },
            Err(failure) => nothing(failure.describe()),
        })
    }

    async fn announce(&self, call: &Call, attempt: u32) -> Result<(), String> {
        let (change, key) = (self.parse_change(&call.arguments)?, call.idempotency_key());
        let announced = run_blocking(move || change.announce_attempt(&key, attempt)).await;
        announced.map_err(|failure| failure.describe())
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        let unknown = |evidence: String| Recovery::Unknown { evidence };
        let change = match self.parse_change(&call.arguments) {
            Ok(change) => change,
            Err(why) => return unknown(format!("the statement can no longer be read: {why}")),
        };
        if call.context.detail.lines().next().is_some_and(|line| *line != *change.database.place())
        {
            return unknown("the database is not the one that it was run on".into());
        }
        let key = call.idempotency_key();
        match run_blocking(move || change.look_back(&key, attempt)).await {
            Ok(Some(recorded)) => Recovery::Done(Outcome::Succeeded(Output::text(recorded))),
            Ok(None) => Recovery::NeverHappened,
            Err(SqlChangeFailure::InDoubt(evidence)) => unknown(evidence),
            Err(failure) => {
                unknown(format!("the marker could not be read: {}", failure.describe()))
            }
        }
    }
}

#[cfg(test)]
mod tests;
