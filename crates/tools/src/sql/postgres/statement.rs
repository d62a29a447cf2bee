//! What the parser says a statement is, with every table and function that it names.

use std::ops::ControlFlow;

use domain::sql_facts::{SqlFacts, SqlTables};
use sqlparser::ast::{
    AccessExpr, Delete, Expr, FromTable, Ident, ObjectName, ObjectType, Query, SetExpr,
    Statement as Parsed, TableFactor, TableObject, TableWithJoins, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;

use super::super::statement::{
    SqlStatement, SqlStatementKind, check_changes, check_line_ends, conflict_of, is_read_only,
    parse_one,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sql) struct PgStatement {
    pub(super) what: SqlStatement,
    /// Every table, view and query of a WITH that is named, as the server would read the name.
    pub(super) relations: Vec<String>,
    /// Of these, the queries of a WITH.
    pub(super) withs: Vec<String>,
    /// Last parts of their names, and of everything that the server may take for one.
    pub(super) functions: Vec<String>,
    /// The table that is changed, as the server would read its name.
    pub(super) target: Option<String>,
    pub(super) explains: bool,
}

/// Reads exactly one statement. The text is for the model: what it may write instead.
pub(in crate::sql) fn parse_pg_statement(sql: &str) -> Result<PgStatement, String> {
    check_line_ends(sql)?;
    // A second way to end a text; nobody needs it here.
    if sql.contains('\0') {
        return Err("`sql` contains a NUL character".into());
    }
    // The parser takes this for a column, an operator and another name; the server decodes it.
    if sql.to_ascii_lowercase().contains("u&\"") {
        return Err("names of the form U&\"…\" are not allowed: write the name itself".into());
    }
    let statement = parse_one(&PostgreSqlDialect {}, sql)?;
    let (what, target) = classify_statement(&statement)?;
    let mut names = StatementNames::default();
    if let ControlFlow::Break(why) = statement.visit(&mut names) {
        return Err(why);
    }
    check_changes(&statement, what.kind)?;
    for name in &names.as_functions {
        // `FROM generate_series(1, 3)` is a table to the parser as well as a function.
        if let Some(at) = names.relations.iter().position(|found| found == name) {
            names.relations.remove(at);
        }
    }
    names.relations.sort();
    names.relations.dedup();
    names.functions.sort();
    names.functions.dedup();
    Ok(PgStatement {
        what,
        relations: names.relations,
        withs: names.withs,
        functions: names.functions,
        target,
        explains: matches!(statement, Parsed::Explain { .. }),
    })
}

impl PgStatement {
    /// What can be said without the server: neither what the names mean nor what is behind them.
    pub(in crate::sql) fn facts_unseen(&self) -> SqlFacts {
        SqlFacts { tables: SqlTables::default(), ..self.what.facts_unseen() }
    }
}

type ClassifiedStatement = (SqlStatement, Option<String>);

fn classify_statement(statement: &Parsed) -> Result<ClassifiedStatement, String> {
    let plain = |kind| Ok((SqlStatement::new(kind, None), None));
    let change = |kind, name: &ObjectName| -> Result<ClassifiedStatement, String> {
        Ok((SqlStatement::new(kind, Some(display_name(name)?)), Some(quote_name(name)?)))
    };
    // Whether an update or delete has a WHERE clause.
    let changing = |kind, name: &ObjectName, has_where: bool| {
        let (what, target) = change(kind, name)?;
        Ok((SqlStatement { everything: !has_where, has_where: Some(has_where), ..what }, target))
    };
    match statement {
        Parsed::Query(query) => match &*query.body {
            // `WITH … DELETE` is a query to the parser, and a change to everybody else.
            SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => {
                classify_statement(inner)
            }
            body if is_read_only(body) => plain(SqlStatementKind::Read),
            _ => Err("this kind of statement is not allowed".into()),
        },
        Parsed::Explain { statement, analyze: false, options: None, .. } => {
            match classify_statement(statement)?.0.kind {
                SqlStatementKind::Read => plain(SqlStatementKind::Read),
                _ => Err("only queries can be explained".into()),
            }
        }
        Parsed::Explain { .. } => {
            Err("EXPLAIN is allowed without options; ANALYZE would run the statement".into())
        }
        Parsed::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => {
                let (what, target) = change(SqlStatementKind::Insert, name)?;
                Ok((SqlStatement { conflict: conflict_of(insert), ..what }, target))
            }
            _ => Err("insert into a table, by its name".into()),
        },
        Parsed::Update(update) => {
            changing(SqlStatementKind::Update, table_of(&update.table)?, update.selection.is_some())
        }
        Parsed::Delete(Delete { from, selection, tables, .. }) => {
            let (FromTable::WithFromKeyword(found) | FromTable::WithoutKeyword(found)) = from;
            match (found.as_slice(), tables.as_slice()) {
                ([table], []) => {
                    changing(SqlStatementKind::Delete, table_of(table)?, selection.is_some())
                }
                _ => Err("delete from one table at a time".into()),
            }
        }
        Parsed::CreateTable(table) if !table.temporary => plain(SqlStatementKind::Define),
        Parsed::CreateIndex(index) if !index.concurrently => plain(SqlStatementKind::Define),
        Parsed::CreateView(view) if !view.temporary => plain(SqlStatementKind::Define),
        Parsed::AlterTable(_) => plain(SqlStatementKind::Define),
        Parsed::Drop {
            object_type: ObjectType::Table | ObjectType::Index | ObjectType::View,
            ..
        } => plain(SqlStatementKind::Define),
        Parsed::Truncate(_) => Err("TRUNCATE is not allowed: DELETE says how many rows go".into()),
        Parsed::Copy { .. } => Err("COPY is not allowed".into()),
        Parsed::Call(_) => Err("CALL is not allowed: nobody can see what a procedure does".into()),
        Parsed::Set(_) => {
            Err("SET is not allowed: each statement runs with the same settings".into())
        }
        Parsed::LISTEN { .. } | Parsed::NOTIFY { .. } | Parsed::UNLISTEN { .. } => {
            Err("LISTEN and NOTIFY are not allowed".into())
        }
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

fn table_of(table: &TableWithJoins) -> Result<&ObjectName, String> {
    match &table.relation {
        TableFactor::Table { name, args: None, .. } if table.joins.is_empty() => Ok(name),
        _ => Err("change one table at a time, by its name".into()),
    }
}

/// A name as the server reads it: in small letters unless quoted.
fn folded_part(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        // Other letters than these the server leaves as they are.
        None => ident.value.to_ascii_lowercase(),
    }
}

fn name_parts(name: &ObjectName) -> Result<Vec<String>, String> {
    let parts: Option<Vec<String>> =
        name.0.iter().map(|found| found.as_ident().map(folded_part)).collect();
    match parts {
        Some(parts) if (1..=2).contains(&parts.len()) => Ok(parts),
        _ => Err("name a table by itself, or as schema.table".into()),
    }
}

fn display_name(name: &ObjectName) -> Result<String, String> {
    Ok(name_parts(name)?.join("."))
}

fn quote_name(name: &ObjectName) -> Result<String, String> {
    let parts = name_parts(name)?;
    Ok(parts.iter().map(|part| quote_part(part)).collect::<Vec<_>>().join("."))
}

fn quote_part(part: &str) -> String {
    format!("\"{}\"", part.replace('"', "\"\""))
}

/// The parser takes this word for a table, and the table for its other name.
fn is_only(name: &ObjectName) -> bool {
    let word = match name.0.as_slice() {
        [word] => word.as_ident(),
        _ => None,
    };
    word.is_some_and(|word| word.quote_style.is_none() && word.value.eq_ignore_ascii_case("only"))
}

const ONLY: &str = "ONLY is not allowed: name the table by itself";

#[derive(Default)]
struct StatementNames {
    relations: Vec<String>,
    withs: Vec<String>,
    functions: Vec<String>,
    /// Functions that stand where a table could.
    as_functions: Vec<String>,
}

impl StatementNames {
    fn add_function(&mut self, name: &ObjectName) {
        if let Some(last) = name.0.last().and_then(|found| found.as_ident()) {
            self.functions.push(folded_part(last));
        }
    }
}

impl Visitor for StatementNames {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        if !query.locks.is_empty() {
            return ControlFlow::Break("FOR UPDATE and FOR SHARE are not allowed".into());
        }
        for with in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.withs.push(quote_part(&folded_part(&with.alias.name)));
        }
        let body = &*query.body;
        let known = matches!(body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_));
        match known || is_read_only(body) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break("SELECT INTO, TABLE and MERGE are not allowed".into()),
        }
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<String> {
        if is_only(name) {
            return ControlFlow::Break(ONLY.into());
        }
        match quote_name(name) {
            Ok(name) => self.relations.push(name),
            Err(why) => return ControlFlow::Break(why),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<String> {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } => {
                self.add_function(name);
                self.as_functions.extend(quote_name(name));
            }
            TableFactor::Function { name, .. } if is_only(name) => {
                return ControlFlow::Break(ONLY.into());
            }
            // Not among the relations, unlike the one above.
            TableFactor::Function { name, .. } => self.add_function(name),
            TableFactor::Table { .. }
            | TableFactor::Derived { .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::NestedJoin { .. } => {}
            _ => return ControlFlow::Break("this kind of table is not allowed".into()),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        match expr {
            Expr::Function(function) => self.add_function(&function.name),
            // `a.b` is the column b of a, or the function b of a, whichever the server finds.
            Expr::CompoundIdentifier(parts) => self.functions.extend(parts.last().map(folded_part)),
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    match access {
                        AccessExpr::Dot(Expr::Identifier(name)) => {
                            self.functions.push(folded_part(name))
                        }
                        AccessExpr::Dot(_) => {
                            return ControlFlow::Break("write `(a).b` with a plain name".into());
                        }
                        AccessExpr::Subscript(_) => {}
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(sql: &str) -> Result<SqlStatementKind, String> {
        parse_pg_statement(sql).map(|statement| statement.what.kind)
    }

    #[test]
    fn statements_are_told_apart() {
        for (sql, expected) in [
            ("SELECT * FROM orders", SqlStatementKind::Read),
            ("VALUES (1), (2)", SqlStatementKind::Read),
            ("WITH a AS (SELECT 1) SELECT * FROM a;", SqlStatementKind::Read),
            ("EXPLAIN SELECT 1", SqlStatementKind::Read),
            ("SELECT 1 UNION ALL SELECT 2 -- done", SqlStatementKind::Read),
            ("SELECT $$;DELETE FROM a;$$", SqlStatementKind::Read),
            ("SELECT E'\\';', 'x'", SqlStatementKind::Read),
            ("INSERT INTO orders VALUES (1) ON CONFLICT DO NOTHING", SqlStatementKind::Insert),
            ("UPDATE orders SET a = 1 FROM b WHERE b.id = orders.id", SqlStatementKind::Update),
            ("DELETE FROM orders USING b WHERE b.id = orders.id", SqlStatementKind::Delete),
            ("WITH x AS (SELECT 1) DELETE FROM orders", SqlStatementKind::Delete),
            ("CREATE TABLE t (a int)", SqlStatementKind::Define),
            ("DROP TABLE t", SqlStatementKind::Define),
            ("ALTER TABLE t ADD COLUMN b int", SqlStatementKind::Define),
            ("CREATE INDEX i ON t (a)", SqlStatementKind::Define),
        ] {
            assert_eq!(kind(sql), Ok(expected), "{sql}");
        }
    }

    #[test]
    fn every_name_is_found_wherever_it_stands() {
        let sql = "WITH a AS (SELECT f(1) FROM s.\"T\") SELECT g(x), (SELECT h() FROM Deep) \
                   FROM a JOIN b USING (x), LATERAL generate_series(1, k(2)) n \
                   WHERE EXISTS (SELECT 1 FROM c WHERE m(y)) ORDER BY o(z)";
        let statement = parse_pg_statement(sql).unwrap();
        assert_eq!(statement.relations, ["\"a\"", "\"b\"", "\"c\"", "\"deep\"", "\"s\".\"T\""]);
        let functions: Vec<&str> = statement.functions.iter().map(String::as_str).collect();
        assert_eq!(functions, ["f", "g", "generate_series", "h", "k", "m", "o"]);
        assert_eq!(statement.withs, ["\"a\""]);
        let hidden = parse_pg_statement("SELECT o.pg_sleep, (5).quiet, (o.x).deep FROM o").unwrap();
        assert_eq!(hidden.functions, ["deep", "pg_sleep", "quiet", "x"]);
        let beside =
            parse_pg_statement("SELECT 1 FROM date, LATERAL date('2026-01-01') d").unwrap();
        assert_eq!(beside.relations, ["\"date\""], "the table is still looked at");
        let change = parse_pg_statement(
            "UPDATE Shop.\"Or\"\"ders\" SET a = f(1) WHERE b IN (SELECT c FROM d)",
        );
        let change = change.unwrap();
        assert_eq!(change.target.as_deref(), Some("\"shop\".\"Or\"\"ders\""));
        assert_eq!(change.what.table.as_deref(), Some("shop.Or\"ders"));
        assert_eq!(change.relations, ["\"d\"", "\"shop\".\"Or\"\"ders\""]);
        assert!(parse_pg_statement("DELETE FROM a").unwrap().what.everything);
    }

    #[test]
    fn what_is_not_one_plain_statement_is_refused_with_a_reason() {
        for (sql, why) in [
            ("", "contains no statement"),
            ("SELECT U&\"pg\\005fsleep\"(1)", "U&"),
            ("SELECT u&\"pg\\005fsleep\"(1)", "U&"),
            ("DELETE FROM ONLY secret", "ONLY"),
            ("UPDATE ONLY secret SET a = 1", "ONLY"),
            ("UPDATE a SET b = 1 FROM only secret", "ONLY"),
            ("SELECT * FROM ONLY (secret)", "ONLY"),
            ("DELETE FROM a; DELETE FROM b", "2 statements"),
            ("SELECT 1; COMMIT; DROP TABLE a", "3 statements"),
            ("SELECT 1 FROM a FOR UPDATE", "FOR UPDATE"),
            ("SELECT * FROM (SELECT 1 FROM a FOR SHARE) b", "FOR UPDATE"),
            ("SELECT * INTO b FROM a", "not allowed"),
            ("WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x", "may only read"),
            (
                "WITH x AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM x",
                "may only read",
            ),
            ("WITH x AS (INSERT INTO a VALUES (1) RETURNING *) DELETE FROM b", "may only read"),
            ("EXPLAIN ANALYZE DELETE FROM a", "ANALYZE"),
            ("EXPLAIN (ANALYZE) SELECT 1", "ANALYZE"),
            ("EXPLAIN DELETE FROM a", "only queries"),
            ("TRUNCATE a", "TRUNCATE"),
            ("COPY a TO '/tmp/x'", "COPY"),
            ("COPY a FROM PROGRAM 'id'", "COPY"),
            ("CALL p()", "CALL"),
            ("DO $$ BEGIN DELETE FROM a; END $$", ""),
            ("SET search_path = evil", "SET"),
            ("SET ROLE postgres", "SET"),
            ("LISTEN x", "LISTEN"),
            ("NOTIFY x", "LISTEN"),
            ("BEGIN", "transactions"),
            ("COMMIT", "transactions"),
            ("VACUUM", "not allowed"),
            ("LOCK TABLE a", ""),
            ("GRANT ALL ON a TO b", "not allowed"),
            ("PREPARE x AS SELECT 1", "not allowed"),
            ("CREATE FUNCTION f() RETURNS int AS 'select 1' LANGUAGE sql", "not allowed"),
            ("CREATE TEMP TABLE t (a int)", "not allowed"),
            ("CREATE INDEX CONCURRENTLY i ON t (a)", "not allowed"),
            ("DROP SCHEMA public CASCADE", "not allowed"),
            ("CREATE EXTENSION dblink", "not allowed"),
            ("TABLE a", ""),
            ("SELECT 1\0; DELETE FROM a", "NUL"),
        ] {
            let refusal = parse_pg_statement(sql).expect_err(sql);
            assert!(refusal.contains(why), "{sql}: {refusal}");
        }
    }
}
