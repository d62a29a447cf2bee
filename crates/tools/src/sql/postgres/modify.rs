//! Changes on PostgreSQL: one statement, shown before it runs and run exactly once.

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

use super::super::change::RowCount;
use super::super::change_preview::{self, ChangeSummary};
use super::super::databases::{describe_allowlist, sql_of};
use super::super::statement::SqlStatementKind;
use super::change::PgChange;
use super::check::PgTableAllowlist;
use super::failure::PgFailure;
use super::query::{arguments_schema, qualify_tables};
use super::statement::parse_pg_statement;
use super::target::PgTarget;
use crate::bad_tool::BadTool;
use crate::limits::{ROWS_MAX, SQL_TIME_LIMIT};

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PgModifyConfig {
    pub name: String,
    pub target: PgTarget,
    /// Tables that may be read and changed, as `schema.table`; `None` for all that the user may.
    pub tables: Option<Vec<String>>,
    /// Rows that one statement may change, with those that triggers and foreign keys change.
    pub rows_max: Option<u64>,
    /// Rows of a RETURNING clause that are given back.
    pub rows_kept: usize,
    pub time_limit: Duration,
    /// Also lets tables, indexes and views be made, changed and dropped.
    pub allow_ddl: bool,
    /// Wants a person to look at every change, even where policy would allow it.
    pub ask: bool,
}

impl PgModifyConfig {
    pub fn new(target: PgTarget) -> PgModifyConfig {
        PgModifyConfig {
            name: "sql_modify".into(),
            target,
            tables: None,
            rows_max: None,
            rows_kept: ROWS_MAX,
            time_limit: SQL_TIME_LIMIT,
            allow_ddl: false,
            ask: true,
        }
    }
}

#[derive(Debug)]
pub struct PgModify {
    tool: Tool,
    config: PgModifyConfig,
    tables: PgTableAllowlist,
}

impl PgModify {
    pub fn new(config: PgModifyConfig) -> Result<PgModify, BadTool> {
        let tables = qualify_tables(&config.tables);
        if config.allow_ddl && tables.is_some() {
            return Err(BadTool::new(
                &config.name,
                "a list of tables says nothing about new ones: take `tables` or `allow_ddl` out",
            ));
        }
        let what = if config.allow_ddl {
            "INSERT, UPDATE, DELETE, or a change of tables"
        } else {
            "INSERT, UPDATE or DELETE"
        };
        let tool = Tool::new(
            &config.name,
            &format!(
                "Runs one SQL statement ({what}) on a PostgreSQL database{}. A person sees how many rows it touches and may be asked first.",
                describe_allowlist(&tables)
            ),
            arguments_schema("one SQL statement"),
            Effects::Transactional,
            Place::Server,
            &format!(
                "postgres write {:?} tables={tables:?} rows_max={:?} ddl={}",
                config.target, config.rows_max, config.allow_ddl
            ),
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(PgModify { tool, config, tables })
    }

    fn parse_change(&self, arguments: &Arguments) -> Result<PgChange, String> {
        let sql = sql_of(arguments.value())?;
        let statement = parse_pg_statement(sql)?;
        match statement.what.kind {
            SqlStatementKind::Read => {
                return Err("this statement changes nothing; use the query tool".into());
            }
            SqlStatementKind::Define if !self.config.allow_ddl => {
                return Err("tables, indexes and views cannot be changed here".into());
            }
            _ => {}
        }
        // What a change of tables names is not looked up on the server; this one name is known.
        if statement.what.kind == SqlStatementKind::Define
            && sql.to_lowercase().contains(super::super::marker::TABLE)
        {
            return Err("that is Holdpoint's own table".into());
        }
        Ok(PgChange {
            target: self.config.target.clone(),
            sql: sql.to_owned(),
            statement,
            tables: self.tables.clone(),
            rows_kept: self.config.rows_kept,
            rows_max: self.config.rows_max,
            time_limit: self.config.time_limit,
        })
    }
}

#[async_trait]
impl ToolHost for PgModify {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let change = self.parse_change(arguments).map_err(PrepareError::Unsound)?;
        match change.try_out().await {
            Ok((counted, tables)) => Ok(change_preview::prepared(
                &ChangeSummary {
                    statement: &change.statement.what,
                    sql: &change.sql,
                    database: change.target.database_name(),
                    place: change.target.place(),
                    counted,
                    tables,
                },
                self.config.ask,
            )),
            Err(failure) if failure.is_the_statements() => {
                Err(PrepareError::Unsound(failure.describe()))
            }
            Err(failure) => Err(PrepareError::Blind {
                why: NoPreviewReason::because(PhraseCode::RowsUncounted, failure.reason()),
                sql: Some(change.statement.facts_unseen()),
            }),
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
        // Empty when it could not be tried, and the person approved it knowing that; without a count
        // when it was estimated.
        if !detail.is_empty() && detail.lines().next() != Some(&change.target.place()) {
            let why = "it is not the database that was approved; propose it again";
            return Ok(nothing(why.into()));
        }
        if stop.is_cancelled() {
            return Ok(nothing("it was stopped before it began".into()));
        }
        let (key, attempt) = (call.call().idempotency_key(), call.attempt());
        Ok(
            match change.apply_once(&key, attempt, RowCount::of_detail(detail), &start, &stop).await
            {
                Ok(recorded) => Outcome::Succeeded(Output::text(recorded)),
                Err(PgFailure::NotBegun(refused)) => return Err(refused),
                Err(PgFailure::InDoubt(evidence)) => Outcome::Unknown { evidence },
                Err(failure) => nothing(failure.describe()),
            },
        )
    }

    async fn announce(&self, call: &Call, attempt: u32) -> Result<(), String> {
        let change = self.parse_change(&call.arguments)?;
        let announced = change.announce_attempt(&call.idempotency_key(), attempt).await;
        announced.map_err(|failure| failure.describe())
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        let unknown = |evidence: String| Recovery::Unknown { evidence };
        let change = match self.parse_change(&call.arguments) {
            Ok(change) => change,
            Err(why) => return unknown(format!("the statement can no longer be read: {why}")),
        };
        if call.context.detail.lines().next().is_some_and(|line| *line != *change.target.place()) {
            return unknown("the database is not the one that it was run on".into());
        }
        match change.look_back(&call.idempotency_key(), attempt).await {
            Ok(Some(recorded)) => Recovery::Done(Outcome::Succeeded(Output::text(recorded))),
            Ok(None) => Recovery::NeverHappened,
            Err(PgFailure::InDoubt(evidence)) => unknown(evidence),
            Err(failure) => {
                unknown(format!("the marker could not be read: {}", failure.describe()))
            }
        }
    }
}
