//! What happens to a hold.

use std::sync::Arc;

use crate::hold::{Hold, HoldChange, HoldState};
use crate::id::HoldId;

/// An event of a hold: of one in a session, or all that the stream of an external hold can say.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldEvent {
    Opened { hold: Arc<Hold> },
    Updated { hold: HoldId, change: HoldChange },
    Decided { hold: HoldId, state: HoldState },
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

    pub fn hold_id(&self) -> HoldId {
        match self {
            HoldEvent::Opened { hold } => hold.id,
            HoldEvent::Updated { hold, .. } | HoldEvent::Decided { hold, .. } => *hold,
        }
    }
}
