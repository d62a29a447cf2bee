//! What people are told about a change before they are asked.

use domain::call::ExecutionContext;
use domain::caption::{Caption, CaptionKind, RowChange};
use domain::hold::{Preview, Risk};
use domain::phrase::{PhraseCode, RunDetail};
use domain::sql_facts::SqlTables;
use domain::visible::visible;
use domain::warning::{WarningKind, WhyEstimated};
use ports::tool_host::{AskAnyway, Prepared};

use super::change::RowCount;
use super::statement::{SqlStatement, SqlStatementKind};
use crate::title::titled;

pub(super) struct ChangeSummary<'a> {
    pub(super) statement: &'a SqlStatement,
    pub(super) sql: &'a str,
    pub(super) database: &'a str,
    /// Where it runs: the first line of the context.
    pub(super) place: RunDetail,
    pub(super) counted: CountedRows,
    pub(super) tables: SqlTables,
}

/// How many rows, and how anybody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CountedRows {
    /// It was tried, and undone.
    Exactly(RowCount),
    /// The database's guess, and why it was not tried.
    About { rows: u64, because: WhyEstimated },
}

impl CountedRows {
    fn rows(&self) -> u64 {
        match self {
            CountedRows::Exactly(count) => count.rows,
            CountedRows::About { rows, .. } => *rows,
        }
    }

    /// Every row that changes, if that was counted.
    fn measured(&self) -> Option<u64> {
        match self {
            CountedRows::Exactly(count) => Some(count.rows.saturating_add(count.also)),
            CountedRows::About { .. } => None,
        }
    }
}

pub(super) fn prepared(told: &ChangeSummary<'_>, ask: bool) -> Prepared {
    let table = told.statement.table.as_deref().unwrap_or_default();
    let number = told.counted.rows();
    let estimated = matches!(told.counted, CountedRows::About { .. });
    let change_rows =
        |change| CaptionKind::ChangeRows { change, rows: number, estimated, table: table.into() };
    let title = titled(match told.statement.kind {
        SqlStatementKind::Insert => change_rows(RowChange::Insert),
        SqlStatementKind::Update => change_rows(RowChange::Update),
        SqlStatementKind::Delete => change_rows(RowChange::Delete),
        SqlStatementKind::Define | SqlStatementKind::Read => {
            CaptionKind::ChangeTables { database: told.database.into(), sql: told.sql.into() }
        }
    });
    let mut warnings = Vec::new();
    if told.statement.everything {
        warnings.push(WarningKind::NoWhere { table: visible(table) }.into());
    }
    let (counted, summary) = match &told.counted {
        CountedRows::Exactly(count) => {
            if count.also > 0 {
                warnings.push(WarningKind::MoreRows { rows: count.also }.into());
            }
            let summary = CaptionKind::Rows { rows: count.rows, more: count.also, estimated };
            (count.to_detail(), Caption::cut(count.describe(), summary))
        }
        CountedRows::About { because, .. } => {
            warnings.push(WarningKind::EstimatedRows { because: *because }.into());
            let summary = CaptionKind::Rows { rows: number, more: 0, estimated };
            let mut uncounted = RunDetail::default();
            uncounted.push(PhraseCode::RowsNotCounted, &[]);
            (uncounted, summary.into())
        }
    };
    let mut detail = told.place.clone();
    detail.append(&counted);
    let drastic = told.statement.everything || told.statement.kind == SqlStatementKind::Define;
    Prepared {
        context: ExecutionContext {
            detail,
            working_directory: None,
            sql: Some(told.statement.sql_facts(told.tables.clone(), told.counted.measured())),
        },
        preview: Preview {
            summary: Some(summary),
            rows: Some(number),
            warnings,
            ..Preview::default()
        },
        ask: ask.then(|| AskAnyway {
            summary: title.clone(),
            risk: if drastic { Risk::High } else { Risk::Medium },
        }),
        title: Some(title),
        ..Prepared::default()
    }
}
