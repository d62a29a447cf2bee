//! A hold of no session, and so a stream of its own. A program that opened it runs its call itself, and then reports what
//! came of it; a call that asks while it runs opens one without a call.

use std::sync::Arc;

use crate::call::Call;
use crate::context::Context;
use crate::decided::Decided;
use crate::event::HoldEvent;
use crate::grant::ClearedBy;
use crate::hold::{Decision, Hold, HoldChange, HoldCommand, HoldOutcome, HoldState, Judgement};
use crate::id::HoldId;
use crate::limits::EXECUTE_WITHIN_MS;
use crate::person::{Audience, AuthenticatedPerson, PersonId};
use crate::policy::{self, Facts};
use crate::refusal::Refusal;
use crate::session::audience_for;
use crate::time::Timestamp;

/// A hold that belongs to no session, and is a stream of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalHold {
    /// The hold's id, which names the stream as well.
    pub id: HoldId,
    /// The position of the last event; every commit names the one it builds on.
    pub version: u64,
    /// The hold as it is now.
    pub hold: Arc<Hold>,
}

/// What can be done to a hold that is a stream of its own.
#[expect(clippy::large_enum_variant, reason = "made, looked at once and dropped")]
#[derive(Clone, Debug)]
pub enum ExternalHoldCommand {
    /// What people and programs do to any hold.
    Hold(HoldCommand),
    /// Time has passed: an overdue hold expires.
    Expire,
    /// All has thawed: what was answered meanwhile takes effect.
    Wake,
    /// The program tells what became of the call that it ran.
    Report {
        /// In the program's words. Nothing here can check them.
        outcome: HoldOutcome,
    },
}

impl ExternalHold {
    /// The state after the first event, which opens the hold.
    pub fn begin(hold: Arc<Hold>) -> ExternalHold {
        ExternalHold { id: hold.id, version: 1, hold }
    }

    /// Events to write, and what to tell the caller. Both may be there: an answer that comes too
    /// late makes the expiry happen, and is refused.
    pub fn decide(
        &self,
        command: &ExternalHoldCommand,
        context: &Context<'_>,
    ) -> (Vec<HoldEvent>, Result<(), Refusal>) {
        let expired = self.expiry(context);
        let hold = match &expired {
            None => self.hold.clone(),
            Some(event) => {
                let mut next = self.clone();
                next.apply(event);
                next.hold
            }
        };
        let mut events: Vec<HoldEvent> = expired.into_iter().collect();
        let outcome = match command {
            ExternalHoldCommand::Expire => Ok(Vec::new()),
            ExternalHoldCommand::Wake => Ok(thawed(&hold, context)),
            ExternalHoldCommand::Hold(command) => commanded(&hold, command, context),
            ExternalHoldCommand::Report { outcome: HoldOutcome::Executing } => {
                check_begin(&hold, context)
                    .and_then(|()| self.report(&hold, &HoldOutcome::Executing))
            }
            ExternalHoldCommand::Report { outcome } => self.report(&hold, outcome),
        };
        match outcome {
            Ok(more) => {
                events.extend(more);
                (events, Ok(()))
            }
            Err(refusal) => (events, Err(refusal)),
        }
    }

    /// The state after the event that opens it, for the commit that does.
    pub fn open(hold: &Arc<Hold>, at: Timestamp) -> Decided<ExternalHold, HoldEvent> {
        let opened = HoldEvent::Opened { hold: hold.clone() };
        Decided::new(None, vec![opened], ExternalHold::begin(hold.clone()), at)
    }

    /// As [`ExternalHold::decide`], for a commit.
    pub fn decide_shared(
        self: &Arc<ExternalHold>,
        command: &ExternalHoldCommand,
        context: &Context<'_>,
    ) -> (Decided<ExternalHold, HoldEvent>, Result<(), Refusal>) {
        let (events, reply) = self.decide(command, context);
        let mut next = ExternalHold::clone(self);
        events.iter().for_each(|event| next.apply(event));
        (Decided::new(Some(self.clone()), events, next, context.now), reply)
    }

