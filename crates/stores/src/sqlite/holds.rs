//! Holds, as their rows have them or as the journal does.

use std::sync::Arc;

use domain::event::Event;
use domain::hold::Hold;
use domain::id::HoldId;
use rusqlite::Row;

use super::cells;
use super::error::Failure;
use crate::record::{Broken, read_hold, read_row};

/// To be selected from [`HOLDS`].
pub(super) const HOLD_COLUMNS: &str = "h.id, h.record, h.opened_in, j.bytes";

/// `INDEXED BY` goes between the two.
pub(super) const HOLDS: (&str, &str) =
    ("holds h", "LEFT JOIN journal j ON h.record IS NULL AND j.global = h.opened_in");

/// Reads holds one after the other, and a commit that opened many of them only once.
#[derive(Default)]
pub(super) struct Holds {
    opened_in: i64,
    opened: Vec<Arc<Hold>>,
}

impl Holds {
    pub(super) fn read(&mut self, row: &Row<'_>) -> Result<Arc<Hold>, Failure> {
        if let Some(record) = row.get_ref(1)?.as_blob_or_null()? {
            return Ok(read_hold(record)?);
        }
        let id = HoldId(cells::bits(row.get_ref(0)?.as_blob()?)?);
        let missing = || Broken::Damaged(format!("{id} is not in the commit that opened it"));
        let opened_in = row.get(2)?;
        if self.opened_in != opened_in {
            let bytes = row.get_ref(3)?.as_blob_or_null()?.ok_or_else(missing)?;
            self.opened = read_row(bytes, opened_in as u64)?
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::HoldOpened { hold } => Some(hold.clone()),
                    _ => None,
                })
                .collect();
            self.opened_in = opened_in;
        }
        let found = self.opened.iter().find(|hold| hold.id == id);
        Ok(found.ok_or_else(missing)?.clone())
    }
}
