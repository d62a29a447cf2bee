//! The rows that say what happened to a change: see [`super`].

use domain::phrase::{NoPreviewReason, PhraseCode};
use tokio_postgres::error::SqlState;

use super::super::marker::{TABLE, announced_key, fence_key};
use super::failure::PgFailure;
use super::session::PgSession;

/// In `public`, like the names of tables that are not qualified.
const MAKE: &str = "CREATE TABLE IF NOT EXISTS public.holdpoint_marker (
    key text PRIMARY KEY, rows bigint, at timestamptz NOT NULL DEFAULT now(), result text)";

/// Without the table nothing could be proved, so nothing is changed.
fn no_marker_table(why: PhraseCode) -> PgFailure {
    let table = format!("public.{TABLE}");
    let run = format!("{MAKE}; GRANT SELECT, INSERT ON {table} TO this user");
    PgFailure::Away(NoPreviewReason::new(why, &[&table, &run]))
}

/// Whether a change could leave its mark, and whether the table is there. Looks, and makes nothing.
pub(super) async fn could_be_written(session: &PgSession) -> Result<bool, PgFailure> {
    let row = session
        .client
        .query_one(
            "SELECT pg_catalog.to_regclass('public.holdpoint_marker') IS NOT NULL,
                    pg_catalog.has_schema_privilege('public', 'CREATE'),
                    coalesce(pg_catalog.has_table_privilege(
                        pg_catalog.to_regclass('public.holdpoint_marker'), 'SELECT'), false)
                    AND coalesce(pg_catalog.has_table_privilege(
                        pg_catalog.to_regclass('public.holdpoint_marker'), 'INSERT'), false)",
            &[],
        )
        .await?;
    match (row.get(0), row.get(1), row.get(2)) {
        (true, _, true) => Ok(true),
        (false, true, _) => Ok(false),
        (true, _, false) => Err(no_marker_table(PhraseCode::MarkerNotWritable)),
        (false, false, _) => Err(no_marker_table(PhraseCode::MarkerNotMade)),
    }
}

/// Makes the table, outside of any change: two who make it at once would wait for each other's
/// statements.
pub(super) async fn make_table(session: &PgSession) -> Result<(), PgFailure> {
    // Who may write to a table need not be allowed to make one, not even one that is there.
    if could_be_written(session).await? {
        return Ok(());
    }
    match session.client.batch_execute(MAKE).await {
        Ok(()) => Ok(()),
        // Another session created it in the same moment.
        Err(error)
            if [Some(&SqlState::UNIQUE_VIOLATION), Some(&SqlState::DUPLICATE_TABLE)]
                .contains(&error.code()) =>
        {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn find_result(
    session: &PgSession,
    key: &str,
) -> Result<Option<String>, PgFailure> {
    let sql = "SELECT result FROM public.holdpoint_marker WHERE key = $1";
    let found = session.client.query_opt(sql, &[&key]).await?;
    Ok(found.map(|row| row.get::<_, Option<String>>(0).unwrap_or_default()))
}

/// Takes the attempt's own row, so that no other session can until this transaction has ended. `false` if
/// it is taken; if another transaction is just taking it, this waits for how that ends.
pub(super) async fn lock_attempt_row(
    session: &PgSession,
    key: &str,
    attempt: u32,
    word: &str,
) -> Result<bool, PgFailure> {
    let sql =
        "INSERT INTO public.holdpoint_marker (key, result) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let taken = session.client.execute(sql, &[&fence_key(key, attempt), &word]).await?;
    Ok(taken == 1)
}

/// Says that an attempt has not begun.
pub(super) async fn announce_attempt(
    session: &PgSession,
    key: &str,
    attempt: u32,
) -> Result<(), PgFailure> {
    let sql = "INSERT INTO public.holdpoint_marker (key, result) VALUES ($1, 'announced') ON CONFLICT DO NOTHING";
    session.client.execute(sql, &[&announced_key(key, attempt)]).await?;
    Ok(())
}

/// The call's own row: it was made. A second one is refused by the key.
pub(super) async fn write_result(
    session: &PgSession,
    key: &str,
    rows: u64,
    result: &str,
) -> Result<(), PgFailure> {
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let sql = "INSERT INTO public.holdpoint_marker (key, rows, result) VALUES ($1, $2, $3)";
    session.client.execute(sql, &[&key, &rows, &result]).await?;
    Ok(())
}
