//! What callers do to a hold, wherever it lives: in a session, or as a stream of its own.

use std::sync::Arc;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::hold::{CancelReason, Edited, Hold};
use domain::id::HoldId;
use domain::outside::{Outside, OutsideCommand};
use domain::person::{Actor, AuthenticatedPerson};
use domain::refusal::Refusal;
use domain::session::{Command, Reply, Session};

use crate::submit::{Keep, Submitted};
use crate::{Engine, Error};

#[expect(clippy::large_enum_variant, reason = "made, looked at once and dropped")]
pub(crate) enum HoldVerb {
    Answer {
        digest: Option<Digest>,
        answer: Answer,
        by: AuthenticatedPerson,
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
    Reveal {
        by: AuthenticatedPerson,
    },
}

impl HoldVerb {
    fn in_session(self, hold: HoldId) -> Command {
        match self {
            HoldVerb::Answer { digest, answer, by, edited } => {
                Command::Answer { hold, digest, answer, by, edited }
            }
            HoldVerb::Cancel { by, reason } => Command::CancelHold { hold, by, reason },
            HoldVerb::Claim { by } => Command::Claim { hold, by },
            HoldVerb::Unclaim { by } => Command::Unclaim { hold, by },
            HoldVerb::Reveal { by } => Command::Reveal { hold, by },
        }
    }

    fn of_stream(self) -> OutsideCommand {
        match self {
            HoldVerb::Answer { digest, answer, by, edited } => {
                OutsideCommand::Answer { digest, answer, by, edited }
            }
            HoldVerb::Cancel { by, reason } => OutsideCommand::Cancel { by, reason },
            HoldVerb::Claim { by } => OutsideCommand::Claim { by },
            HoldVerb::Unclaim { by } => OutsideCommand::Unclaim { by },
            HoldVerb::Reveal { by } => OutsideCommand::Reveal { by },
        }
    }
}

impl Engine {
    /// Does it, and gives the hold as it is after everything that followed from it.
    pub(crate) async fn change_hold(
        &self,
        actor: &Actor,
        hold: &Hold,
        verb: HoldVerb,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let id = hold.id;
        let Some(session) = hold.session else {
            return self.change_external(actor, id, &verb.of_stream(), keep).await;
        };
        let hold_of = |submitted: &Submitted<Session>| match &submitted.reply {
            Reply::Hold(hold) => Some(hold.clone()),
            _ => submitted.state.holds.get(&id).cloned(),
        };
        let render = |submitted: &Submitted<Session>| match (hold_of(submitted), &keep) {
            (Some(hold), Some(keep)) => (keep.render)(&hold),
            _ => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let submitted = self.submit(session, actor, &verb.in_session(id), keep.as_ref()).await?;
        hold_of(&submitted).ok_or_else(|| Refusal::NotFound { what: "hold" }.into())
    }

    pub(crate) async fn change_external(
        &self,
        actor: &Actor,
        id: HoldId,
        command: &OutsideCommand,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let render = |submitted: &Submitted<Outside>| match &keep {
            Some(keep) => (keep.render)(&submitted.state.hold),
            None => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let submitted = self.submit_external(id, actor, command, keep.as_ref()).await?;
        Ok(submitted.state.hold.clone())
    }
}
