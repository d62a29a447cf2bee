//! Rows as JSON, from the server's own text of each value.
//!
//! Integers, finite floats and truth values are what they are in JSON. Everything else is its text:
//! a `numeric` keeps every digit, a `timestamptz` its offset, a `json` its spelling; arrays, bytes and
//! whatever a database invents look as PostgreSQL writes them.

use futures_util::TryStreamExt as _;
use ports::start_gate::Start;
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{SimpleQueryMessage, SimpleQueryStream, Statement};

use super::super::rows::{CELL_BYTES_MAX, SqlRows, cut_cell};
use super::cut_query::batch_rows;
use super::failure::PgFailure;
use super::session::PgSession;
use crate::limits::OUTPUT_BYTES_KEPT;

pub(super) struct RowCollector {
    types: Vec<Type>,
    rows_max: usize,
    bytes: usize,
    pub(super) kept: SqlRows,
}

impl RowCollector {
    pub(super) fn new(statement: &Statement, rows_max: usize) -> RowCollector {
        let columns = statement.columns();
        RowCollector {
            types: columns.iter().map(|column| column.type_().clone()).collect(),
            rows_max,
            bytes: 0,
            kept: SqlRows {
                columns: columns.iter().map(|column| column.name().to_owned()).collect(),
                rows: Vec::new(),
                truncated: false,
            },
        }
    }

    /// Runs `sql`, which was prepared before and so is one statement. Keeps the first rows, steps over
    /// the others, and says how many rows it was about.
    pub(super) async fn run_query(
        &mut self,
        session: &PgSession,
        sql: &str,
    ) -> Result<u64, PgFailure> {
        self.read_rows(session.client.simple_query_raw(sql).await?).await
    }

    /// The same for the statement that the call is about: it is sent when `start` lets it through.
    pub(super) async fn run_gated(
        &mut self,
        session: &PgSession,
        sql: &str,
        start: &Start,
    ) -> Result<u64, PgFailure> {
        let starting = start.enter().await?;
        // Returns when the statement is with the connection's own task, and does not wait for the server.
        let messages = session.client.simple_query_raw(sql).await?;
        drop(starting);
        self.read_rows(messages).await
    }

    async fn read_rows(&mut self, messages: SimpleQueryStream) -> Result<u64, PgFailure> {
        let mut messages = std::pin::pin!(messages);
        let mut count = 0;
        while let Some(message) = messages.try_next().await? {
            match message {
                SimpleQueryMessage::Row(row) => {
                    if self.kept.truncated {
                        continue;
                    }
                    let cells =
                        (0..row.len()).map(|at| cell_value(self.types.get(at), row.get(at)));
                    let row = Value::Array(cells.collect());
                    self.bytes += row.to_string().len();
                    if self.kept.rows.len() == self.rows_max || self.bytes > OUTPUT_BYTES_KEPT {
                        self.kept.truncated = true;
                    } else {
                        self.kept.rows.push(row);
                    }
                }
                SimpleQueryMessage::CommandComplete(rows) => count = rows,
                _ => {}
            }
        }
        Ok(count)
    }

    /// Takes rows out of a cursor until there are enough, or no more.
    pub(super) async fn fetch_from(
        &mut self,
        session: &PgSession,
        cursor: &str,
    ) -> Result<(), PgFailure> {
        let batch = batch_rows(self.types.len());
        loop {
            let count =
                self.run_query(session, &format!("FETCH FORWARD {batch} FROM {cursor}")).await?;
            if count < batch as u64 || self.kept.truncated {
                return Ok(());
            }
        }
    }
}

fn cell_value(kind: Option<&Type>, text: Option<&str>) -> Value {
    let Some(text) = text else { return Value::Null };
    let number = match kind {
        Some(&Type::BOOL) => return Value::from(text == "t"),
        Some(&Type::INT2 | &Type::INT4 | &Type::INT8 | &Type::OID) => {
            text.parse::<i64>().ok().map(Value::from)
        }
        Some(&Type::FLOAT4 | &Type::FLOAT8) => {
            // Infinity and NaN have no number in JSON.
            text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
        }
        _ => None,
    };
    number.unwrap_or_else(|| Value::from(cut_pg_cell(text)))
}

/// The server cuts long values after one character more than is shown.
fn cut_pg_cell(text: &str) -> String {
    match text.char_indices().nth(CELL_BYTES_MAX) {
        None => cut_cell(text),
        Some(_) => {
            let kept = &text[..text.floor_char_boundary(CELL_BYTES_MAX)];
            format!("{kept}… [the rest is left out]")
        }
    }
}
