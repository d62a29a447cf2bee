//! What people and programs do to a hold, wherever it lives: in a session, or as a stream of its own.

use super::{CancelReason, Edited};
use crate::answer::Answer;
use crate::digest::Digest;
use crate::person::{Actor, AuthenticatedPerson};

/// What people and programs do to a hold, whichever stream it lives in.
#[expect(clippy::large_enum_variant, reason = "made, looked at once and dropped")]
#[derive(Clone, Debug)]
pub enum HoldCommand {
    /// A person answers. Whether it counts is for [`Hold::judge`](super::Hold::judge) to say.
    Answer {
        /// Of what the person was shown.
        digest: Option<Digest>,
        /// The answer itself.
        answer: Answer,
        /// Who answers. There is no other way to a vote.
        by: AuthenticatedPerson,
        /// What came of ruling on the call anew, for an answer that edits it.
        edited: Option<Edited>,
    },
    /// The hold is taken back without an answer.
    Cancel {
        /// Who takes it back.
        by: Actor,
        /// What the model and other people are told.
        reason: CancelReason,
    },
    /// "I look after this hold". It gives no authority, and keeps nobody from answering.
    Claim {
        /// Who looks after it.
        by: AuthenticatedPerson,
    },
    /// The claim ends.
    Unclaim {
        /// Whose claim it was. Another person's claim stays.
        by: AuthenticatedPerson,
    },
    /// To say something to others about it.
    Comment {
        /// Who writes.
        by: AuthenticatedPerson,
        /// The whole text, with addresses as `@id`.
        text: String,
    },
    /// To see the secrets of the hold.
    Reveal {
        /// Who looks. It is recorded before they see anything.
        by: AuthenticatedPerson,
    },
}
