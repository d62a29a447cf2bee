//! Making one change, or only trying it.

use std::time::Duration;

use domain::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use domain::sql_facts::SqlTables;
use domain::visible::visible;
use ports::start_gate::{NotBegun, Start};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::authorizer::{SqlAuthorizer, TableAllowlist};
use super::connection::{SqlErrorClass, StopFlag, ValueBound, classify_error, open_to_write};
use super::databases::ChosenDatabase;
use super::marker;
use super::rows::{RowTrouble, SqlRows};
use super::statement::{SqlStatement, check_parameters};
use crate::limits::SQL_BUSY_ATTEMPTS;

/// One statement and where it goes.
#[derive(Clone, Debug)]
pub(super) struct SqlChange {
    pub(super) database: ChosenDatabase,
    pub(super) sql: String,
    pub(super) statement: SqlStatement,
    pub(super) tables: TableAllowlist,
    /// Rows of a RETURNING clause that are given back.
    pub(super) rows_max: usize,
    /// Rows that it may change at the most.
    pub(super) changes_max: Option<u64>,
    pub(super) time_limit: Duration,
}

/// How many rows a statement touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowCount {
    pub(super) rows: u64,
    /// Rows that triggers and foreign keys changed along with them.
    pub(super) also: u64,
}

#[derive(Debug)]
pub(super) enum SqlChangeFailure {
    /// The statement can never work as it is.
    Refused(String),
    /// Nothing changed; another try may work.
    Database(rusqlite::Error),
    /// It would not do what the person saw. Nothing changed.
    Differs { seen: RowCount, now: RowCount },
    /// It would change more than is ever allowed. Nothing changed.
    TooMany { now: RowCount, max: u64 },
    /// Recovery gave this attempt up. Nothing changed.
    GivenUp,
    /// The gate refused it. Nothing changed, and nothing says that it began.
    NotBegun(NotBegun),
    /// The commit failed, and whether it happened could not be found out.
    InDoubt(String),
}

impl From<NotBegun> for SqlChangeFailure {
    fn from(refused: NotBegun) -> SqlChangeFailure {
        SqlChangeFailure::NotBegun(refused)
    }
}

impl From<rusqlite::Error> for SqlChangeFailure {
    fn from(error: rusqlite::Error) -> SqlChangeFailure {
        SqlChangeFailure::Database(error)
    }
}

impl SqlChangeFailure {
    pub(super) fn describe(&self) -> String {
        self.reason().into()
    }

    /// The same, for a preview that it left without a count.
    pub(super) fn reason(&self) -> NoPreviewReason {
        let text = match self {
            SqlChangeFailure::Refused(why) | SqlChangeFailure::InDoubt(why) => why.clone(),
            SqlChangeFailure::Database(error) => return database_reason(error),
            SqlChangeFailure::Differs { seen, now } => format!(
                "it would change {} now, and {} when it was approved; propose it again",
                now.describe(),
                seen.describe()
            ),
            SqlChangeFailure::TooMany { now, max } => {
                format!("it would change {}, and no more than {max} are allowed", now.describe())
            }
            SqlChangeFailure::GivenUp => "this attempt was given up".into(),
            SqlChangeFailure::NotBegun(refused) => refused.to_string(),
        };
        text.into()
    }

    fn is_busy(&self) -> bool {
        matches!(self, SqlChangeFailure::Database(error) if classify_error(error) == SqlErrorClass::Busy)
    }
}

fn database_reason(error: &rusqlite::Error) -> NoPreviewReason {
    match classify_error(error) {
        SqlErrorClass::Busy => NoPreviewReason::new(PhraseCode::DatabaseBusy, &[]),
        SqlErrorClass::Interrupted => NoPreviewReason::new(PhraseCode::Interrupted, &[]),
        SqlErrorClass::Statement | SqlErrorClass::File => visible(&error.to_string()).into(),
    }
}

/// What one execution of a statement did.
struct ExecutedChange {
    count: RowCount,
    returned: SqlRows,
    tables: SqlTables,
}

/// What a statement would do.
pub(super) struct TriedChange {
    pub(super) count: RowCount,
    pub(super) tables: SqlTables,
    /// Rows in its way may be deleted by a word of the table's own, uncounted.
    pub(super) replaces: bool,
}

/// How a count is told to people and read back: part of what they approve.
const CHANGED: PhraseCode = PhraseCode::RowsChanged;
const ALSO: PhraseCode = PhraseCode::RowsAlsoChanged;

impl RowCount {
    pub(super) fn describe(self) -> String {
        let rows = if self.rows == 1 { "1 row".into() } else { format!("{} rows", self.rows) };
        match self.also {
            0 => rows,
            also => format!("{rows}, and {also} more through triggers and foreign keys"),
        }
    }