    fn expiry(&self, context: &Context<'_>) -> Option<HoldEvent> {
        self.hold.is_overdue(context.now).then(|| HoldEvent::Decided {
            hold: self.id,
            // mutant: expiry-allows-outside
            state: HoldState::Expired { at: context.now },
        })
    }

    fn report(&self, hold: &Hold, outcome: &HoldOutcome) -> Result<Vec<HoldEvent>, Refusal> {
        match (&hold.state, hold.outcome()) {
            // An approval is used once: of two that would start the call, the second is refused. The first may
            // repeat its request under its idempotency key.
            (HoldState::Approved(_), Some(HoldOutcome::Executing))
                if *outcome == HoldOutcome::Executing =>
            {
                Err(Refusal::AlreadyDecided { hold: Box::new(hold.clone()) })
            }
            (HoldState::Approved(_), None | Some(HoldOutcome::Executing))
                if hold.call().is_some() =>
            {
                Ok(vec![updated(hold.id, HoldChange::Outcome(outcome.clone()))])
            }
            (HoldState::Approved(_), Some(earlier)) if earlier == outcome => Ok(Vec::new()),
            (HoldState::Approved(_), Some(_)) => {
                Err(Refusal::AlreadyDecided { hold: Box::new(hold.clone()) })
            }
            _ => Err(Refusal::AnswerInvalid {
                field: "state".into(),
                why: format!(
                    "the hold is {}: only an approved call has an outcome",
                    hold.state.name()
                )
                .into(),
            }),
        }
    }

    /// The state after one more event. It is not checked again: an event is a fact.
    pub fn apply(&mut self, event: &HoldEvent) {
        match event {
            HoldEvent::Updated { change, .. } => Arc::make_mut(&mut self.hold).changed(change),
            HoldEvent::Decided { state, .. } => {
                Arc::make_mut(&mut self.hold).decided(state.clone())
            }
            HoldEvent::Opened { hold } => self.hold = hold.clone(),
        }
        self.version += 1;
    }
}

/// The last look before a program makes its approved call, as for calls of our own: the stricter of the rules
/// then and now counts, and those who approved must still be entitled.
fn check_begin(hold: &Hold, context: &Context<'_>) -> Result<(), Refusal> {
    if let Some(reason) = context.frozen {
        return Err(Refusal::Frozen { reason: reason.to_owned() });
    }
    let (HoldState::Approved(decision), Some(call)) = (&hold.state, hold.call()) else {
        // What is not approved, or has no call, is refused by its report.
        return Ok(());
    };
    let refused = |why: String| Err(Refusal::NotEntitled { why });
    if decision.at().plus_ms(EXECUTE_WITHIN_MS) <= context.now {
        return refused("the approval is too old by now; ask again".into());
    }
    let verdict = context.policy.rule(&Facts::of(call));
    let asked_now = match &verdict.decision {
        policy::PolicyDecision::Deny => {
            return refused(format!("it is {} by now", verdict.explain()));
        }
        policy::PolicyDecision::Allow => None,
        policy::PolicyDecision::Ask(ask) => Some(ask),
    };
    let Decision::People { voters, .. } = decision else {
        return match asked_now {
            None => Ok(()),
            Some(_) => refused("no rule allows it by now; ask again".into()),
        };
    };
    let entitled = |audience: &Audience| {
        let counts = |who: &&PersonId| {
            audience.admits(who, hold.requester.as_ref(), context.people)
                && hold.login_counts(who, audience)
        };
        voters.iter().filter(counts).count() >= audience.quorum as usize
    };
    if !entitled(&hold.audience) {
        return refused("those who approved it may not approve it any more; ask again".into());
    }
    let is_other_policy =
        context.policy.version() != call.policy || context.policy.may_change_its_mind();
    match asked_now {
        Some(ask)
            if is_other_policy
                && !entitled(&audience_for(ask, hold.requester_and_login_makers())) =>
        {
            refused("the rules ask others, or more people, by now; ask again".into())
        }
        _ => Ok(()),
    }
}

