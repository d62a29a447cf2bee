//! What happens to a hold.

use std::sync::Arc;

use crate::hold::{Hold, HoldChange, HoldState};
use crate::id::HoldId;

/// An event of a hold: of one in a session, or all that the stream of an external hold can say.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldEvent {
    /// People are asked from here on.
    Opened {
        /// The whole hold, as it is when it is opened.
        hold: Arc<Hold>,
    },
    /// Something changed, and the hold is as decided as before.
    Updated {
        /// Which hold of the stream it is.
        hold: HoldId,
        /// What changed.
        change: HoldChange,
    },
    /// The hold came to its end. It does so once.
    Decided {
        /// Which hold of the stream it is.
        hold: HoldId,
        /// The state that it stays in; never `pending`.
        state: HoldState,
    },
}

impl HoldEvent {
    /// The name that followers see.
    pub fn name(&self) -> &'static str {
        match self {
            HoldEvent::Opened { .. } => "hold.opened",
            HoldEvent::Updated { .. } => "hold.updated",
            HoldEvent::Decided { .. } => "hold.decided",
        }
    }

    /// The hold that the event is about.
    pub fn hold_id(&self) -> HoldId {
        match self {
            HoldEvent::Opened { hold } => hold.id,
            HoldEvent::Updated { hold, .. } | HoldEvent::Decided { hold, .. } => *hold,
        }
    }
}
