//! What the server says a statement's names mean, and whether it may use them.

use domain::sql_facts::SqlTables;
use domain::warning::WhyEstimated;

use super::super::marker;
use super::super::statement::SqlStatementKind;
use super::failure::PgFailure;
use super::session::PgSession;
use super::statement::PgStatement;

/// Tables that may be used, as `schema.table`; `None` for all.
pub(super) type PgTableAllowlist = Option<Vec<String>>;

/// Functions that are called volatile and change nothing.
const HARMLESS: [&str; 10] = [
    "random",
    "gen_random_uuid",
    "clock_timestamp",
    "timeofday",
    "pg_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_total_relation_size",
    "pg_database_size",
    "pg_column_size",
];

const SYSTEM: [&str; 3] = ["pg_catalog", "information_schema", "pg_toast"];

/// Asks the server, inside the transaction, about every name in the statement. Gives the tables that
/// they mean.
pub(super) async fn check_names(
    session: &PgSession,
    statement: &PgStatement,
    tables: &PgTableAllowlist,
) -> Result<SqlTables, PgFailure> {
    check_functions(session, statement).await?;
    let found = session
        .client
        .query(
            "SELECT x.name, n.nspname::text, c.relname::text, c.relkind::text, c.relhassubclass
             FROM unnest($1::text[]) AS x(name)
             JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(x.name)
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace",
            &[&statement.relations],
        )
        .await?;
    // A name that leads nowhere here may lead somewhere when the server reads it another way.
    let resolves = |name: &String| found.iter().any(|row| row.get::<_, &str>(0) == name);
    if statement.what.kind != SqlStatementKind::Define
        && let Some(lost) = statement
            .relations
            .iter()
            .find(|name| !resolves(name) && !statement.withs.contains(name))
    {
        return Err(PgFailure::Refused(format!("the table {lost} does not exist")));
    }
    // What a change of tables names is not all looked up.
    let mut meant =
        SqlTables { names: Vec::new(), complete: statement.what.kind != SqlStatementKind::Define };
    for row in found {
        let (name, schema, table, kind): (&str, &str, &str, &str) =
            (row.get(0), row.get(1), row.get(2), row.get(3));
        let whole = format!("{schema}.{table}");
        if marker::is_ours(table) {
            return Err(PgFailure::Refused(format!("`{whole}` is Holdpoint's own table")));
        }
        // Others are behind a view, a partitioned table, or one that others inherit from; and a dot in
        // a name would make it look like another.
        meant.complete &= kind == "r" && !row.get::<_, bool>(4) && !table.contains('.');
        meant.names.push(whole.clone());
        // A query of a WITH that is called like a table is taken for the table: inside of itself it is.
        if tables.as_ref().is_some_and(|tables| !tables.contains(&whole)) {
            return Err(PgFailure::Refused(format!(
                "`{whole}` is not one of the tables that may be used here"
            )));
        }
        if statement.target.as_deref() == Some(name) {
            if SYSTEM.contains(&schema) {
                return Err(PgFailure::Refused(format!("`{whole}` is the database's own table")));
            }
            if !["r", "p", "v"].contains(&kind) {
                return Err(PgFailure::Refused(format!("`{whole}` is not a table")));
            }
        }
    }
    meant.names.sort();
    meant.names.dedup();
    Ok(meant)
}

/// Only what the server itself brings along, and of that only what has no effects: neither the parser
/// nor a read-only transaction knows what `pg_terminate_backend` does.
async fn check_functions(session: &PgSession, statement: &PgStatement) -> Result<(), PgFailure> {
    let by_text = |name: &&String| name.contains("_to_xml");
    if let Some(name) = statement.functions.iter().find(by_text) {
        return Err(PgFailure::Refused(format!("the function `{name}` is not allowed")));
    }
    let named: Vec<&String> = statement
        .functions
        .iter()
        .filter(|name| !HARMLESS.contains(&name.as_str()))
        .filter(|name| name.as_str() != "nextval" || statement.what.kind == SqlStatementKind::Read)
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    let refused = session
        .client
        .query_opt(
            "SELECT p.proname::text FROM pg_catalog.pg_proc p
             WHERE p.proname = ANY ($1) AND (p.provolatile = 'v'
                   OR p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace)
             ORDER BY 1 LIMIT 1",
            &[&named],
        )
        .await?;
    match refused {
        None => Ok(()),
        Some(row) => Err(PgFailure::Refused(format!(
            "the function `{}` is not allowed: it is the database's own, or has effects",
            row.get::<_, &str>(0)
        ))),
    }
}

/// Which tables the server really opened for a query, where the list has no views that could have
/// opened others.
pub(super) async fn check_opened_tables(
    session: &PgSession,
    tables: &PgTableAllowlist,
) -> Result<(), PgFailure> {
    let Some(tables) = tables else { return Ok(()) };
    let strange = session
        .client
        .query_opt(
            "SELECT n.nspname || '.' || c.relname
             FROM pg_catalog.pg_locks l
             JOIN pg_catalog.pg_class c ON c.oid = l.relation
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation'
               AND c.relkind IN ('r', 'p', 'm', 'f') AND n.nspname <> 'pg_catalog'
               AND n.nspname || '.' || c.relname <> ALL ($1)
               AND NOT EXISTS (
                   SELECT 1 FROM pg_catalog.pg_class v JOIN pg_catalog.pg_namespace m ON m.oid = v.relnamespace
                   WHERE v.relkind IN ('v', 'p') AND m.nspname || '.' || v.relname = ANY ($1))
             LIMIT 1",
            &[tables],
        )
        .await?;
    match strange {
        None => Ok(()),
        Some(row) => Err(PgFailure::Refused(format!(
            "the server reads `{}` for this, which may not be used here",
            row.get::<_, &str>(0)
        ))),
    }
}

/// What a change of a table sets off.
pub(super) struct TriggeredEffects {
    /// Why it cannot be tried.
    pub(super) untried: Option<WhyEstimated>,
    /// Foreign keys or inheritance lead to other tables.
    pub(super) reaches_others: bool,
}

/// Why a change cannot be tried out without effects that outlast the trial: triggers run code, and so
/// do rules. Tables that foreign keys lead to are looked at as well.
pub(super) async fn triggered_effects(
    session: &PgSession,
    target: &str,
) -> Result<TriggeredEffects, PgFailure> {
    let row = session
        .client
        .query_one(
            "WITH RECURSIVE reach (oid) AS (
                 SELECT pg_catalog.to_regclass($1)::oid
                 UNION
                 SELECT next.oid FROM reach, LATERAL (
                     SELECT k.conrelid FROM pg_catalog.pg_constraint k
                     WHERE k.confrelid = reach.oid AND k.contype = 'f'
                       AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
                     UNION ALL
                     SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = reach.oid
                 ) AS next (oid)
             )
             SELECT
                 EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t JOIN reach ON t.tgrelid = reach.oid
                         WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'),
                 EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite w JOIN reach ON w.ev_class = reach.oid),
                 (SELECT pg_catalog.count(*) FROM reach) > 1",
            &[&target],
        )
        .await?;
    let untried = match (row.get(0), row.get(1)) {
        (true, _) => Some(WhyEstimated::HasTriggers),
        (_, true) => Some(WhyEstimated::IsViewOrHasRules),
        (false, false) => None,
    };
    Ok(TriggeredEffects { untried, reaches_others: row.get(2) })
}
