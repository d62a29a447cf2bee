//! Why a hold was cancelled. That it was superseded is a fact which only the runtime states; the same
//! word in a caller's reason is text like any other.

/// The text by which records and wires tell [`CancelReason::Superseded`].
pub const SUPERSEDED: &str = "superseded";

/// Why a hold was cancelled. Only the runtime states `Superseded`; callers can give no more than words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// A new message took the place of what was asked, or of the message that led to it.
    Superseded,
    /// In words for people and models. They are shown, and nothing follows from them.
    Stated(String),
    /// No reason was given.
    Unstated,
}

impl CancelReason {
    /// What a caller gave as the reason. Whatever it says, it is no more than stated.
    pub fn stated(reason: Option<String>) -> CancelReason {
        reason.map_or(CancelReason::Unstated, CancelReason::Stated)
    }

    /// The reason as people and wires see it.
    pub fn text(&self) -> Option<&str> {
        match self {
            CancelReason::Superseded => Some(SUPERSEDED),
            CancelReason::Stated(text) => Some(text),
            CancelReason::Unstated => None,
        }
    }
}
