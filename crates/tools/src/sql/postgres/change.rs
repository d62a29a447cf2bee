//! Making one change, or only trying it.

use std::time::Duration;

use domain::sql_facts::SqlTables;
use ports::start_gate::Start;
use serde_json::Value;
use tokio_postgres::Error;
use tokio_util::sync::CancellationToken;

use super::super::change::RowCount;
use super::super::change_preview::CountedRows;
use super::super::marker::{BEGUN, GIVEN_UP, LOST, NO_TRACE, TABLE, announced_key, fence_key};
use super::super::rows::SqlRows;
use super::super::statement::SqlStatementKind;
use super::check::{self, PgTableAllowlist};
use super::cut_query::cut_change;
use super::failure::{PgFailure, describe_error};
use super::marker;
use super::rows::RowCollector;
use super::session::{PgSession, TransactionMode};
use super::statement::PgStatement;
use super::target::PgTarget;
use crate::limits::{
    SQL_BUSY_ATTEMPTS, SQL_LOOK_BACK_ATTEMPTS, SQL_LOOK_BACK_PAUSE, SQL_PREVIEW_LIMIT,
};

/// One statement and where it goes.
#[derive(Clone, Debug)]
pub(super) struct PgChange {
    pub(super) target: PgTarget,
    pub(super) sql: String,
    pub(super) statement: PgStatement,
    pub(super) tables: PgTableAllowlist,
    /// Rows of a RETURNING clause that are given back.
    pub(super) rows_kept: usize,
    /// Rows that it may change at the most.
    pub(super) rows_max: Option<u64>,
    pub(super) time_limit: Duration,
}

/// How far a transaction got before it failed.
enum TransactionFailure {
    /// The commit was never sent, so it never happened.
    Before(PgFailure),
    /// The commit was sent.
    At(Error),
}

impl From<PgFailure> for TransactionFailure {
    fn from(failure: PgFailure) -> TransactionFailure {
        TransactionFailure::Before(failure)
    }
}

impl PgChange {
    /// Counts what would change and says which tables it touches, and changes nothing.
    pub(super) async fn try_out(&self) -> Result<(CountedRows, SqlTables), PgFailure> {
        let limit = self.time_limit.min(SQL_PREVIEW_LIMIT);
        let session = PgSession::connect(&self.target, "holdpoint preview").await?;
        session.begin_transaction(TransactionMode::ReadOnly, limit).await?;
        marker::could_be_written(&session).await?;
        let mut tables = check::check_names(&session, &self.statement, &self.tables).await?;
        let untried = match &self.statement.target {
            Some(target) => {
                let fires = check::triggered_effects(&session, target).await?;
                tables.complete &= fires.untried.is_none() && !fires.reaches_others;
                fires.untried
            }
            None => None,
        };
        let counted = match untried {
            Some(because) => {
                let rows = self.estimate_rows(&session).await?;
                CountedRows::About { rows, because }
            }
            None => {
                session.client.batch_execute("ROLLBACK").await?;
                session.begin_transaction(TransactionMode::ReadWrite, limit).await?;
                let (count, _) = self.execute_statement(&session, None).await?;
                self.check_row_count(count)?;
                CountedRows::Exactly(count)
            }
        };
        session.client.batch_execute("ROLLBACK").await?;
        session.disconnect().await;
        Ok((counted, tables))
    }

