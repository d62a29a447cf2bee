//! What people and programs do to a hold, wherever it lives: in a session, or as a stream of its own.

use super::{CancelReason, Edited};
use crate::answer::Answer;
use crate::digest::Digest;
use crate::person::{Actor, AuthenticatedPerson};

#[expect(clippy::large_enum_variant, reason = "made, looked at once and dropped")]
#[derive(Clone, Debug)]
pub enum HoldCommand {
    Answer {
        /// Of what the person was shown.
        digest: Option<Digest>,
        answer: Answer,
        by: AuthenticatedPerson,
        /// What came of ruling on the call anew, for an answer that edits it.
        edited: Option<Edited>,
    },
    Cancel {
        by: Actor,
        reason: CancelReason,
    },
    Claim {
        by: AuthenticatedPerson,
    },
    Unclaim {
        by: AuthenticatedPerson,
    },
    /// To see the secrets of the hold.
    Reveal {
        by: AuthenticatedPerson,
    },
}