/// What follows from a command to the hold as it is now.
fn commanded(
    hold: &Hold,
    command: &HoldCommand,
    context: &Context<'_>,
) -> Result<Vec<HoldEvent>, Refusal> {
    match command {
        HoldCommand::Answer { digest, answer, by, edited } => hold
            .judge(answer, *digest, by, edited.as_ref(), context.people, context.now)
            .map(|judgement| match judgement {
                Judgement::Repeat => Vec::new(),
                Judgement::Counts(change) => vec![updated(hold.id, change)],
                // The program would go on by it. The answer is taken, and decides after the thaw.
                // mutant: outside-holds-are-approved-while-frozen
                Judgement::Decides(state) if context.frozen.is_some() && state.releases() => {
                    voted(hold.id, &state)
                }
                // mutant: an-edit-lets-a-program-go-on-while-frozen
                Judgement::Edits { revised, state } if context.frozen.is_some() => {
                    let mut events = vec![updated(hold.id, revised)];
                    events.extend(voted(hold.id, &state));
                    events
                }
                Judgement::Edits { revised: change, state }
                | Judgement::Disagrees { voted: change, state } => {
                    vec![updated(hold.id, change), HoldEvent::Decided { hold: hold.id, state }]
                }
                Judgement::Decides(state) => ruled_again(hold, state, context),
            }),
        HoldCommand::Cancel { by, reason } => match &hold.state {
            HoldState::Pending => Ok(vec![HoldEvent::Decided {
                hold: hold.id,
                state: HoldState::Cancelled {
                    by: by.clone(),
                    reason: reason.clone(),
                    at: context.now,
                },
            }]),
            HoldState::Cancelled { by: earlier, .. } if earlier.is_same(by) => Ok(Vec::new()),
            HoldState::Expired { .. } => Err(Refusal::Expired { hold: Box::new(hold.clone()) }),
            _ => Err(Refusal::AlreadyDecided { hold: Box::new(hold.clone()) }),
        },
        HoldCommand::Claim { by } => hold.claim(by, context),
        HoldCommand::Unclaim { by } => hold.unclaim(by),
        HoldCommand::Comment { by, text } => hold.comment(by, text, context),
        HoldCommand::Reveal { by } => hold.reveal(by, context),
    }
}

/// The answer that would have decided, as one that counts.
fn voted(hold: HoldId, state: &HoldState) -> Vec<HoldEvent> {
    let vote = state.decision().and_then(Decision::vote);
    vote.map(|vote| updated(hold, HoldChange::Voted(vote.clone()))).into_iter().collect()
}

/// What was answered while all was frozen is looked at again: voters must still be entitled, and the rules
/// of now must be met.
fn thawed(hold: &Hold, context: &Context<'_>) -> Vec<HoldEvent> {
    if !hold.is_pending() || context.frozen.is_some() {
        return Vec::new();
    }
    let state = hold.decided_by_votes(context.people);
    state.map(|state| ruled_again(hold, state, context)).unwrap_or_default()
}

