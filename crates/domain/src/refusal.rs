//! What a person or a retry can run into on an ordinary day. Not errors: the store is sound, the
//! program is right, and the answer is no.

use crate::hold::Hold;
use crate::id::HoldId;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Also for things that exist but that the caller may not see.
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    #[error("you may see this, but not do it: {why}")]
    NotEntitled { why: String },
    #[error("the hold is already {}", .hold.state.name())]
    AlreadyDecided { hold: Box<Hold> },
    #[error("you have already voted otherwise on this hold")]
    AlreadyVoted { hold: Box<Hold> },
    #[error("the call has changed since it was shown to you: read it again")]
    VersionConflict { hold: Box<Hold> },
    #[error("the hold expired before this answer arrived; nothing was done")]
    Expired { hold: Box<Hold> },
    #[error("{why}")]
    AnswerInvalid { field: String, why: String },
    #[error("{} of this session wait for an answer: answer or cancel them, or send while_pending", plural(.holds.len()))]
    HoldsOpen { holds: Vec<HoldId> },
    #[error("the run is {is}, so it cannot {wanted}")]
    OutOfTurn { is: &'static str, wanted: &'static str },
    #[error("everything is frozen: {reason}")]
    Frozen { reason: String },
    #[error("{what}: the limit is {limit}")]
    TooMany { what: &'static str, limit: usize },
    /// Somebody else's work made this command moot; nothing is to be done.
    #[error("this was overtaken by something else")]
    Overtaken,
}

fn plural(count: usize) -> String {
    if count == 1 { "1 hold".into() } else { format!("{count} holds") }
}
