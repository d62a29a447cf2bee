//! Rows as JSON, bounded, with what is missing said.

use rusqlite::Statement;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::limits::{OUTPUT_BYTES_KEPT, SQL_ROW_BYTES_MAX};

/// One cell is cut at this, so that a row with a file in it does not hide the other rows.
pub(super) const CELL_BYTES_MAX: usize = OUTPUT_BYTES_KEPT / 8;

pub(super) struct SqlRows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Value>,
    /// There were more rows than are here.
    pub(super) truncated: bool,
}

/// Why rows could not be had.
#[derive(Debug)]
pub(super) enum RowTrouble {
    Database(rusqlite::Error),
    /// The text says what to do about it.
    TooLong(String),
}

impl From<rusqlite::Error> for RowTrouble {
    fn from(error: rusqlite::Error) -> RowTrouble {
        RowTrouble::Database(error)
    }
}

/// What to do about values that are too long to be given to anybody.
pub(super) const READ_LESS: &str = "read fewer columns, or only the length of long values";

impl SqlRows {
    /// Runs a statement and keeps the first rows. With `to_the_end` the others are stepped over, as a
    /// change with RETURNING needs; a query just stops.
    pub(super) fn collect(
        statement: &mut Statement<'_>,
        rows_max: usize,
        to_the_end: bool,
    ) -> Result<SqlRows, RowTrouble> {
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let width = columns.len();
        let mut kept = SqlRows { columns, rows: Vec::new(), truncated: false };
        let mut bytes = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if kept.truncated {
                continue;
            }
            let (mut cells, mut room) = (Vec::with_capacity(width), SQL_ROW_BYTES_MAX);
            for at in 0..width {
                let value = row.get_ref(at)?;
                // Some values are made only when they are looked at, so it is added up on the way.
                let Some(left) = room.checked_sub(value_size(value)) else {
                    return Err(RowTrouble::TooLong(format!(
                        "a row of the result is longer than {} MiB; {READ_LESS}",
                        SQL_ROW_BYTES_MAX >> 20
                    )));
                };
                room = left;
                cells.push(cell_value(value));
            }
            let row = Value::from(cells);
            bytes += row.to_string().len();
            if kept.rows.len() == rows_max || bytes > OUTPUT_BYTES_KEPT {
                kept.truncated = true;
                if !to_the_end {
                    break;
                }
                continue;
            }
            kept.rows.push(row);
        }
        Ok(kept)
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value =
            json!({"columns": self.columns, "rows": self.rows, "truncated": self.truncated});
        if self.truncated {
            value["note"] = match self.rows.len() {
                0 => format!(
                    "the first row alone is longer than {OUTPUT_BYTES_KEPT} bytes; {READ_LESS}"
                ),
                rows => format!("there are more rows than these {rows}"),
            }
            .into();
        }
        value
    }
}

fn value_size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
    }
}

fn cell_value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        // Infinity has no number in JSON.
        ValueRef::Real(number) if number.is_finite() => Value::from(number),
        ValueRef::Real(number) => Value::from(number.to_string()),
        ValueRef::Text(bytes) => Value::from(cut_cell(&String::from_utf8_lossy(bytes))),
        ValueRef::Blob(bytes) => {
            let shown: String = bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
            let rest = if bytes.len() > 32 { "…" } else { "" };
            Value::from(format!("x'{shown}{rest}' ({} bytes)", bytes.len()))
        }
    }
}

pub(super) fn cut_cell(text: &str) -> String {
    if text.len() <= CELL_BYTES_MAX {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(CELL_BYTES_MAX)];
    format!("{kept}… [{} bytes left out]", text.len() - kept.len())
}
