//! The SQLite authorizer: records the actions of a statement as SQLite compiles it, and refuses those
//! that its kind or the allowlist of tables does not cover.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use domain::sql_facts::SqlTables;
use ports::unpoisoned::Unpoisoned as _;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::marker;
use super::statement::{SqlStatement, SqlStatementKind};

/// Tables that a statement may touch, also through views, triggers and foreign keys; `None` for all.
pub(super) type TableAllowlist = Option<Vec<String>>;

/// Watches one connection while a model's statement is compiled and run on it.
#[derive(Clone, Default)]
pub(super) struct SqlAuthorizer(Arc<Mutex<AuthorizedActions>>);

#[derive(Default)]
struct AuthorizedActions {
    /// The first change that the statement makes: the compiler asks about the statement's own table
    /// before it asks about triggers and foreign keys.
    first: Option<(SqlStatementKind, String)>,
    defines: bool,
    /// Every table that it reads or changes, also behind views and through triggers and foreign keys.
    tables: BTreeSet<String>,
    refused: Option<String>,
}

/// Functions that reach outside of the database, where a build has them.
const OUTSIDE: [&str; 6] =
    ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "sqlar_uncompress"];

const DESCRIBES: [&str; 6] =
    ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"];

impl SqlAuthorizer {
    pub(super) fn install(
        connection: &mut Connection,
        kind: SqlStatementKind,
        tables: &TableAllowlist,
    ) -> rusqlite::Result<SqlAuthorizer> {
        let authorizer = SqlAuthorizer::default();
        let (seen, tables) = (Arc::clone(&authorizer.0), tables.clone());
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            let mut seen = seen.lock().unpoisoned();
            if let Some(table) = touched_table(&context) {
                seen.tables.insert(table.to_owned());
            }
            let judged = check_allowlist(&tables, &context)
                .and_then(|()| judge_action(kind, &context, &mut seen));
            match judged {
                Ok(()) => Authorization::Allow,
                Err(why) => {
                    seen.refused.get_or_insert(why);
                    Authorization::Deny
                }
            }
        }))?;
        Ok(authorizer)
    }

    pub(super) fn remove(connection: &mut Connection) -> rusqlite::Result<()> {
        connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)
    }

    pub(super) fn refusal(&self) -> Option<String> {
        self.0.lock().unpoisoned().refused.clone()
    }

    /// The tables that the compiler saw, by the names that the schema gives them.
    pub(super) fn seen_tables(&self) -> SqlTables {
        let seen = self.0.lock().unpoisoned();
        let names: Vec<String> = seen.tables.iter().cloned().collect();
        // A dot would make it look like a table of a schema.
        let complete = !seen.defines && !names.iter().any(|name| name.contains('.'));
        SqlTables { names, complete }
    }

    /// Whether the compiler saw the statement that the parser saw. Two readers of one text that
    /// disagree are a trick, or a bug; either way nothing runs.
    pub(super) fn agrees_with(
        &self,
        statement: &SqlStatement,
        read_only: bool,
    ) -> Result<(), String> {
        let seen = self.0.lock().unpoisoned();
        let agreed = match statement.kind {
            SqlStatementKind::Read => read_only && seen.first.is_none() && !seen.defines,
            SqlStatementKind::Define => seen.defines && !read_only,
            kind => {
                let same_table = |found: &str| {
                    statement
                        .table
                        .as_deref()
                        .is_some_and(|table| table.eq_ignore_ascii_case(found))
                };
                !read_only
                    && !seen.defines
                    && seen
                        .first
                        .as_ref()
                        .is_some_and(|(first, table)| *first == kind && same_table(table))
            }
        };
        if agreed {
            Ok(())
        } else {
            Err("SQLite reads this statement differently; write it more plainly".into())
        }
    }
}

fn touched_table<'a>(context: &AuthContext<'a>) -> Option<&'a str> {
    match context.action {
        AuthAction::Read { table_name, .. }
        | AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name } => Some(table_name),
        _ => None,
    }
}

/// Whatever leads there, a table that is not on the list is not touched. A view is on the list by
/// itself, and so are the tables behind it: who says that a name is a view may be a trick.
fn check_allowlist(tables: &TableAllowlist, context: &AuthContext<'_>) -> Result<(), String> {
    let Some(tables) = tables else { return Ok(()) };
    let table = match (touched_table(context), context.action) {
        (Some(table), _) => table,
        (None, AuthAction::Pragma { .. }) => return Err("PRAGMA is not allowed".into()),
        (None, _) => return Ok(()),
    };
    match tables.iter().any(|listed| listed.eq_ignore_ascii_case(table)) {
        true => Ok(()),
        false => Err(format!("`{table}` is not one of the tables that may be used here")),
    }
}

