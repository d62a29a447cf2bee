//! What the parser says a statement is.

use std::ops::ControlFlow;

use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
use sqlparser::ast::{
    FromTable, Insert, ObjectName, OnConflictAction, OnInsert, Query, SetExpr, SqliteOnConflict,
    Statement as Parsed, TableFactor, TableObject, TableWithJoins, Visit as _, Visitor,
};
use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::parser::Parser;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlStatementKind {
    Read,
    Insert,
    Update,
    Delete,
    /// Tables, indexes, views and triggers made, changed or dropped.
    Define,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SqlStatement {
    pub(super) kind: SqlStatementKind,
    /// The table that is changed, without quotes.
    pub(super) table: Option<String>,
    /// An update or delete that names no rows in particular.
    pub(super) everything: bool,
    /// Whether an update or delete has a WHERE clause.
    pub(super) has_where: Option<bool>,
    pub(super) conflict: ConflictClause,
}

/// What becomes of rows that are in the way of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ConflictClause {
    /// They stay as they are.
    #[default]
    Kept,
    /// They are overwritten, and counted.
    Updated,
    /// They are deleted, and not counted.
    Replaced,
}

impl SqlStatement {
    pub(super) fn new(kind: SqlStatementKind, table: Option<String>) -> SqlStatement {
        SqlStatement {
            kind,
            table,
            everything: false,
            has_where: None,
            conflict: ConflictClause::default(),
        }
    }

    /// The same, where the table itself may say that rows in the way are deleted (`replaces`).
    pub(super) fn on_a_table_that(self, replaces: bool) -> SqlStatement {
        let adds = matches!(self.kind, SqlStatementKind::Insert | SqlStatementKind::Update);
        match replaces && adds && self.conflict == ConflictClause::Kept {
            true => SqlStatement { conflict: ConflictClause::Replaced, ..self },
            false => self,
        }
    }

    /// What rules may know about it. `changed` is the number of rows that were counted.
    pub(super) fn sql_facts(&self, tables: SqlTables, changed: Option<u64>) -> SqlFacts {
        let kind = match (self.kind, self.conflict) {
            (SqlStatementKind::Read, _) => SqlKind::Select,
            (SqlStatementKind::Define, _) => SqlKind::Ddl,
            (_, ConflictClause::Updated | ConflictClause::Replaced) => SqlKind::Upsert,
            (SqlStatementKind::Insert, ConflictClause::Kept) => SqlKind::Insert,
            (SqlStatementKind::Update, ConflictClause::Kept) => SqlKind::Update,
            (SqlStatementKind::Delete, ConflictClause::Kept) => SqlKind::Delete,
        };
        let rows = match (self.kind, self.conflict) {
            (SqlStatementKind::Read, _) => Some(0),
            // A dropped table has no changed rows, and loses all of them.
            (SqlStatementKind::Define, _) | (_, ConflictClause::Replaced) => None,
            _ => changed,
        };
        SqlFacts { kind, tables, has_where: self.has_where, rows }
    }

    /// What can be said without the database: other tables may be behind the one that is named.
    pub(super) fn facts_unseen(&self) -> SqlFacts {
        let names = self.table.iter().cloned().collect();
        self.sql_facts(SqlTables { names, complete: false }, None)
    }
}

/// The parser and the databases disagree about where a comment ends at a lone carriage return.
pub(super) fn check_line_ends(sql: &str) -> Result<(), String> {
    match sql.split("\r\n").any(|part| part.contains('\r')) {
        true => Err("`sql` contains a carriage return that ends no line; write line feeds".into()),
        false => Ok(()),
    }
}

/// A parameter would be NULL; and what the parser takes for a quoted text may be one to SQLite (`$a$`).
pub(super) fn check_parameters(prepared: &rusqlite::Statement<'_>) -> Result<(), String> {
    match prepared.parameter_count() {
        0 => Ok(()),
        _ => Err("parameters such as ?1 and $a have no values here".into()),
    }
}

/// What an INSERT does to rows that are in its way.
pub(super) fn conflict_of(insert: &Insert) -> ConflictClause {
    match (&insert.or, &insert.on) {
        _ if insert.replace_into || insert.overwrite => ConflictClause::Replaced,
        (Some(SqliteOnConflict::Replace), _) => ConflictClause::Replaced,
        (_, None) => ConflictClause::Kept,
        (_, Some(OnInsert::OnConflict(on))) if matches!(on.action, OnConflictAction::DoNothing) => {
            ConflictClause::Kept
        }
        (_, Some(_)) => ConflictClause::Updated,
    }
}

