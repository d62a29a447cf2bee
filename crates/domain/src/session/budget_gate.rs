//! A run that has used up a budget stops before the next model call and asks a person whether it
//! may go on. Every call of its last turn has its result by then, so nothing is left open if the
//! answer is no.

use serde_json::json;

use super::decide::Draft;
use super::start::default_audience;
use super::{HoldSpec, Session};
use crate::answer::Answer;
use crate::budget::UsedUp;
use crate::caption::CaptionKind;
use crate::context::Context;
use crate::event::SessionEvent;
use crate::hold::{CancelReason, HoldState, Preview, Question, Risk};
use crate::id::HoldId;
use crate::person::Actor;

/// A run that may not go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// Asks whether it may.
    pub hold: HoldId,
    /// Which budget it is.
    pub used_up: UsedUp,
}

impl Draft {
    /// Asks before the next model call, if a budget is used up. `true` if something came of it.
    pub(super) fn ask_to_go_on(&mut self, context: &Context<'_>) -> bool {
        let Some(run) = &self.next.run else { return false };
        if run.over_budget().is_some() || !self.is_about_to_think() {
            return false;
        }
        let Some(used_up) = run.spent.used_up(&context.budgets, context.now) else { return false };
        let run = run.id;
        let requester = self.next.requester();
        let audience = default_audience(self.next.requester_and_login_makers());
        if !audience.is_satisfiable(requester, context.people) {
            let reason = format!(
                "the run used up its {}, and nobody is configured who could let it go on",
                used_up.limit()
            );
            self.stop_run(&Actor::Runtime, Some(reason), context);
            return true;
        }
        let spec = HoldSpec {
            question: Question::Approve,
            risk: Risk::Medium,
            title: CaptionKind::GoOn(used_up).into(),
            preview: Preview {
                summary: Some(CaptionKind::Used(used_up).into()),
                ..Preview::default()
            },
            shown: json!({
                "budget": used_up.of.name(), "used": used_up.used, "limit": used_up.limit,
            }),
            rationale: None,
            audience: audience.into(),
            rule: None,
            expires_in_ms: Some(context.expires_ms),
        };
        let hold = context.hold_id_after(self.next.last_hold());
        // The run stops in the same moment in which it is asked about.
        self.push(SessionEvent::BudgetUsedUp { run, hold, used_up }, context);
        self.open_as(hold, spec, None, None, false, context);
        true
    }

    /// A thought that somebody is having already is not taken away from them.
    fn is_about_to_think(&self) -> bool {
        let Some(run) = &self.next.run else { return false };
        !run.is_over()
            && !run.is_stopping()
            && run.turn.is_empty()
            && self.thinking_at != Some(self.next.transcript.len())
            && (!self.next.waits_for_confirmation() || self.next.has_something_new())
    }

    /// Nobody let it go on: the run ends, and says why.
    pub(super) fn end_over_budget(&mut self, context: &Context<'_>) -> bool {
        let Some(run) = &self.next.run else { return false };
        let Some(over) = run.over_budget() else { return false };
        let Some(hold) = self.next.holds.get(&over.hold) else { return false };
        let because =
            |reason: Option<&str>| reason.map(|why| format!(": {why}")).unwrap_or_default();
        let (by, what) = match &hold.state {
            HoldState::Pending | HoldState::Approved(_) => return false,
            HoldState::Denied(decision) | HoldState::Answered(decision) => {
                let Some(vote) = decision.vote() else { return false };
                let reason = match &vote.answer {
                    Answer::Deny { reason, .. } => reason.as_deref(),
                    _ => None,
                };
                let name = context.people.name_of(&vote.by);
                let what = format!("{name} did not let it go on{}", because(reason));
                (Actor::Person(vote.by.clone()), what)
            }
            HoldState::Expired { .. } => {
                (Actor::Runtime, "nobody said in time that it may go on".to_owned())
            }
            HoldState::Cancelled { reason: CancelReason::Superseded, .. } => {
                let what = "a new message came before anybody let it go on";
                (Actor::Runtime, what.to_owned())
            }
            HoldState::Cancelled { by, reason, .. } => {
                let what = "the question whether it may go on was withdrawn";
                (by.clone(), format!("{what}{}", because(reason.text())))
            }
        };
        let reason = format!("the run used up its {}, and {what}", over.used_up.limit());
        self.stop_run(&by, Some(reason), context);
        true
    }
}

impl Session {
    /// The run waits for leave to go on: no model is called, and no call of it is left.
    pub(super) fn waits_for_leave(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.over_budget().is_some())
    }
}