fn judge_action(
    kind: SqlStatementKind,
    context: &AuthContext<'_>,
    seen: &mut AuthorizedActions,
) -> Result<(), String> {
    let change = |seen: &mut AuthorizedActions, act: SqlStatementKind, table: &str| {
        if kind == SqlStatementKind::Read {
            return Err(format!("a query cannot change `{table}`"));
        }
        if marker::is_ours(table) {
            return Err(format!("`{table}` is Holdpoint's own table"));
        }
        if table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"))
            && kind != SqlStatementKind::Define
        {
            return Err(format!("`{table}` is SQLite's own table"));
        }
        if kind != SqlStatementKind::Define
            && context.database_name.is_some_and(|name| name != "main")
        {
            return Err("only the database itself can be changed".into());
        }
        seen.first.get_or_insert_with(|| (act, table.to_owned()));
        Ok(())
    };
    let define = |seen: &mut AuthorizedActions, table: &str| {
        if kind != SqlStatementKind::Define {
            return Err("tables, indexes, views and triggers cannot be changed here".to_owned());
        }
        if marker::is_ours(table) {
            return Err(format!("`{table}` is Holdpoint's own table"));
        }
        seen.defines = true;
        Ok(())
    };
    match context.action {
        AuthAction::Select | AuthAction::Recursive => Ok(()),
        AuthAction::Read { table_name, .. } if marker::is_ours(table_name) => {
            Err(format!("`{table_name}` is Holdpoint's own table"))
        }
        AuthAction::Read { .. } => Ok(()),
        AuthAction::Function { function_name } => {
            match OUTSIDE.iter().any(|name| name.eq_ignore_ascii_case(function_name)) {
                true => Err(format!("the function `{function_name}` is not allowed")),
                false => Ok(()),
            }
        }
        AuthAction::Insert { table_name } => change(seen, SqlStatementKind::Insert, table_name),
        AuthAction::Update { table_name, .. } => change(seen, SqlStatementKind::Update, table_name),
        AuthAction::Delete { table_name } => change(seen, SqlStatementKind::Delete, table_name),
        AuthAction::CreateTable { table_name }
        | AuthAction::DropTable { table_name }
        | AuthAction::AlterTable { table_name, .. }
        | AuthAction::CreateIndex { table_name, .. }
        | AuthAction::DropIndex { table_name, .. }
        | AuthAction::CreateTrigger { table_name, .. }
        | AuthAction::DropTrigger { table_name, .. } => define(seen, table_name),
        AuthAction::CreateView { view_name } | AuthAction::DropView { view_name } => {
            define(seen, view_name)
        }
        AuthAction::Reindex { .. } => define(seen, ""),
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            Err("ATTACH is not allowed".into())
        }
        // As tables, `pragma_table_info(…)` and the like tell a model what there is. Only such as
        // change nothing exist in that form, and a PRAGMA by itself the parser refuses.
        AuthAction::Pragma { pragma_name, .. }
            if kind == SqlStatementKind::Read && DESCRIBES.contains(&pragma_name) =>
        {
            Ok(())
        }
        AuthAction::Pragma { .. } => Err("PRAGMA is not allowed".into()),
        // Temporary and virtual tables, transactions, and whatever a later SQLite thinks of.
        _ => Err("this kind of statement is not allowed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::statement::parse_statement;
    use super::*;

    fn connection() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE orders (id INTEGER PRIMARY KEY, status);
                 CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id REFERENCES orders ON DELETE CASCADE);
                 CREATE TABLE log (what);
                 CREATE TRIGGER t AFTER DELETE ON orders BEGIN INSERT INTO log VALUES (old.id); END;
                 CREATE VIEW v AS SELECT * FROM orders;",
            )
            .unwrap();
        marker::make_table(&connection).unwrap();
        connection
    }

    fn judged(sql: &str, as_kind: SqlStatementKind) -> Result<(), String> {
        let mut connection = connection();
        let authorizer = SqlAuthorizer::install(&mut connection, as_kind, &None).unwrap();
        let statement = parse_statement(sql)?;
        let prepared = connection.prepare(sql);
        match prepared {
            Ok(prepared) => authorizer.agrees_with(&statement, prepared.readonly()),
            Err(error) => Err(authorizer.refusal().unwrap_or_else(|| error.to_string())),
        }
    }

    #[test]
    fn honest_statements_pass() {
        for (sql, kind) in [
            ("SELECT count(*) FROM v", SqlStatementKind::Read),
            ("SELECT name FROM pragma_table_info('orders')", SqlStatementKind::Read),
            (
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n LIMIT 5) SELECT * FROM n",
                SqlStatementKind::Read,
            ),
            ("EXPLAIN QUERY PLAN SELECT * FROM orders", SqlStatementKind::Read),
            ("DELETE FROM orders WHERE id IN (SELECT id FROM lines)", SqlStatementKind::Delete),
            ("DELETE FROM ORDERS", SqlStatementKind::Delete),
            ("UPDATE orders SET status = 1", SqlStatementKind::Update),
            ("INSERT INTO orders VALUES (1, 2)", SqlStatementKind::Insert),
            (
                "INSERT INTO orders VALUES (1, 2) ON CONFLICT DO UPDATE SET status = 3",
                SqlStatementKind::Insert,
            ),
            ("REPLACE INTO orders VALUES (1, 2)", SqlStatementKind::Insert),
            ("CREATE TABLE x (a)", SqlStatementKind::Define),
            ("CREATE INDEX i ON orders (status)", SqlStatementKind::Define),
            ("DROP TABLE lines", SqlStatementKind::Define),
            ("ALTER TABLE orders ADD COLUMN note", SqlStatementKind::Define),
            ("ALTER TABLE orders RENAME COLUMN status TO state", SqlStatementKind::Define),
        ] {
            assert_eq!(judged(sql, kind), Ok(()), "{sql}");
        }
    }

    #[test]
    fn what_a_statement_may_not_do_it_cannot() {
        for (sql, kind, why) in [
            ("DELETE FROM orders", SqlStatementKind::Read, "a query cannot change `orders`"),
            ("SELECT load_extension('x')", SqlStatementKind::Read, "load_extension"),
            ("SELECT * FROM holdpoint_marker", SqlStatementKind::Read, "Holdpoint's own"),
            ("DELETE FROM holdpoint_marker", SqlStatementKind::Delete, "Holdpoint's own"),
            ("DROP TABLE Holdpoint_Marker", SqlStatementKind::Define, "Holdpoint's own"),
            (
                "CREATE TRIGGER x AFTER INSERT ON holdpoint_marker BEGIN SELECT 1; END",
                SqlStatementKind::Define,
                "",
            ),
            ("CREATE TABLE x (a)", SqlStatementKind::Insert, ""),
            ("DROP TABLE orders", SqlStatementKind::Delete, ""),
            ("CREATE TEMP TABLE x (a)", SqlStatementKind::Define, ""),
        ] {
            let refusal = judged(sql, kind).expect_err(sql);
            assert!(refusal.contains(why), "{sql}: {refusal}");
        }
    }

    #[test]
    fn only_the_tables_of_the_list_are_touched_whatever_leads_there() {
        let judged = |sql: &str, tables: &[&str]| {
            let mut connection = connection();
            connection.execute_batch("CREATE TABLE secrets (word)").unwrap();
            let statement = parse_statement(sql).unwrap();
            let tables = Some(tables.iter().map(|table| (*table).to_owned()).collect());
            let authorizer =
                SqlAuthorizer::install(&mut connection, statement.kind, &tables).unwrap();
            let prepared = connection.prepare(sql);
            match prepared {
                Ok(prepared) => authorizer.agrees_with(&statement, prepared.readonly()),
                Err(error) => Err(authorizer.refusal().unwrap_or_else(|| error.to_string())),
            }
        };
        for (sql, tables) in [
            ("SELECT count(*) FROM ORDERS", &["orders"][..]),
            ("WITH x AS (SELECT * FROM orders) SELECT * FROM x", &["orders"]),
            ("SELECT * FROM v", &["v", "orders"]),
            ("SELECT 1", &["orders"]),
            ("UPDATE orders SET status = 1 WHERE id = 2", &["orders", "lines"]),
            ("DELETE FROM orders", &["orders", "lines", "log"]),
        ] {
            assert_eq!(judged(sql, tables), Ok(()), "{sql}");
        }
        for (sql, table) in [
            ("SELECT * FROM secrets", "secrets"),
            ("SELECT count(*) FROM secrets", "secrets"),
            ("SELECT (SELECT word FROM secrets) FROM orders", "secrets"),
            ("WITH orders AS (SELECT * FROM secrets) SELECT * FROM orders", "secrets"),
            ("INSERT INTO orders SELECT 1, word FROM secrets", "secrets"),
            ("DELETE FROM orders WHERE id IN (SELECT word FROM secrets)", "secrets"),
            ("SELECT * FROM sqlite_schema", "sqlite_master"),
            // A trigger writes to it.
            ("DELETE FROM orders", "log"),
        ] {
            let why = judged(sql, &["orders", "lines"]).expect_err(sql);
            assert!(why.contains(&format!("`{table}` is not one of the tables")), "{sql}: {why}");
        }
        let why = judged("SELECT * FROM pragma_table_info('secrets')", &["orders"]).unwrap_err();
        assert!(why.contains("not"), "{why}");
    }

    #[test]
    fn i06_two_readers_that_disagree_run_nothing() {
        // As if the parser had been tricked into seeing a harmless statement.
        let delete = SqlStatement::new(SqlStatementKind::Delete, Some("log".into()));
        for sql in [
            "DELETE FROM orders",
            "UPDATE log SET what = 1",
            "SELECT 1",
            "INSERT INTO log VALUES (1)",
        ] {
            let mut connection = connection();
            let authorizer =
                SqlAuthorizer::install(&mut connection, SqlStatementKind::Delete, &None).unwrap();
            let prepared = connection.prepare(sql).unwrap();
            assert!(authorizer.agrees_with(&delete, prepared.readonly()).is_err(), "{sql}");
        }
        let read = SqlStatement::new(SqlStatementKind::Read, None);
        let mut connection = connection();
        let authorizer =
            SqlAuthorizer::install(&mut connection, SqlStatementKind::Delete, &None).unwrap();
        let prepared = connection.prepare("DELETE FROM log").unwrap();
        assert!(authorizer.agrees_with(&read, prepared.readonly()).is_err());
    }
}