    /// As it stands in the execution context, and so in the digest of what is approved.
    pub(super) fn to_detail(self) -> RunDetail {
        let mut detail = RunDetail::default();
        detail.push(CHANGED, &[&self.rows.to_string()]);
        detail.push(ALSO, &[&self.also.to_string()]);
        detail
    }

    /// The result text of a change: it is recorded, and the model gets it.
    pub(super) fn result_text(self, returned: &SqlRows) -> String {
        let mut value = json!({"rows": self.rows});
        if self.also > 0 {
            value["also_changed"] = Value::from(self.also);
        }
        if !returned.columns.is_empty() {
            value["returned"] = returned.to_json();
        }
        value.to_string()
    }

    /// What was approved.
    pub(super) fn of_detail(detail: &RunDetail) -> Option<RowCount> {
        let number = |code: PhraseCode| detail.value_of(code)?.parse().ok();
        Some(RowCount { rows: number(CHANGED)?, also: number(ALSO)? })
    }
}

impl SqlChange {
    /// Counts what would change and says which tables it touches, and changes nothing.
    pub(super) fn try_out(&self) -> Result<TriedChange, SqlChangeFailure> {
        self.retry_busy(&StopFlag::default(), || {
            let stop = StopFlag::default();
            let mut connection = self.begin_transaction(&stop)?;
            let replaces = self.table_replaces(&connection)?;
            let tried = self.execute_statement(&mut connection, &stop);
            // A connection that is closed in the middle of a transaction undoes it.
            drop(connection);
            let tried = tried?;
            Ok(TriedChange { count: tried.count, tables: tried.tables, replaces })
        })
    }

    /// Makes the change once, however often this is called with the same key, and gives what was
    /// recorded about it.
    pub(super) fn apply_once(
        &self,
        key: &str,
        attempt: u32,
        seen: Option<RowCount>,
        start: &Start,
        stop: &StopFlag,
    ) -> Result<String, SqlChangeFailure> {
        self.retry_busy(stop, || {
            let (connection, recorded) = self.up_to_commit(key, attempt, seen, start, stop)?;
            match connection {
                Some(connection) => self.commit_change(connection, key, recorded),
                None => Ok(recorded),
            }
        })
    }

    /// Everything but the commit: dropping the connection here is what a crash at this point does.
    /// Without a connection the change was made before.
    pub(super) fn up_to_commit(
        &self,
        key: &str,
        attempt: u32,
        seen: Option<RowCount>,
        start: &Start,
        stop: &StopFlag,
    ) -> Result<(Option<Connection>, String), SqlChangeFailure> {
        let mut connection = self.begin_transaction(stop)?;
        // The database is ours now, and nothing is left to wait for. A refused transaction is undone: it has
        // written nothing, and the announcement stands.
        let starting = start.enter_blocking()?;
        marker::make_table(&connection)?;
        // mutant: made-twice-in-the-database
        if let Some(recorded) = marker::find_result(&connection, key)? {
            return Ok((None, recorded));
        }
        // mutant: given-up-attempt-goes-on
        if marker::is_fenced(&connection, key, attempt)? {
            return Err(SqlChangeFailure::GivenUp);
        }
        marker::say_first(&connection, key, attempt, marker::BEGUN)?;
        // It has begun; how long its statement takes is its own affair.
        drop(starting);
        let ExecutedChange { count: now, returned, .. } =
            self.execute_statement(&mut connection, stop)?;
        if let Some(seen) = seen
            && seen != now
        {
            return Err(SqlChangeFailure::Differs { seen, now });
        }
        let result = now.result_text(&returned);
        marker::write_result(&connection, key, now.rows, &result)?;
        marker::withdraw_announcement(&connection, key, attempt)?;
        Ok((Some(connection), result))
    }

    /// What happened to an earlier attempt. If nothing did, then nothing will.
    pub(super) fn look_back(
        &self,
        key: &str,
        attempt: u32,
    ) -> Result<Option<String>, SqlChangeFailure> {
        let stop = StopFlag::default();
        self.retry_busy(&stop, || {
            let connection = self.begin_transaction(&stop)?;
            marker::make_table(&connection)?;
            if let Some(recorded) = marker::find_result(&connection, key)? {
                return Ok(Some(recorded));
            }
            match marker::find_result(&connection, &marker::fence_key(key, attempt))?.as_deref() {
                Some(marker::GIVEN_UP) => return Ok(None),
                Some(_) => return Err(SqlChangeFailure::InDoubt(marker::NO_TRACE.into())),
                None => {}
            }
            let announced = marker::find_result(&connection, &marker::announced_key(key, attempt))?;
            let word = if announced.is_some() { marker::GIVEN_UP } else { marker::LOST };
            marker::say_first(&connection, key, attempt, word)?;
            connection.execute_batch("COMMIT")?;
            match announced {
                Some(_) => Ok(None),
                None => Err(SqlChangeFailure::InDoubt(marker::NO_TRACE.into())),
            }
        })
    }

