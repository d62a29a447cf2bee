//! What a fake platform does wrong when it is told to.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One fault, for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Too much at once: come back after so many seconds.
    Wait(u64),
    /// An error of the platform's own; nothing was done.
    Status(u16),
    /// An answer that makes no sense; nothing was done.
    Garbage,
    /// Nothing is done and nothing said, for so long.
    Hang(Duration),
    /// It is done, and the answer is lost.
    Lost,
}

#[derive(Debug, Default)]
pub struct Faults(Mutex<VecDeque<(String, Fault)>>);

impl Faults {
    /// For the next request for this method that has no fault planned yet.
    pub fn plan(&self, method: &str, fault: Fault) {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        planned.push_back((method.to_owned(), fault));
    }

    pub fn take(&self, method: &str) -> Option<Fault> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = planned.iter().position(|(for_method, _)| for_method == method)?;
        planned.remove(at).map(|(_, fault)| fault)
    }
}
