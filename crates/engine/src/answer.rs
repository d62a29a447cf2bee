//! Answers: the one place where a person's word meets a hold.

use std::sync::Arc;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::Scope;
use domain::hold::{CancelReason, Hold};
use domain::id::HoldId;
use domain::person::AuthenticatedPerson;
use domain::refusal::Refusal;

use crate::accounts::Caller;
use crate::hold_verb::HoldVerb;
use crate::submit::Keep;
use crate::{Engine, Error};

/// An answer as a door parsed it.
#[derive(Clone, Debug)]
pub struct Answering {
    /// Of what the person was shown.
    pub digest: Option<Digest>,
    pub answer: Answer,
}

impl Engine {
    /// A hold that the caller may see.
    pub async fn hold(&self, caller: &Caller, id: HoldId) -> Result<Arc<Hold>, Error> {
        // Where nobody else writes, what was seen last is what there is.
        let known = if self.0.store.is_shared() { None } else { self.0.sessions.hold(id) };
        let found = match known {
            Some(hold) => Some(hold),
            None => self.0.store.hold(id).await?,
        };
        match found {
            Some(hold) if self.sees_hold(caller, &hold) => {
                self.must_be_within(caller, &hold).await?;
                Ok(hold)
            }
            _ => Err(Refusal::NotFound { what: "hold" }.into()),
        }
    }

    pub async fn answer(
        &self,
        caller: &Caller,
        id: HoldId,
        answering: Answering,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        // Only to find it: whether it is still open is judged on the newest state.
        let hold = match self.0.sessions.hold(id) {
            Some(hold) if self.sees_hold(caller, &hold) => hold,
            _ => self.hold(caller, id).await?,
        };
        self.must_be_within(caller, &hold).await?;
        let by = caller.must_be_person()?.clone();
        caller.must_have(Scope::Answer)?;
        let (seen, gives) = (hold.version, hold.is_pending());
        let first = self.answer_once(caller, &by, hold, answering.clone(), keep.clone()).await;
        // Somebody was faster. If it was the same answer with the same secret, it is one answer, which
        // shows only when both refer to one place: so once more, on what is on disk now.
        if let (Err(Error::Refused(_)), true, true) =
            (&first, gives, has_secrets(&answering.answer))
        {
            let newer = self.hold(caller, id).await?;
            if newer.version != seen {
                return self.answer_once(caller, &by, newer, answering, keep).await;
            }
        }
        first
    }

    async fn answer_once(
        &self,
        caller: &Caller,
        by: &AuthenticatedPerson,
        hold: Arc<Hold>,
        answering: Answering,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let by = by.clone();
        let Answering { digest, answer } = answering;
        let taken = self.take_secrets(&hold, by.id(), answer).await?;
        let (new, answer) = (taken.ids(), taken.answer.clone());
        let edited = match &answer {
            // Only worth the tool's time if it could count at all.
            Answer::Approve { arguments: Some(arguments), .. } if hold.is_pending() => {
                Some(self.rule_edit(&hold, arguments.clone(), &taken.new).await?)
            }
            _ => None,
        };
        // Kept before the answer that refers to them: a reference never leads nowhere.
        if !taken.new.is_empty() {
            self.0.store.seal(taken.new).await?;
        }
        let verb = HoldVerb::Answer { digest, answer, by, edited };
        let answered = self.change_hold(&caller.actor, &hold, verb, keep).await;
        // Only what is certainly not on disk is forgotten.
        if let (Err(Error::Refused(_)), false) = (&answered, new.is_empty()) {
            let _ = self.0.store.forget_sealed(&new).await;
        }
        answered
    }

    pub async fn cancel_hold(
        &self,
        caller: &Caller,
        id: HoldId,
        reason: Option<String>,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let hold = self.may_cancel(caller, id).await?;
        crate::session::at_most(
            "reason",
            reason.as_deref().unwrap_or_default(),
            domain::limits::REASON_BYTES_MAX,
        )?;
        let reason = CancelReason::stated(reason);
        let verb = HoldVerb::Cancel { by: caller.actor.clone(), reason };
        self.change_hold(&caller.actor, &hold, verb, keep).await
    }

    /// Cancels a hold because the caller's new message took the place of what led to it. A door says so
    /// when it has seen that; no caller can.
    pub async fn supersede_hold(&self, caller: &Caller, id: HoldId) -> Result<Arc<Hold>, Error> {
        let hold = self.may_cancel(caller, id).await?;
        let by = caller.actor.clone();
        let verb = HoldVerb::Cancel { by, reason: CancelReason::Superseded };
        self.change_hold(&caller.actor, &hold, verb, None).await
    }

    /// The hold, if the caller may withdraw it.
    async fn may_cancel(&self, caller: &Caller, id: HoldId) -> Result<Arc<Hold>, Error> {
        let hold = self.hold(caller, id).await?;
        if !hold.opener.is_same(&caller.actor) && !caller.is_admin() {
            return Err(Refusal::NotEntitled {
                why: "only its opener or an admin withdraws a hold".into(),
            }
            .into());
        }
        Ok(hold)
    }

    /// `on` claims, otherwise lets go. No authority comes with it.
    pub async fn claim(&self, caller: &Caller, id: HoldId, on: bool) -> Result<Arc<Hold>, Error> {
        let hold = self.hold(caller, id).await?;
        let by = caller.must_be_person()?.clone();
        let verb = if on { HoldVerb::Claim { by } } else { HoldVerb::Unclaim { by } };
        self.change_hold(&caller.actor, &hold, verb, None).await
    }
}

/// Whether an answer is of a kind that can have secrets in it.
fn has_secrets(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Fill(_) | Answer::Approve { arguments: Some(_), .. } | Answer::Perform { .. }
    )
}