pub(super) fn parse_statement(sql: &str) -> Result<SqlStatement, String> {
    check_line_ends(sql)?;
    let statement = parse_one(&SQLiteDialect {}, sql)?;
    let found = classify_statement(&statement)?;
    check_changes(&statement, found.kind)?;
    Ok(found)
}

/// Reads exactly one statement. The text is for the model: what it may write instead.
pub(super) fn parse_one(dialect: &dyn Dialect, sql: &str) -> Result<Parsed, String> {
    let mut statements = Parser::parse_sql(dialect, sql)
        .map_err(|error| format!("the statement cannot be read: {error}"))?;
    match (statements.pop(), statements.len()) {
        (None, _) => Err("`sql` contains no statement".into()),
        (Some(statement), 0) => Ok(statement),
        (Some(_), others) => {
            Err(format!("`sql` contains {} statements; send one at a time", others + 1))
        }
    }
}

/// A statement changes what it says that it changes, and nothing on the way there: SQLite takes no change in
/// a WITH, and where only the text is known it must not pass for a query.
pub(super) fn check_changes(statement: &Parsed, kind: SqlStatementKind) -> Result<(), String> {
    let mut changes = ChangeCounter(0);
    let _ = statement.visit(&mut changes);
    match changes.0
        > usize::from(!matches!(kind, SqlStatementKind::Read | SqlStatementKind::Define))
    {
        true => Err("one change in a statement: what stands in WITH may only read".into()),
        false => Ok(()),
    }
}

struct ChangeCounter(usize);

impl Visitor for ChangeCounter {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Parsed) -> ControlFlow<()> {
        self.0 += usize::from(matches!(
            statement,
            Parsed::Insert(_) | Parsed::Update(_) | Parsed::Delete(_) | Parsed::Merge(_)
        ));
        ControlFlow::Continue(())
    }
}

fn classify_statement(statement: &Parsed) -> Result<SqlStatement, String> {
    let plain = |kind| Ok(SqlStatement::new(kind, None));
    match statement {
        Parsed::Query(query) => classify_query(query),
        Parsed::Explain { statement, .. } => match classify_statement(statement)?.kind {
            SqlStatementKind::Read => plain(SqlStatementKind::Read),
            _ => Err("only queries can be explained".into()),
        },
        Parsed::Insert(insert) => {
            let TableObject::TableName(name) = &insert.table else {
                return Err("insert into a table, by its name".into());
            };
            let table = Some(table_name(name)?);
            Ok(SqlStatement {
                conflict: conflict_of(insert),
                ..SqlStatement::new(SqlStatementKind::Insert, table)
            })
        }
        Parsed::Update(update) => Ok(SqlStatement {
            everything: update.selection.is_none() && update.limit.is_none(),
            has_where: Some(update.selection.is_some()),
            conflict: match update.or {
                Some(SqliteOnConflict::Replace) => ConflictClause::Replaced,
                _ => ConflictClause::Kept,
            },
            ..SqlStatement::new(SqlStatementKind::Update, Some(table_of(&update.table)?))
        }),
        Parsed::Delete(delete) => {
            let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) =
                &delete.from;
            let [table] = tables.as_slice() else {
                return Err("delete from one table at a time".into());
            };
            Ok(SqlStatement {
                everything: delete.selection.is_none() && delete.limit.is_none(),
                has_where: Some(delete.selection.is_some()),
                ..SqlStatement::new(SqlStatementKind::Delete, Some(table_of(table)?))
            })
        }
        Parsed::CreateTable(_)
        | Parsed::CreateIndex(_)
        | Parsed::CreateView(_)
        | Parsed::CreateTrigger(_)
        | Parsed::DropTrigger(_)
        | Parsed::AlterTable(_)
        | Parsed::Drop { .. } => plain(SqlStatementKind::Define),
        Parsed::AttachDatabase { .. } => {
            Err("ATTACH is not allowed: use the databases that are configured".into())
        }
        Parsed::Pragma { .. } => Err("PRAGMA is not allowed".into()),
        Parsed::Vacuum(_) => Err("VACUUM is not allowed".into()),
        Parsed::StartTransaction { .. }
        | Parsed::Commit { .. }
        | Parsed::Rollback { .. }
        | Parsed::Savepoint { .. }
        | Parsed::ReleaseSavepoint { .. } => {
            Err("transactions are not allowed: each statement is one by itself".into())
        }
        _ => Err("this kind of statement is not allowed".into()),
    }
}

/// `WITH … DELETE` is a query to the parser, and a change to everybody else.
fn classify_query(query: &Query) -> Result<SqlStatement, String> {
    match &*query.body {
        SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => {
            classify_statement(inner)
        }
        body if is_read_only(body) => Ok(SqlStatement::new(SqlStatementKind::Read, None)),
        _ => Err("this kind of statement is not allowed".into()),
    }
}

