//! A command to a hold finds the stream in which the hold lives: its session, or the hold's own.

use std::sync::Arc;

use domain::external_hold::{ExternalHold, ExternalHoldCommand};
use domain::hold::{Hold, HoldCommand};
use domain::id::HoldId;
use domain::person::Actor;
use domain::refusal::Refusal;
use domain::session::{Command, Session, SessionReply};

use crate::lane::submit::{Keep, Submitted};
use crate::{Engine, Error};

impl Engine {
    /// Does it, and gives the hold as it is after everything that followed from it.
    pub(crate) async fn submit_to_hold(
        &self,
        actor: &Actor,
        hold: &Hold,
        command: HoldCommand,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let id = hold.id;
        let Some(session) = hold.session() else {
            return self
                .change_external(actor, id, &ExternalHoldCommand::Hold(command), keep)
                .await;
        };
        let hold_of = |submitted: &Submitted<Session>| match &submitted.reply {
            SessionReply::Hold(hold) => Some(hold.clone()),
            _ => submitted.state.holds.get(&id).cloned(),
        };
        let render = |submitted: &Submitted<Session>| match (hold_of(submitted), &keep) {
            (Some(hold), Some(keep)) => (keep.render)(&hold),
            _ => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let command = Command::Hold { id, command };
        let submitted = self.submit(session, actor, &command, keep.as_ref()).await?;
        hold_of(&submitted).ok_or_else(|| Refusal::NotFound { what: "hold" }.into())
    }

    pub(crate) async fn change_external(
        &self,
        actor: &Actor,
        id: HoldId,
        command: &ExternalHoldCommand,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let render = |submitted: &Submitted<ExternalHold>| match &keep {
            Some(keep) => (keep.render)(&submitted.state.hold),
            None => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let submitted = self.submit_external(id, actor, command, keep.as_ref()).await?;
        Ok(submitted.state.hold.clone())
    }
}
