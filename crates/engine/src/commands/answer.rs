//! Answers: the one place where a person's word meets a hold.

use std::sync::Arc;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::TokenScope;
use domain::hold::{CancelReason, Edited, Hold, HoldCommand};
use domain::id::{HoldId, SecretId};
use domain::person::AuthenticatedPerson;
use domain::refusal::Refusal;
use domain::secret::Sealed;
use domain::session::{Command, GivenAnswer, Session, SessionReply};

use crate::accounts::Caller;
use crate::lane::submit::{Keep, Submitted};
use crate::secrets::references::SealedAnswer;
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
        let (by, hold) = self.find_to_answer(caller, id).await?;
        self.note_files_of_answer(caller, &hold, &answering.answer).await?;
        let (seen_version, was_pending) = (hold.version, hold.is_pending());
        let first = self.answer_once(caller, &by, hold, answering.clone(), keep.clone()).await;
        // Somebody was faster. If it was the same answer with the same secret, it is one answer, which
        // shows only when both refer to one place: so once more, on what is on disk now.
        if let (Err(Error::Refused(_)), true, true) =
            (&first, was_pending, may_hold_secrets(&answering.answer))
        {
            let newer = self.hold(caller, id).await?;
            if newer.version != seen_version {
                return self.answer_once(caller, &by, newer, answering, keep).await;
            }
        }
        first
    }

    /// Several answers to holds of one session in one commit: all of them are stored, or none is. A
    /// refusal says which of them does not count ([`Refusal::OneOfSeveral`]).
    pub async fn answer_all(
        &self,
        caller: &Caller,
        answers: Vec<(HoldId, Answering)>,
        keep: Option<Keep<'_, [Arc<Hold>]>>,
    ) -> Result<Vec<Arc<Hold>>, Error> {
        let count = answers.len();
        let mut found = Vec::with_capacity(count);
        for (id, answering) in answers {
            let (_, hold) = self.find_to_answer(caller, id).await.map_err(of_answer(id, count))?;
            let noted = self.note_files_of_answer(caller, &hold, &answering.answer).await;
            noted.map_err(of_answer(id, count))?;
            found.push((hold, answering));
        }
        let first = self.answer_all_once(caller, found.clone(), keep.clone()).await;
        // As with a single answer: the same secret may have come twice at once.
        let secret = found.iter().any(|(_, answering)| may_hold_secrets(&answering.answer));
        if let (Err(Error::Refused(_)), true) = (&first, secret) {
            let mut is_newer = false;
            for (hold, _) in &mut found {
                let newer = self.hold(caller, hold.id).await?;
                is_newer |= newer.version != hold.version;
                *hold = newer;
            }
            if is_newer {
                return self.answer_all_once(caller, found, keep).await;
            }
        }
        first
    }

    async fn answer_all_once(
        &self,
        caller: &Caller,
        answers: Vec<(Arc<Hold>, Answering)>,
        keep: Option<Keep<'_, [Arc<Hold>]>>,
    ) -> Result<Vec<Arc<Hold>>, Error> {
        let count = answers.len();
        let Some(place) = answers.first().map(|(hold, _)| hold.session()) else {
            return Ok(Vec::new());
        };
        let session = place.filter(|_| answers.iter().all(|(hold, _)| hold.session() == place));
        let session = session.ok_or_else(|| Refusal::AnswerInvalid {
            field: "answers".into(),
            why: "only answers to holds of one session can be given together".into(),
        })?;
        let by = caller.must_be_person()?.clone();
        let (mut given, mut new) = (Vec::with_capacity(count), Vec::new());
        for (hold, answering) in answers {
            let hold_id = hold.id;
            let prepared = self.prepare_answer(&by, hold, answering).await;
            let PreparedAnswer { hold, digest, answer, edited, new: mine } =
                prepared.map_err(of_answer(hold_id, count))?;
            new.extend(mine);
            given.push(GivenAnswer { hold: hold.id, digest, answer, edited });
        }
        let command = Command::AnswerAll { answers: given, by };
        let render = |submitted: &Submitted<Session>| match (&submitted.reply, &keep) {
            (SessionReply::Holds(holds), Some(keep)) => (keep.render)(holds),
            _ => (500, Vec::new()),
        };
        let keep = keep.as_ref().map(|keep| keep.rendered_by(&render));
        let submitting = self.submit(session, &caller.actor, &command, keep.as_ref());
        match self.with_sealed(new, submitting).await?.reply {
            SessionReply::Holds(holds) => Ok(holds),
            _ => Err(Error::Unavailable("several answers came to something else".into())),
        }
    }

    /// The hold as it was seen last, and the person who is to answer it. Only to find it: whether it is
    /// still open, and whether this person may answer, is judged on the newest state.
    pub(crate) async fn find_to_answer(
        &self,
        caller: &Caller,
        id: HoldId,
    ) -> Result<(AuthenticatedPerson, Arc<Hold>), Error> {
        let hold = match self.0.sessions.hold(id) {
            Some(hold) if self.sees_hold(caller, &hold) => hold,
            _ => self.hold(caller, id).await?,
        };
        self.must_be_within(caller, &hold).await?;
        let by = caller.must_be_person()?.clone();
        caller.must_have(TokenScope::Answer)?;
        Ok((by, hold))
    }

    async fn answer_once(
        &self,
        caller: &Caller,
        by: &AuthenticatedPerson,
        hold: Arc<Hold>,
        answering: Answering,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let prepared = self.prepare_answer(by, hold, answering).await?;
        let PreparedAnswer { hold, digest, answer, edited, new } = prepared;
        let command = HoldCommand::Answer { digest, answer, by: by.clone(), edited };
        self.with_sealed(new, self.submit_to_hold(&caller.actor, &hold, command, keep)).await
    }

    /// Takes the secrets out of an answer, and rules on the call if it was edited.
    async fn prepare_answer(
        &self,
        by: &AuthenticatedPerson,
        hold: Arc<Hold>,
        answering: Answering,
    ) -> Result<PreparedAnswer, Error> {
        let Answering { digest, answer } = answering;
        let SealedAnswer { answer, new } = self.take_secrets(&hold, by.id(), answer).await?;
        let edited = match &answer {
            // Only worth the tool's time if it could count at all.
            Answer::Approve { arguments: Some(arguments), .. } if hold.is_pending() => {
                Some(self.rule_edit(&hold, arguments.clone(), &new).await?)
            }
            _ => None,
        };
        Ok(PreparedAnswer { hold, digest, answer, edited, new })
    }

    /// Keeps secrets before the change that refers to them: a reference never leads nowhere.
    async fn with_sealed<T>(
        &self,
        new: Vec<Sealed>,
        change: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let ids: Vec<SecretId> = new.iter().map(|one| one.id).collect();
        if !new.is_empty() {
            self.0.store.seal(new).await?;
        }
        let changed = change.await;
        // Only what is certainly not on disk is forgotten.
        if let (Err(Error::Refused(_)), false) = (&changed, ids.is_empty()) {
            let _ = self.0.store.forget_sealed(&ids).await;
        }
        changed
    }

    pub async fn cancel_hold(
        &self,
        caller: &Caller,
        id: HoldId,
        reason: Option<String>,
        keep: Option<Keep<'_, Hold>>,
    ) -> Result<Arc<Hold>, Error> {
        let hold = self.may_cancel(caller, id).await?;
        crate::commands::session::at_most(
            "reason",
            reason.as_deref().unwrap_or_default(),
            domain::limits::REASON_BYTES_MAX,
        )?;
        let reason = CancelReason::stated(reason);
        let command = HoldCommand::Cancel { by: caller.actor.clone(), reason };
        self.submit_to_hold(&caller.actor, &hold, command, keep).await
    }

    /// Cancels a hold because the caller's new message took the place of what led to it. A door says so
    /// when it has seen that; no caller can.
    pub async fn supersede_hold(&self, caller: &Caller, id: HoldId) -> Result<Arc<Hold>, Error> {
        let hold = self.may_cancel(caller, id).await?;
        let by = caller.actor.clone();
        let command = HoldCommand::Cancel { by, reason: CancelReason::Superseded };
        self.submit_to_hold(&caller.actor, &hold, command, None).await
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
        let command = if on { HoldCommand::Claim { by } } else { HoldCommand::Unclaim { by } };
        self.submit_to_hold(&caller.actor, &hold, command, None).await
    }
}

/// An answer without its secrets, and those that have to be kept for it.
struct PreparedAnswer {
    hold: Arc<Hold>,
    digest: Option<Digest>,
    answer: Answer,
    edited: Option<Edited>,
    new: Vec<Sealed>,
}

/// Names the answer that an error is about.
fn of_answer(hold: HoldId, answers: usize) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Refused(refusal) => refusal.of_answer(hold, answers).into(),
        error => error,
    }
}

/// Whether an answer is of a kind that can have secrets in it.
fn may_hold_secrets(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Fill(_) | Answer::Approve { arguments: Some(_), .. } | Answer::Perform { .. }
    )
}
