//! A query whose long values the server cuts before it sends them. A value may have a gigabyte, and is
//! in our memory before anybody can refuse it.

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::tokenizer::{Location, Token, Tokenizer};
use tokio_postgres::types::Type;
use tokio_postgres::{Column, Statement};

use super::super::rows::CELL_BYTES_MAX;
use crate::limits::OUTPUT_BYTES_KEPT;

/// One more than is shown, so that a value that was cut shows it.
const CELL_CHARS: usize = CELL_BYTES_MAX + 1;
/// Characters have up to so many bytes.
const CHAR_BYTES: usize = 4;
/// What one batch of rows may take at the worst, and how many rows it has at the most.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_ROWS: usize = 50;
/// Where a plan is kept until it is read, and how much of it.
const PLAN: &str = "holdpoint.plan";
const PLAN_CHARS: usize = OUTPUT_BYTES_KEPT;

/// The same rows, without the ends of long values.
pub(super) fn cut_query(sql: &str, prepared: &Statement) -> Result<String, String> {
    let Some(CutColumns { names, values }) = CutColumns::of_statement(prepared) else {
        return Ok(sql.to_owned());
    };
    Ok(format!("SELECT {values} FROM (\n{}\n) AS q ({names})", without_end(sql)?))
}

/// The same change, whose RETURNING gives the same rows without the ends of long values. As many rows come
/// back as it changes.
pub(super) fn cut_change(sql: &str, prepared: &Statement) -> Result<String, String> {
    let Some(CutColumns { names, values }) = CutColumns::of_statement(prepared) else {
        return Ok(sql.to_owned());
    };
    Ok(format!("WITH q ({names}) AS (\n{}\n) SELECT {values} FROM q", without_end(sql)?))
}

/// A plan as rows. The server folds constants before it draws a plan, so that one line can have any length;
/// nothing can be written around an EXPLAIN, and a block of code keeps what it said.
pub(super) fn cut_plan(sql: &str) -> [String; 2] {
    let block = format!(
        "DECLARE line text; plan text := ''; BEGIN
           FOR line IN EXECUTE {} LOOP
             plan := plan || pg_catalog.left(line, {CELL_CHARS}) || pg_catalog.chr(10);
             EXIT WHEN pg_catalog.length(plan) > {PLAN_CHARS};
           END LOOP;
           PERFORM pg_catalog.set_config('{PLAN}', pg_catalog.rtrim(plan, pg_catalog.chr(10)), true);
         END",
        quote_literal(sql)
    );
    let read = format!(
        "SELECT pg_catalog.unnest(pg_catalog.string_to_array(
           pg_catalog.current_setting('{PLAN}'), pg_catalog.chr(10)))"
    );
    [format!("DO {}", quote_literal(&block)), read]
}

/// A text constant, where backslashes are plain characters as the session says.
fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Columns under names of our own, and their values as they are sent.
struct CutColumns {
    names: String,
    values: String,
}

impl CutColumns {
    fn of_statement(prepared: &Statement) -> Option<CutColumns> {
        let columns = prepared.columns();
        let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let value = |(column, name): (&Column, &String)| match is_short(column.type_()) {
            true => format!("q.{name}"),
            false => format!("pg_catalog.left(q.{name}::pg_catalog.text, {CELL_CHARS})"),
        };
        let values: Vec<String> = columns.iter().zip(&names).map(value).collect();
        (!columns.is_empty())
            .then(|| CutColumns { names: names.join(", "), values: values.join(", ") })
    }
}

/// How many rows of so many columns are fetched at once.
pub(super) fn batch_rows(columns: usize) -> usize {
    (BATCH_BYTES / (columns.max(1) * CELL_CHARS * CHAR_BYTES)).clamp(1, BATCH_ROWS)
}

/// Types whose values are short, and whose text is not always what a cast to text makes of them.
fn is_short(kind: &Type) -> bool {
    [
        Type::BOOL,
        Type::CHAR,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::OID,
        Type::FLOAT4,
        Type::FLOAT8,
        Type::MONEY,
        Type::DATE,
        Type::TIME,
        Type::TIMETZ,
        Type::TIMESTAMP,
        Type::TIMESTAMPTZ,
        Type::INTERVAL,
        Type::UUID,
        Type::INET,
        Type::CIDR,
        Type::MACADDR,
        Type::MACADDR8,
        Type::NAME,
    ]
    .contains(kind)
}

/// One statement without the semicolons behind it, and whatever follows them.
fn without_end(sql: &str) -> Result<&str, String> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| format!("the statement cannot be read: {error}"))?;
    let behind = tokens.iter().rev().take_while(|found| {
        matches!(found.token, Token::Whitespace(_) | Token::SemiColon | Token::EOF)
    });
    let end = behind.filter(|found| found.token == Token::SemiColon).last();
    Ok(match end.and_then(|found| byte_offset(sql, found.span.start)) {
        Some(end) => &sql[..end],
        None => sql,
    })
}

/// Where a line and column (of characters, from 1) begin.
fn byte_offset(sql: &str, at: Location) -> Option<usize> {
    let (mut line, mut column) = (1, 1);
    for (offset, c) in sql.char_indices() {
        if (line, column) == (at.line, at.column) {
            return Some(offset);
        }
        match c {
            '\n' => (line, column) = (line + 1, 1),
            _ => column += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_a_statement_is_taken_off() {
        for (sql, wanted) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT 1;", "SELECT 1"),
            ("SELECT 'é;'\n ; -- done;\n ;", "SELECT 'é;'\n "),
            ("SELECT 1 -- not; the end", "SELECT 1 -- not; the end"),
            ("SELECT ';' /* ; */", "SELECT ';' /* ; */"),
            ("SELECT $$;$$;", "SELECT $$;$$"),
        ] {
            assert_eq!(without_end(sql).unwrap(), wanted, "{sql}");
        }
    }

    #[test]
    fn wide_rows_come_one_by_one() {
        assert_eq!(batch_rows(0), BATCH_ROWS);
        assert_eq!(batch_rows(1), BATCH_ROWS);
        assert_eq!(batch_rows(1_600), 1);
    }
}
