//! Queries on PostgreSQL: one statement that reads, in a transaction that can do nothing else.

use std::time::Duration;

use async_trait::async_trait;
use domain::call::ExecutionContext;
use domain::caption::CaptionKind;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::sql_facts::SqlTables;
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::super::databases::{describe_allowlist, sql_of};
use super::super::rows::SqlRows;
use super::super::statement::SqlStatementKind;
use super::check::{self, PgTableAllowlist};
use super::cut_query::{cut_plan, cut_query};
use super::failure::PgFailure;
use super::rows::RowCollector;
use super::session::{PgSession, TransactionMode};
use super::statement::{PgStatement, parse_pg_statement};
use super::target::PgTarget;
use crate::bad_tool::BadTool;
use crate::limits::{ROWS_MAX, SQL_BYTES_MAX, SQL_TIME_LIMIT};
use crate::title::titled;

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PgQueryConfig {
    pub name: String,
    pub target: PgTarget,
    /// Tables and views that may be read, as `schema.table`; `None` for all that the user may read.
    pub tables: Option<Vec<String>>,
    pub rows_max: usize,
    pub time_limit: Duration,
}

impl PgQueryConfig {
    pub fn new(target: PgTarget) -> PgQueryConfig {
        PgQueryConfig {
            name: "sql_query".into(),
            target,
            tables: None,
            rows_max: ROWS_MAX,
            time_limit: SQL_TIME_LIMIT,
        }
    }
}

#[derive(Debug)]
pub struct PgQuery {
    tool: Tool,
    config: PgQueryConfig,
    tables: PgTableAllowlist,
}

const CURSOR: &str = "holdpoint_rows";

impl PgQuery {
    pub fn new(config: PgQueryConfig) -> Result<PgQuery, BadTool> {
        let tables = qualify_tables(&config.tables);
        let description = format!(
            "Runs one SQL query (SELECT, VALUES, WITH … SELECT, EXPLAIN) on a PostgreSQL database{} and returns at most {} rows. It cannot change anything.",
            describe_allowlist(&tables),
            config.rows_max
        );
        let tool = Tool::new(
            &config.name,
            &description,
            arguments_schema("one SQL query"),
            Effects::ReadOnly,
            Place::Server,
            &format!("postgres read {:?} tables={tables:?}", config.target),
        )
        .map_err(|why| BadTool::new(&config.name, why))?;
        Ok(PgQuery { tool, config, tables })
    }

    fn parse_statement(&self, arguments: &Arguments) -> Result<(String, PgStatement), String> {
        let sql = sql_of(arguments.value())?;
        let statement = parse_pg_statement(sql)?;
        if statement.what.kind != SqlStatementKind::Read {
            return Err(
                "this tool only reads: write SELECT, VALUES, WITH … SELECT or EXPLAIN".into()
            );
        }
        Ok((sql.to_owned(), statement))
    }

    /// Has the statement looked at by the server, and with `start` carried out.
    async fn read_rows(
        &self,
        session: &PgSession,
        sql: &str,
        statement: &PgStatement,
        start: Option<&Start>,
    ) -> Result<(SqlRows, SqlTables), PgFailure> {
        session.begin_transaction(TransactionMode::ReadOnly, self.config.time_limit).await?;
        let tables = check::check_names(session, statement, &self.tables).await?;
        let prepared = session.client.prepare(sql).await?;
        if !prepared.params().is_empty() {
            return Err(PgFailure::Refused("parameters such as $1 have no values here".into()));
        }
        let mut rows = RowCollector::new(&prepared, self.config.rows_max);
        // The first poll puts a request on its way; what the server takes for it is the query's own time.
        match (start, statement.explains) {
            (None, _) => {}
            (Some(start), true) => {
                let [plan, read] = cut_plan(sql);
                let starting = start.enter().await?;
                starting.first_poll(session.client.batch_execute(&plan)).await?;
                rows.run_query(session, &read).await?;
            }
            (Some(start), false) => {
                // A cursor takes nothing but a query, and gives no more than it is asked for. It is
                // prepared first, and so cannot be two statements either.
                let query = cut_query(sql, &prepared).map_err(PgFailure::Refused)?;
                let declare = format!("DECLARE {CURSOR} NO SCROLL CURSOR FOR {query}");
                let declared = session.client.prepare(&declare).await?;
                let starting = start.enter().await?;
                starting.first_poll(session.client.execute(&declared, &[])).await?;
                check::check_opened_tables(session, &self.tables).await?;
                rows.fetch_from(session, CURSOR).await?;
            }
        }
        session.client.batch_execute("ROLLBACK").await?;
        Ok((rows.kept, tables))
    }
}

/// What every SQL tool on PostgreSQL takes.
pub(super) fn arguments_schema(what: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "sql": {"type": "string", "minLength": 1, "maxLength": SQL_BYTES_MAX, "description": what},
        },
        "required": ["sql"],
        "additionalProperties": false,
    })
}

/// A name without a schema is one of `public`.
pub(super) fn qualify_tables(tables: &Option<Vec<String>>) -> PgTableAllowlist {
    let whole = |table: &String| match table.contains('.') {
        true => table.clone(),
        false => format!("public.{table}"),
    };
    tables.as_ref().map(|tables| tables.iter().map(whole).collect())
}

#[async_trait]
impl ToolHost for PgQuery {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let (sql, statement) = self.parse_statement(arguments).map_err(PrepareError::Unsound)?;
        let target = &self.config.target;
        let mut prepared = Prepared {
            context: ExecutionContext {
                detail: target.place_read_only(),
                ..ExecutionContext::default()
            },
            title: Some(titled(CaptionKind::QueryDatabase {
                database: target.database_name().to_string(),
                sql: sql.to_string(),
            })),
            ..Prepared::default()
        };
        let looked = async {
            let session = PgSession::connect(target, "holdpoint preview").await?;
            let (_, tables) = self.read_rows(&session, &sql, &statement, None).await?;
            session.disconnect().await;
            Ok::<_, PgFailure>(tables)
        };
        match looked.await {
            Ok(tables) => {
                prepared.context.sql = Some(statement.what.sql_facts(tables, None));
                Ok(prepared)
            }
            Err(failure) if failure.is_the_statements() => {
                Err(PrepareError::Unsound(failure.describe()))
            }
            Err(failure) => Err(PrepareError::Blind {
                why: NoPreviewReason::because(PhraseCode::DatabaseUnreadable, failure.reason()),
                sql: Some(statement.facts_unseen()),
            }),
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
        let (sql, statement) = match self.parse_statement(&call.call().arguments) {
            Ok(plan) => plan,
            Err(why) => return Ok(failed(why)),
        };
        if stop.is_cancelled() {
            return Ok(failed("it was stopped before it began".into()));
        }
        let session = match PgSession::connect(&self.config.target, "holdpoint query").await {
            Ok(session) => session,
            Err(failure) => return Ok(failed(failure.describe())),
        };
        let (token, tls) = session.canceller();
        let read = {
            let mut work = std::pin::pin!(self.read_rows(&session, &sql, &statement, Some(&start)));
            tokio::select! {
                read = &mut work => read,
                () = stop.cancelled() => {
                    let _ = token.cancel_query(tls).await;
                    work.await
                }
            }
        };
        session.disconnect().await;
        Ok(match read {
            Ok((rows, _)) => Outcome::Succeeded(Output::text(rows.to_json().to_string())),
            Err(PgFailure::NotBegun(refused)) => return Err(refused),
            Err(failure) => failed(failure.describe()),
        })
    }
}
