//! What people answer: one answer to one hold, or several that a client sent together.

use std::sync::Arc;

use super::decide::{Draft, SessionReply};
use crate::answer::{Answer, ApprovalScope};
use crate::call::Call;
use crate::context::Context;
use crate::digest::Digest;
use crate::event::{HoldEvent, SessionEvent};
use crate::grant::{Covers, Grant};
use crate::hold::{Edited, Hold, Judgement};
use crate::id::HoldId;
use crate::limits::{GRANT_MS_MAX, GRANT_USES_DEFAULT, GRANT_USES_MAX};
use crate::person::{Actor, AuthenticatedPerson};
use crate::refusal::Refusal;

/// One of several answers to holds of one session.
#[derive(Clone, Debug)]
pub struct GivenAnswer {
    /// The hold that it answers.
    pub hold: HoldId,
    /// Of what the person was shown.
    pub digest: Option<Digest>,
    /// The answer itself.
    pub answer: Answer,
    /// Set if the answer edits the call: what came of ruling on it anew.
    pub edited: Option<Edited>,
}

impl Draft {
    /// Judges the answers one after another, each on what those before it led to. What follows by itself
    /// follows once, after the last. One refusal undoes them all.
    pub(super) fn answer_all(
        &mut self,
        answers: &[GivenAnswer],
        by: &AuthenticatedPerson,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        let (events, before) = (self.events.len(), self.next.clone());
        let mut holds = Vec::with_capacity(answers.len());
        for GivenAnswer { hold, digest, answer, edited } in answers {
            match self.answer(*hold, *digest, answer, by, edited.as_ref(), context) {
                Ok(hold) => holds.push(hold),
                Err(refusal) => {
                    // mutant: some-of-several-answers begins
                    self.events.truncate(events);
                    self.next = before;
                    // mutant: some-of-several-answers ends
                    return Err(refusal.of_answer(*hold, answers.len()));
                }
            }
        }
        Ok(SessionReply::Holds(holds))
    }

    pub(super) fn answer(
        &mut self,
        id: HoldId,
        digest: Option<Digest>,
        answer: &Answer,
        by: &AuthenticatedPerson,
        edited: Option<&Edited>,
        context: &Context<'_>,
    ) -> Result<Arc<Hold>, Refusal> {
        let hold = self.hold(id)?;
        let judgement = hold.judge(answer, digest, by, edited, context.people, context.now)?;
        // Everything that can be refused is refused before anything is written.
        let call = edited.map(|edited| edited.call.clone()).or_else(|| hold.call().cloned());
        let grant = match &judgement {
            Judgement::Edits { .. } | Judgement::Decides(_) => {
                self.grant(id, call.as_deref(), answer, by, context)?
            }
            _ => None,
        };
        match judgement {
            Judgement::Repeat => {}
            Judgement::Counts(change) => {
                self.push(SessionEvent::Hold(HoldEvent::Updated { hold: id, change }), context);
            }
            Judgement::Disagrees { voted, state } => {
                self.push(
                    SessionEvent::Hold(HoldEvent::Updated { hold: id, change: voted }),
                    context,
                );
                self.decide_hold(id, state, context);
            }
            Judgement::Edits { revised, state } => {
                self.push(
                    SessionEvent::Hold(HoldEvent::Updated { hold: id, change: revised }),
                    context,
                );
                self.push_all(grant, context);
                self.decide_hold(id, state, context);
            }
            Judgement::Decides(state) => {
                self.push_all(grant, context);
                // Applying the event clears an approved call (`apply.rs`, `hold_decided`); it starts in `advance.rs`.
                self.decide_hold(id, state, context);
                if let Answer::Settle { how, content } = answer {
                    self.clear_up_doubt(&hold, *how, content.as_deref(), by, context);
                }
                // An old hold does not stop a run that it is not part of. One that asks whether to go on
                // ends the run in any case, and in its own words.
                let same_run =
                    self.next.run.as_ref().map(|run| run.id) == hold.run() && !hold.asks_to_go_on();
                if let (Answer::Deny { stop: true, reason }, true) = (answer, same_run) {
                    let reason = reason.as_deref().map(str::to_owned);
                    self.stop_run(&Actor::Person(by.id().clone()), reason, context);
                }
            }
        }
        Ok(hold)
    }

    /// A standing grant, if the approval asked for one.
    fn grant(
        &self,
        hold: HoldId,
        call: Option<&Call>,
        answer: &Answer,
        by: &AuthenticatedPerson,
        context: &Context<'_>,
    ) -> Result<Option<SessionEvent>, Refusal> {
        let (Answer::Approve { scope: ApprovalScope::Session(terms), .. }, Some(call)) =
            (answer, call)
        else {
            return Ok(None);
        };
        let covers = match &terms.conditions {
            None => Covers::Same(call.match_key()),
            Some(conditions) if conditions.hold_for(call.arguments.value()) => {
                Covers::Stated(conditions.clone())
            }
            Some(_) => {
                return Err(Refusal::AnswerInvalid {
                    field: "grant".into(),
                    why: "the stated conditions do not even cover the call on the table".into(),
                });
            }
        };
        let grant = Grant {
            id: context.grant_id(),
            session: self.next.id,
            tool: call.tool.clone(),
            definition: call.definition,
            covers,
            by: by.id().clone(),
            hold,
            made_at: context.now,
            expires_at: context
                .now
                .plus_ms(terms.expires_in_ms.unwrap_or(GRANT_MS_MAX).min(GRANT_MS_MAX)),
            uses_left: terms.uses.unwrap_or(GRANT_USES_DEFAULT).clamp(1, GRANT_USES_MAX),
            revoked: false,
        };
        Ok(Some(SessionEvent::GrantMade { grant: Arc::new(grant) }))
    }
}
