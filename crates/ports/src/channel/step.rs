//! What becomes of a hold, step by step, for channels that are told of each.

use domain::time::Timestamp;

/// One thing that happened to a hold, for a channel that asked for every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happened.
    pub kind: StepKind,
    /// Where it stands in the log: it rises from step to step, and is the same over retries and restarts.
    pub position: u64,
    /// When it was committed, by our clock.
    pub at: Timestamp,
}

/// The kinds of steps, in the order in which a hold goes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// It still waits, and something about it is another.
    Updated,
    /// Answered, expired or cancelled.
    Decided,
    /// The program says that it makes the approved call. Told of external holds only.
    Started,
    /// Its outcome is unknown.
    InDoubt,
    /// What was approved came to its end.
    Settled,
}
