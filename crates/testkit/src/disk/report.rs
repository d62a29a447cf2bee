//! What power cuts came to, in words.

use std::fmt;

use super::undo::{Loss, Lost};
use crate::crash;

#[derive(Debug, Default)]
pub struct Report {
    /// What the clients saw and the checks found.
    pub crash: crash::Report,
    /// Cuts after which nothing was left that was not synced, and cuts that left a part of it.
    pub everything: u64,
    pub some: u64,
    pub lost: Lost,
    /// Cuts that took nothing, because everything was safe.
    pub idle: u64,
    /// Cuts before which syncs failed.
    pub failing: u64,
}

impl Report {
    pub(super) fn took(&mut self, loss: Loss, lost: Lost) {
        match loss {
            Loss::Everything => self.everything += 1,
            Loss::Some => self.some += 1,
        }
        self.idle += u64::from(lost == Lost::default());
        self.lost.add(lost);
    }

    pub fn cuts(&self) -> u64 {
        self.everything + self.some
    }

    /// Everything that should not have happened.
    pub fn wrong(&self) -> &[String] {
        &self.crash.wrong
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "power cuts: {}; {} took all that was not synced, {} a part of it; {} found all safe; {} came after syncs that failed",
            self.cuts(),
            self.everything,
            self.some,
            self.idle,
            self.failing
        )?;
        writeln!(f, "not safe, and lost in whole or in part: {}", self.lost)?;
        write!(f, "{}", self.crash)
    }
}
