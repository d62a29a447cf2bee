//! Rows as JSON, bounded, with what is missing said.

use rusqlite::Statement;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::limits::OUTPUT_BYTES_KEPT;

/// One cell is cut at this, so that a row with a file in it does not hide the other rows.
const CELL_BYTES_MAX: usize = OUTPUT_BYTES_KEPT / 8;

pub(super) struct Rows {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Value>,
    /// There were more rows than are here.
    pub(super) truncated: bool,
}

impl Rows {
    /// Runs a statement and keeps the first rows. With `to_the_end` the others are stepped over, as a
    /// change with RETURNING needs; a query just stops.
    pub(super) fn collect(
        statement: &mut Statement<'_>,
        rows_max: usize,
        to_the_end: bool,
    ) -> rusqlite::Result<Rows> {
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let width = columns.len();
        let mut kept = Rows { columns, rows: Vec::new(), truncated: false };
        let mut bytes = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if kept.truncated {
                continue;
            }
            let cells: Vec<Value> =
                (0..width).map(|at| row.get_ref(at).map(cell)).collect::<rusqlite::Result<_>>()?;
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

    pub(super) fn json(&self) -> Value {
        let mut value =
            json!({"columns": self.columns, "rows": self.rows, "truncated": self.truncated});
        if self.truncated {
            value["note"] =
                Value::from(format!("there are more rows than these {}", self.rows.len()));
        }
        value
    }
}

fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::from(number),
        // Infinity has no number in JSON.
        ValueRef::Real(number) if number.is_finite() => Value::from(number),
        ValueRef::Real(number) => Value::from(number.to_string()),
        ValueRef::Text(bytes) => Value::from(cut(&String::from_utf8_lossy(bytes))),
        ValueRef::Blob(bytes) => {
            let shown: String = bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
            let rest = if bytes.len() > 32 { "…" } else { "" };
            Value::from(format!("x'{shown}{rest}' ({} bytes)", bytes.len()))
        }
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.len() <= CELL_BYTES_MAX {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(CELL_BYTES_MAX)];
    format!("{kept}… [{} bytes left out]", text.len() - kept.len())
}
