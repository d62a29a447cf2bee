//! The columns of a hold that lists are filtered, searched and counted by.

use domain::hold::{Hold, HoldStateName, Risk};
use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::HoldFacts;
use rusqlite::{Connection, Row, params};

use super::error::Failure;
use super::holds::{HOLD_COLUMNS, HOLDS, Holds};
use super::{audience, columns};
use crate::record::Broken;

/// To be selected from `holds h`.
pub(super) const FACT_COLUMNS: &str = "h.id, h.state, h.risk, h.tool, h.source, h.likeness, \
     h.opened_at, h.answered_at, h.decided_at, h.decided_by";

pub(super) struct Listed {
    pub(super) facts: HoldFacts,
    pub(super) requester: Option<String>,
    pub(super) decided_by: Option<String>,
    pub(super) search: String,
}

impl Listed {
    pub(super) fn of(hold: &Hold) -> Listed {
        let facts = HoldFacts::of(hold);
        let decided_by =
            (!facts.decided_by.is_empty()).then(|| audience::people_text(&facts.decided_by));
        Listed {
            requester: hold.requester.as_ref().map(PersonId::to_string),
            decided_by,
            search: crate::search_text(hold),
            facts,
        }
    }
}

pub(super) fn facts(row: &Row<'_>) -> Result<HoldFacts, Failure> {
    let damaged =
        |what: &str| Failure::from(Broken::Damaged(format!("a hold's row has no {what}")));
    let at = |column| -> Result<Option<Timestamp>, Failure> {
        Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_ms))
    };
    let (state, risk): (i64, i64) = (row.get(1)?, row.get(2)?);
    let state = HoldStateName::ALL.into_iter().find(|known| columns::state_code(*known) == state);
    let risk = Risk::ALL.into_iter().find(|known| columns::risk_code(*known) == risk);
    let text = |column| -> Result<_, Failure> { Ok(row.get_ref(column)?.as_str_or_null()?) };
    Ok(HoldFacts {
        id: HoldId(columns::bits(row.get_ref(0)?.as_blob()?)?),
        state: state.ok_or_else(|| damaged("known state"))?,
        risk: risk.ok_or_else(|| damaged("known risk"))?,
        tool: text(3)?.map(Into::into),
        source: text(4)?.map(Into::into),
        likeness: row.get(5)?,
        opened_at: at(6)?.ok_or_else(|| damaged("time"))?,
        answered_at: at(7)?,
        decided_at: at(8)?,
        decided_by: text(9)?.map(audience::people_of).unwrap_or_default(),
    })
}

/// Fills these columns where a migration has only made them. All of them, or none.
pub(super) fn fill_holds(connection: &Connection) -> Result<(), Failure> {
    let wanted = "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'holds_to_fill')";
    if !connection.query_row(wanted, [], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    tracing::info!("filling the lists of holds, once after an update");
    connection.execute_batch("BEGIN IMMEDIATE")?;
    match fill(connection) {
        Ok(()) => Ok(connection.execute_batch("COMMIT")?),
        Err(failure) => {
            // The first error is the one to tell; a failed rollback ends with the connection.
            let _ = connection.execute_batch("ROLLBACK");
            Err(failure)
        }
    }
}

fn fill(connection: &Connection) -> Result<(), Failure> {
    let (holds, journal) = HOLDS;
    let mut read =
        connection.prepare(&format!("SELECT {HOLD_COLUMNS}, h.rowid FROM {holds} {journal}"))?;
    let mut write = connection.prepare(
        "UPDATE holds SET opened_at = ?2, tool = ?3, source = ?4, likeness = ?5, requester = ?6, \
             answered_at = ?7, decided_at = ?8, decided_by = ?9, search = ?10, audience = ?11 \
         WHERE rowid = ?1",
    )?;
    let mut reader = Holds::default();
    let mut rows = read.query([])?;
    // Changing a row that was read leaves the order of rows, by which these are read, as it is.
    while let Some(row) = rows.next()? {
        let hold = match reader.read(row) {
            Ok(hold) => hold,
            // Whoever asks for it is told; the others are listed.
            Err(Failure::Broken(why)) => {
                tracing::error!(%why, "a hold cannot be read, and is not listed");
                continue;
            }
            Err(failure) => return Err(failure),
        };
        let Listed { facts, requester, decided_by, search } = Listed::of(&hold);
        write.execute(params![
            row.get::<_, i64>(5)?,
            facts.opened_at.as_ms(),
            facts.tool.as_deref(),
            facts.source.as_deref(),
            facts.likeness,
            requester,
            facts.answered_at.map(Timestamp::as_ms),
            facts.decided_at.map(Timestamp::as_ms),
            decided_by,
            search,
            audience::audience_text(&hold),
        ])?;
    }
    connection.execute("DELETE FROM meta WHERE key = 'holds_to_fill'", [])?;
    Ok(())
}