/// What becomes of an approval if the policy has changed since the question was asked: the stricter of
/// then and now counts, and the approver sees it in the reply.
fn ruled_again(hold: &Hold, state: HoldState, context: &Context<'_>) -> Vec<HoldEvent> {
    let id = hold.id;
    let (HoldState::Approved(Decision::People { voters, .. }), Some(call)) = (&state, hold.call())
    else {
        return vec![HoldEvent::Decided { hold: id, state }];
    };
    if context.policy.version() == call.policy && !context.policy.may_change_its_mind() {
        return vec![HoldEvent::Decided { hold: id, state }];
    }
    let verdict = context.policy.rule(&Facts::of(call));
    match &verdict.decision {
        policy::PolicyDecision::Allow => vec![HoldEvent::Decided { hold: id, state }],
        policy::PolicyDecision::Deny => {
            let by = ClearedBy::Rule(verdict.rule().map(str::to_owned));
            let denied = Decision::Automatic { allowed: false, by, at: context.now };
            let mut events = voted_now(hold, &state);
            events.push(HoldEvent::Decided { hold: id, state: HoldState::Denied(denied) });
            events
        }
        policy::PolicyDecision::Ask(ask) => {
            let audience = audience_for(ask, hold.requester_and_login_makers());
            let mut decided = hold.clone();
            decided.decided(state.clone());
            let admits = |who: &&PersonId| {
                audience.admits(who, hold.requester.as_ref(), context.people)
                    && decided.login_counts(who, &audience)
            };
            if voters.iter().filter(admits).count() >= audience.quorum as usize {
                return vec![HoldEvent::Decided { hold: id, state }];
            }
            // Those who are asked by now are asked, about the call under the rules of now. What was demanded
            // before, by a rule or by the program itself, is still demanded.
            let requester = hold.requester.as_ref();
            let audience = audience.stricter_of(&hold.audience, requester, context.people);
            let mut parts = call.parts();
            parts.policy = context.policy.version();
            parts.revision += 1;
            let mut preview = hold.preview.clone();
            preview.warnings.push(verdict.stricter_than_before(ask).into());
            let revised = HoldChange::Revised {
                title: hold.title.clone(),
                call: Arc::new(Call::fixed(parts)),
                audience: audience.into(),
                rule: verdict.rule().map(str::to_owned),
                risk: verdict.risk.max(hold.risk),
                preview,
                votes: Vec::new(),
            };
            let mut events = voted_now(hold, &state);
            events.push(updated(id, revised));
            events
        }
    }
}

/// The answer stays on the record also where it decides nothing.
fn voted_now(hold: &Hold, state: &HoldState) -> Vec<HoldEvent> {
    let vote = state.decision().and_then(Decision::vote);
    let is_known = vote.is_some_and(|vote| hold.votes.contains(vote));
    if is_known { Vec::new() } else { voted(hold.id, state) }
}

fn updated(hold: HoldId, change: HoldChange) -> HoldEvent {
    HoldEvent::Updated { hold, change }
}

impl Hold {
    /// "I am on it": shown to others, and nothing more.
    pub(crate) fn claim(
        &self,
        by: &AuthenticatedPerson,
        context: &Context<'_>,
    ) -> Result<Vec<HoldEvent>, Refusal> {
        if !self.is_pending() {
            return Err(Refusal::AlreadyDecided { hold: Box::new(self.clone()) });
        }
        if !self.admits(by.id(), context.people) {
            return Err(Refusal::NotEntitled {
                why: "only those who may answer can claim it".into(),
            });
        }
        if self.claimed_by.as_ref() == Some(by.id()) {
            return Ok(Vec::new());
        }
        Ok(vec![updated(self.id, HoldChange::Claimed(by.id().clone()))])
    }

    /// Whoever may answer may see what it is about, secrets included; every time is written down.
    pub(crate) fn reveal(
        &self,
        by: &AuthenticatedPerson,
        context: &Context<'_>,
    ) -> Result<Vec<HoldEvent>, Refusal> {
        if !self.admits(by.id(), context.people) {
            let why = "only those who may answer can see its secrets";
            return Err(Refusal::NotEntitled { why: why.into() });
        }
        Ok(vec![updated(self.id, HoldChange::Revealed(by.id().clone()))])
    }

    pub(crate) fn unclaim(&self, by: &AuthenticatedPerson) -> Result<Vec<HoldEvent>, Refusal> {
        match &self.claimed_by {
            None => Ok(Vec::new()),
            Some(who) if who == by.id() => Ok(vec![updated(self.id, HoldChange::Unclaimed)]),
            Some(who) => Err(Refusal::NotEntitled { why: format!("{who} claimed it") }),
        }
    }
}