/// Whether it only reads: it makes no table either.
pub(super) fn is_read_only(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select.into.is_none(),
        SetExpr::Query(query) => is_read_only(&query.body),
        SetExpr::SetOperation { left, right, .. } => is_read_only(left) && is_read_only(right),
        SetExpr::Values(_) => true,
        _ => false,
    }
}

fn table_of(table: &TableWithJoins) -> Result<String, String> {
    match &table.relation {
        TableFactor::Table { name, .. } if table.joins.is_empty() => table_name(name),
        _ => Err("change one table at a time, by its name".into()),
    }
}

/// `main.orders` and `orders` are the same; other schemas do not exist here.
fn table_name(name: &ObjectName) -> Result<String, String> {
    let parts: Option<Vec<&str>> =
        name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.as_str())).collect();
    match parts.as_deref() {
        Some([table]) => Ok((*table).to_owned()),
        Some([schema, table]) if schema.eq_ignore_ascii_case("main") => Ok((*table).to_owned()),
        _ => Err("name the table alone: there is one database".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sql: &str) -> Result<SqlStatementKind, String> {
        parse_statement(sql).map(|statement| statement.kind)
    }

    #[test]
    fn statements_are_told_apart() {
        for (sql, expected) in [
            ("SELECT * FROM orders", SqlStatementKind::Read),
            ("VALUES (1), (2)", SqlStatementKind::Read),
            ("WITH a AS (SELECT 1) SELECT * FROM a;", SqlStatementKind::Read),
            ("EXPLAIN QUERY PLAN SELECT 1", SqlStatementKind::Read),
            ("SELECT 1 UNION SELECT 2 -- done", SqlStatementKind::Read),
            ("INSERT INTO orders VALUES (1)", SqlStatementKind::Insert),
            ("REPLACE INTO orders VALUES (1)", SqlStatementKind::Insert),
            ("INSERT OR IGNORE INTO orders VALUES (1)", SqlStatementKind::Insert),
            ("UPDATE orders SET a = 1", SqlStatementKind::Update),
            ("DELETE FROM orders WHERE status = 1", SqlStatementKind::Delete),
            ("WITH x AS (SELECT 1) DELETE FROM orders", SqlStatementKind::Delete),
            ("WITH x AS (SELECT 1) UPDATE orders SET a = 1", SqlStatementKind::Update),
            ("CREATE TABLE t (a)", SqlStatementKind::Define),
            ("DROP TABLE t", SqlStatementKind::Define),
            ("ALTER TABLE t ADD COLUMN b", SqlStatementKind::Define),
            ("CREATE INDEX i ON t (a)", SqlStatementKind::Define),
        ] {
            assert_eq!(kind(sql), Ok(expected), "{sql}");
        }
    }

    #[test]
    fn the_changed_table_is_named() {
        for sql in [
            "DELETE FROM main.\"orders\"",
            "UPDATE [orders] SET a = 1",
            "INSERT INTO `orders` (a) VALUES (1)",
        ] {
            let statement = parse_statement(sql).unwrap();
            assert_eq!(statement.table.as_deref(), Some("orders"), "{sql}");
        }
        assert!(parse_statement("DELETE FROM orders").unwrap().everything);
        assert!(!parse_statement("DELETE FROM orders WHERE a = 1").unwrap().everything);
    }

    #[test]
    fn what_is_not_one_plain_statement_is_refused_with_a_reason() {
        for (sql, why) in [
            ("", "contains no statement"),
            ("-- nothing", "contains no statement"),
            ("DELETE FROM a; DELETE FROM b", "2 statements"),
            ("SELECT 1; DROP TABLE a", "2 statements"),
            ("DELETE FROM", "cannot be read"),
            ("ATTACH 'x' AS y", "ATTACH"),
            ("PRAGMA foreign_keys = 0", "PRAGMA"),
            ("VACUUM", "VACUUM"),
            ("VACUUM INTO '/tmp/x'", ""),
            ("BEGIN", "transactions"),
            ("COMMIT", "transactions"),
            ("SAVEPOINT a", "transactions"),
            ("EXPLAIN DELETE FROM a", "only queries"),
            ("DELETE FROM temp.a", "one database"),
            ("CREATE VIRTUAL TABLE t USING fts5(a)", "not allowed"),
        ] {
            let refusal = parse_statement(sql).expect_err(sql);
            assert!(refusal.contains(why), "{sql}: {refusal}");
        }
    }
}