    async fn estimate_rows(&self, session: &PgSession) -> Result<u64, PgFailure> {
        // Only a statement that the server takes as one is put behind another word.
        self.prepare_statement(session).await?;
        let explain = format!("EXPLAIN (FORMAT JSON) {}", self.sql);
        let mut text = String::new();
        for message in session.client.simple_query(&explain).await? {
            if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                text.push_str(row.get(0).unwrap_or_default());
            }
        }
        let plan: Value = serde_json::from_str(&text).unwrap_or_default();
        let below = plan.pointer("/0/Plan/Plans").and_then(Value::as_array);
        let rows = below.into_iter().flatten().filter_map(|plan| plan["Plan Rows"].as_u64());
        Ok(rows.sum())
    }

    /// Makes the change once, however often this is called with the same key, and gives what was
    /// recorded about it.
    pub(super) async fn apply_once(
        &self,
        key: &str,
        attempt: u32,
        seen: Option<RowCount>,
        start: &Start,
        stop: &CancellationToken,
    ) -> Result<String, PgFailure> {
        let mut tries = 1;
        loop {
            match self.try_apply(key, attempt, seen, start, stop).await {
                Err(failure)
                    if failure.is_busy() && tries < SQL_BUSY_ATTEMPTS && !stop.is_cancelled() =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    async fn try_apply(
        &self,
        key: &str,
        attempt: u32,
        seen: Option<RowCount>,
        start: &Start,
        stop: &CancellationToken,
    ) -> Result<String, PgFailure> {
        let session = PgSession::connect(&self.target, &session_purpose(key, attempt)).await?;
        marker::make_table(&session).await?;
        let (token, tls) = session.canceller();
        let made = {
            let mut work =
                std::pin::pin!(self.run_transaction(&session, key, attempt, seen, start));
            tokio::select! {
                made = &mut work => made,
                () = stop.cancelled() => {
                    // Either the change is undone or it was too late to stop it; the answer is the truth.
                    let _ = token.cancel_query(tls).await;
                    work.await
                }
            }
        };
        let result = match made {
            Ok(recorded) => Ok(recorded),
            Err(TransactionFailure::Before(failure)) => Err(failure),
            Err(TransactionFailure::At(error)) => {
                return self.settle_commit(session, key, attempt, error).await;
            }
        };
        session.disconnect().await;
        result
    }

    async fn run_transaction(
        &self,
        session: &PgSession,
        key: &str,
        attempt: u32,
        seen: Option<RowCount>,
        start: &Start,
    ) -> Result<String, TransactionFailure> {
        session.begin_transaction(TransactionMode::ReadWrite, self.time_limit).await?;
        if !marker::lock_attempt_row(session, key, attempt, BEGUN).await? {
            return match marker::find_result(session, key).await? {
                Some(recorded) => Ok(recorded),
                None => Err(PgFailure::GivenUp.into()),
            };
        }
        if let Some(recorded) = marker::find_result(session, key).await? {
            return Ok(recorded);
        }
        check::check_names(session, &self.statement, &self.tables).await?;
        // What was written so far is undone with the session where the gate refuses the statement.
        let (now, returned) = self.execute_statement(session, Some(start)).await?;
        if let Some(seen) = seen
            && seen != now
        {
            return Err(PgFailure::Differs { seen, now }.into());
        }
        self.check_row_count(now)?;
        let result = now.result_text(&returned);
        marker::write_result(session, key, now.rows, &result).await?;
        session.client.batch_execute("COMMIT").await.map_err(TransactionFailure::At)?;
        Ok(result)
    }

    /// The commit was sent, and something went wrong. A word of the server that it refused is believed;
    /// for anything else the marker is looked for.
    async fn settle_commit(
        &self,
        session: PgSession,
        key: &str,
        attempt: u32,
        error: Error,
    ) -> Result<String, PgFailure> {
        let class = error.code().and_then(|code| code.code().get(..2));
        let refused = matches!(class, Some("23" | "40"))
            && error.code().is_some_and(|code| code.code() != "40003");
        // A connection that saw it is not asked again.
        drop(session);
        if refused {
            return Err(error.into());
        }
        match self.look_back(key, attempt).await {
            Ok(Some(recorded)) => Ok(recorded),
            Ok(None) => Err(PgFailure::Away(
                format!(
                    "the connection was lost, and the database says that it did not happen: {}",
                    describe_error(&error)
                )
                .into(),
            )),
            Err(second) => Err(PgFailure::InDoubt(format!(
                "the commit was sent, and then the connection was lost ({}); the database could not be \
                 asked what became of it: {}",
                describe_error(&error),
                second.describe()
            ))),
        }
    }

    /// What happened to an earlier attempt. If nothing did, then nothing will.
    pub(super) async fn look_back(
        &self,
        key: &str,
        attempt: u32,
    ) -> Result<Option<String>, PgFailure> {
        let mut tries = 1;
        loop {
            match self.find_marker(key, attempt).await {
                // A server that is starting again, or a transaction that is just ending.
                Err(PgFailure::InDoubt(why)) => return Err(PgFailure::InDoubt(why)),
                Err(failure) if tries < SQL_LOOK_BACK_ATTEMPTS && !failure.is_the_statements() => {
                    tries += 1;
                    tokio::time::sleep(SQL_LOOK_BACK_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    async fn find_marker(&self, key: &str, attempt: u32) -> Result<Option<String>, PgFailure> {
        let session = PgSession::connect(&self.target, "holdpoint recovery").await?;
        marker::make_table(&session).await?;
        // Its executor is gone, so its session on the server serves no caller any more.
        let end = "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
                   WHERE application_name = $1 AND usename = current_user AND pid <> pg_catalog.pg_backend_pid()";
        session.client.query(end, &[&session_purpose(key, attempt)]).await?;
        let announced = marker::find_result(&session, &announced_key(key, attempt)).await?;
        let word = if announced.is_some() { GIVEN_UP } else { LOST };
        session.begin_transaction(TransactionMode::ReadWrite, self.time_limit).await?;
        let taken = marker::lock_attempt_row(&session, key, attempt, word).await?;
        let found = marker::find_result(&session, key).await?;
        let first = marker::find_result(&session, &fence_key(key, attempt)).await?;
        if found.is_none() && taken {
            session.client.batch_execute("COMMIT").await?;
        }
        session.disconnect().await;
        match (found, first.as_deref()) {
            (Some(recorded), _) => Ok(Some(recorded)),
            (None, Some(GIVEN_UP)) => Ok(None),
            (None, _) => Err(PgFailure::InDoubt(NO_TRACE.into())),
        }
    }

    /// Leaves the proof that an attempt has not begun, before its intent is on disk.
    pub(super) async fn announce_attempt(&self, key: &str, attempt: u32) -> Result<(), PgFailure> {
        let session = PgSession::connect(&self.target, "holdpoint announcement").await?;
        marker::make_table(&session).await?;
        marker::announce_attempt(&session, key, attempt).await?;
        session.disconnect().await;
        Ok(())
    }

    async fn prepare_statement(
        &self,
        session: &PgSession,
    ) -> Result<tokio_postgres::Statement, PgFailure> {
        let prepared = session.client.prepare(&self.sql).await?;
        match prepared.params() {
            [] => Ok(prepared),
            _ => Err(PgFailure::Refused("parameters such as $1 have no values here".into())),
        }
    }

    /// Without a start it is only tried, in a transaction that is undone.
    async fn execute_statement(
        &self,
        session: &PgSession,
        start: Option<&Start>,
    ) -> Result<(RowCount, SqlRows), PgFailure> {
        let prepared = self.prepare_statement(session).await?;
        let before = count_changed_rows(session).await?;
        let mut returned = RowCollector::new(&prepared, self.rows_kept);
        let cut = cut_change(&self.sql, &prepared).map_err(PgFailure::Refused)?;
        let rows = match start {
            Some(start) => returned.run_gated(session, &cut, start).await?,
            None => returned.run_query(session, &cut).await?,
        };
        let rows = if self.statement.what.kind == SqlStatementKind::Define { 0 } else { rows };
        // What waits for the end of the transaction happens now, where it is counted.
        session.client.batch_execute("SET CONSTRAINTS ALL IMMEDIATE").await?;
        let total = count_changed_rows(session).await?.saturating_sub(before);
        Ok((RowCount { rows, also: total.saturating_sub(rows) }, returned.kept))
    }

    fn check_row_count(&self, count: RowCount) -> Result<(), PgFailure> {
        match self.rows_max {
            Some(max) if count.rows.saturating_add(count.also) > max => {
                Err(PgFailure::TooMany { now: count, max })
            }
            _ => Ok(()),
        }
    }
}

/// Rows that this transaction has changed so far, through triggers and foreign keys as well.
async fn count_changed_rows(session: &PgSession) -> Result<u64, PgFailure> {
    let sql = format!(
        "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint
         FROM pg_catalog.pg_stat_xact_user_tables WHERE relname <> '{TABLE}'"
    );
    let row = session.client.query_one(&sql, &[]).await?;
    Ok(u64::try_from(row.get::<_, i64>(0)).unwrap_or(0))
}

/// Names the attempt in the server's list of sessions, by which recovery finds it.
fn session_purpose(key: &str, attempt: u32) -> String {
    format!("holdpoint {key}/{attempt}")
}