    /// Leaves the proof that an attempt has not begun, before its intent is on disk.
    pub(super) fn announce_attempt(&self, key: &str, attempt: u32) -> Result<(), SqlChangeFailure> {
        let connection = self.begin_transaction(&StopFlag::default())?;
        marker::make_table(&connection)?;
        marker::announce_attempt(&connection, key, attempt)?;
        connection.execute_batch("COMMIT")?;
        Ok(())
    }

    fn begin_transaction(&self, stop: &StopFlag) -> Result<Connection, SqlChangeFailure> {
        let connection = open_to_write(&self.database.path, self.time_limit, stop)?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(connection)
    }

    fn execute_statement(
        &self,
        connection: &mut Connection,
        stop: &StopFlag,
    ) -> Result<ExecutedChange, SqlChangeFailure> {
        let authorizer = SqlAuthorizer::install(connection, self.statement.kind, &self.tables)?;
        let bound = ValueBound::set_for(connection, &self.sql)?;
        let before = connection.total_changes();
        let (returned, rows) = {
            let refused = |error| match authorizer.refusal().or_else(|| bound.refusal(&error)) {
                Some(why) => SqlChangeFailure::Refused(why),
                None => SqlChangeFailure::Database(error),
            };
            let mut prepared = connection.prepare(&self.sql).map_err(refused)?;
            authorizer
                .agrees_with(&self.statement, prepared.readonly())
                .map_err(SqlChangeFailure::Refused)?;
            check_parameters(&prepared).map_err(SqlChangeFailure::Refused)?;
            let returned = SqlRows::collect(&mut prepared, self.rows_max, true);
            let returned = returned.map_err(|trouble| match (trouble, stop.memory_refusal()) {
                (RowTrouble::TooLong(why), _) | (_, Some(why)) => SqlChangeFailure::Refused(why),
                (RowTrouble::Database(error), None) => refused(error),
            })?;
            (returned, connection.changes())
        };
        let total = connection.total_changes() - before;
        SqlAuthorizer::remove(connection)?;
        bound.lift(connection)?;
        // A statement that changes no rows leaves the count of the one before it standing.
        let rows = if total == 0 { 0 } else { rows };
        let count = RowCount { rows, also: total.saturating_sub(rows) };
        match self.changes_max {
            Some(max) if total > max => Err(SqlChangeFailure::TooMany { now: count, max }),
            _ => Ok(ExecutedChange { count, returned, tables: authorizer.seen_tables() }),
        }
    }

    /// Whether the table itself says that rows in the way of a new one are deleted. SQLite does not count them.
    fn table_replaces(&self, connection: &Connection) -> Result<bool, SqlChangeFailure> {
        let sql = "SELECT coalesce(max(sql LIKE '%REPLACE%'), 0) FROM main.sqlite_schema
                   WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        Ok(connection.query_row(sql, [&self.statement.table], |row| row.get(0))?)
    }

    fn commit_change(
        &self,
        connection: Connection,
        key: &str,
        recorded: String,
    ) -> Result<String, SqlChangeFailure> {
        ports::failpoint!("sql.before_commit");
        let committed = connection.execute_batch("COMMIT");
        ports::failpoint!("sql.committed");
        let Err(error) = committed else { return Ok(recorded) };
        match classify_error(&error) {
            // These leave the transaction open and undone.
            SqlErrorClass::Busy | SqlErrorClass::Statement | SqlErrorClass::Interrupted => {
                connection.execute_batch("ROLLBACK")?;
                Err(SqlChangeFailure::Database(error))
            }
            // Anything else may have happened or not: a handle that saw it is not asked again.
            SqlErrorClass::File => {
                drop(connection);
                let again = self
                    .begin_transaction(&StopFlag::default())
                    .and_then(|connection| Ok(marker::find_result(&connection, key)?));
                match again {
                    Ok(Some(recorded)) => Ok(recorded),
                    Ok(None) => Err(SqlChangeFailure::Database(error)),
                    Err(second) => Err(SqlChangeFailure::InDoubt(format!(
                        "the commit failed ({error}), and the database could not be read again: {}",
                        second.describe()
                    ))),
                }
            }
        }
    }

    fn retry_busy<T>(
        &self,
        stop: &StopFlag,
        mut once: impl FnMut() -> Result<T, SqlChangeFailure>,
    ) -> Result<T, SqlChangeFailure> {
        let mut tries = 1;
        loop {
            match once() {
                Err(failure)
                    if failure.is_busy() && tries < SQL_BUSY_ATTEMPTS && !stop.is_raised() =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests;
