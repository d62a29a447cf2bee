//! What people are told about a change before they are asked.

use domain::call::ExecutionContext;
use domain::hold::{Preview, Risk};
use domain::sql_facts::SqlTables;
use domain::visible::visible;
use domain::warning::{WarningKind, WhyEstimated};
use ports::tool_host::{AskAnyway, Prepared};

use super::change::RowCount;
use super::statement::{SqlStatement, SqlStatementKind};
use crate::title::make_headline;

pub(super) struct ChangeSummary<'a> {
    pub(super) statement: &'a SqlStatement,
    pub(super) sql: &'a str,
    pub(super) database: &'a str,
    /// Where it runs: the first line of the context.
    pub(super) line: &'a str,
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
    let mut rows = if number == 1 { "1 row".into() } else { format!("{number} rows") };
    if matches!(told.counted, CountedRows::About { .. }) {
        rows.insert_str(0, "about ");
    }
    let title = match told.statement.kind {
        SqlStatementKind::Insert => format!("Insert {rows} into {table}"),
        SqlStatementKind::Update => format!("Update {rows} in {table}"),
        SqlStatementKind::Delete => format!("Delete {rows} from {table}"),
        SqlStatementKind::Define | SqlStatementKind::Read => {
            format!("Change the tables of {}: {}", told.database, told.sql)
        }
    };
    let title = make_headline(&title);
    let mut warnings = Vec::new();
    if told.statement.everything {
        warnings.push(WarningKind::NoWhere { table: visible(table) }.into());
    }
    let (detail, summary) = match &told.counted {
        CountedRows::Exactly(count) => {
            if count.also > 0 {
                warnings.push(WarningKind::MoreRows { rows: count.also }.into());
            }
            (format!("{}\n{}", told.line, count.to_detail()), count.describe())
        }
        CountedRows::About { because, .. } => {
            warnings.push(WarningKind::EstimatedRows { because: *because }.into());
            (format!("{}\nrows not counted", told.line), rows)
        }
    };
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
