//! What keeps a set-up from starting.

use anyhow::Result;

/// Everything that keeps a set-up from starting, and not only the first of it.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    pub(crate) fn note<T>(&mut self, opened: Result<T>) -> Option<T> {
        opened.map_err(|why| self.0.push(format!("{why:#}"))).ok()
    }

    pub(crate) fn none(mut self) -> Result<()> {
        // Two agents may share a model.
        self.0.dedup();
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(anyhow::anyhow!(self.0.join("\n"))),
        }
    }
}
