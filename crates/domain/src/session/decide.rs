//! What a session is told to do, and what comes of it.

use std::sync::Arc;

use super::answer::GivenAnswer;
use super::report::Recovered;
use super::{CallState, HoldSpec, RuledTurn, RunStatus, Session};
use crate::call::Call;
use crate::context::{Context, WhilePending};
use crate::decided::Decided;
use crate::event::{HoldEvent, SessionEvent};
use crate::hold::{
    CallOnHold, CancelReason, Hold, HoldChange, HoldCommand, HoldOrigin, HoldOutcome, HoldState,
    Question, tag_of,
};
use crate::id::{CallId, GrantId, HoldId, RunId, SessionId};
use crate::limits::QUEUED_MESSAGES_MAX;
use crate::message::Message;
use crate::outcome::Outcome;
use crate::person::{Actor, AuthenticatedPerson};
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// What a session is told to do.
#[expect(clippy::large_enum_variant, reason = "made, looked at once and dropped")]
#[derive(Clone, Debug)]
pub enum Command {
    /// A message came.
    Say {
        /// The whole message, with its id.
        message: Arc<Message>,
        /// The id of the run that it begins, if it begins one.
        run: RunId,
        /// What to do if holds are open. `None`: the agent's setting.
        while_pending: Option<WhilePending>,
    },
    /// The model's turn, made from the first `seen` messages of the transcript.
    RecordTurn {
        /// Of an older thought it is not recorded: the transcript has moved on.
        seen: usize,
        /// What the model wrote, each call already ruled on.
        turn: RuledTurn,
    },
    /// The model could not be asked. The run fails, and can be retried.
    ThinkFailed {
        /// The length of the transcript that it was asked about.
        seen: usize,
        /// For people; without secrets.
        error: String,
    },
    /// To one of its holds.
    Hold {
        /// Which one.
        id: HoldId,
        /// What to do to it.
        command: HoldCommand,
    },
    /// Several answers of one person, as one: all of them count, or none does.
    AnswerAll {
        /// In the order in which they are judged.
        answers: Vec<GivenAnswer>,
        /// Who gives them.
        by: AuthenticatedPerson,
    },
    /// Time has passed: whatever is overdue expires.
    Expire,
    /// The run is to end.
    CancelRun {
        /// Which run; one that is over stays as it is.
        run: RunId,
        /// Who wants it.
        by: Actor,
        /// In their words, if they gave any.
        reason: Option<String>,
    },
    /// A failed run asks its model once more.
    RetryRun {
        /// Which run.
        run: RunId,
    },
    /// A grant is to cover nothing any more.
    RevokeGrant {
        /// Which grant.
        grant: GrantId,
        /// Who wants it.
        by: Actor,
    },
    /// What a tool host says about an attempt that it made.
    Report {
        /// Whose attempt it was.
        call: CallId,
        /// Which attempt; only the one on record counts.
        attempt: u32,
        /// What came of it.
        outcome: Outcome,
    },
    /// This attempt has had no effect: before it began, all was frozen, the run was to stop, or the engine
    /// was closing.
    NotBegun {
        /// Whose attempt it was.
        call: CallId,
        /// Which attempt; only the one on record counts.
        attempt: u32,
    },
    /// What is to be done about an attempt whose node is gone.
    Recover {
        /// Whose attempt it was.
        call: CallId,
        /// Which attempt; only the one on record counts.
        attempt: u32,
        /// What the host found out about it.
        found: Recovered,
    },
    /// Something that calls waited for may have changed: a thaw, a restart.
    Wake,
}

/// What to tell whoever gave the command.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionReply {
    /// It is done, and there is nothing to tell.
    Done,
    /// The message is in.
    Said {
        /// The run that it is part of, begun or in progress.
        run: RunId,
    },
    /// The hold as it is after everything that followed.
    Hold(Arc<Hold>),
    /// In the order of the answers.
    Holds(Vec<Arc<Hold>>),
}

/// Events to write and the state that they lead to. Both an event and a refusal may come of one
/// command: an answer that is too late makes the expiry happen.
#[derive(Debug)]
pub struct SessionDecision {
    /// In order. They may be there even if the command was refused. Empty: nothing is to be written.
    pub events: Vec<SessionEvent>,
    /// The state that the events lead to. Until they are on record it is nobody's business.
    pub next: Session,
    /// For the caller.
    pub reply: Result<SessionReply, Refusal>,
}

impl Session {
    /// What comes of a command: what it does itself, and all that follows by itself. The state stays as it is; the caller
    /// commits the events.
    pub fn decide(&self, command: &Command, context: &Context<'_>) -> SessionDecision {
        let thinking_at = self.needs_model_call().then_some(self.transcript.len());
        let mut draft = Draft { events: Vec::new(), next: self.clone(), thinking_at };
        // mutant: expiry-ignored-at-answer
        draft.expire_overdue(context);
        let reply = draft.carry_out(command, context);
        // Even a command that came too late may have made an expiry happen.
        if !draft.events.is_empty() || !matches!(reply, Err(Refusal::Overtaken)) {
            draft.advance(context);
        }
        // A hold as it is after everything that followed from the answer.
        let newest = |hold: Arc<Hold>| draft.next.holds.get(&hold.id).cloned().unwrap_or(hold);
        let reply = reply.map(|reply| match reply {
            SessionReply::Hold(hold) => SessionReply::Hold(newest(hold)),
            SessionReply::Holds(holds) => {
                SessionReply::Holds(holds.into_iter().map(newest).collect())
            }
            other => other,
        });
        SessionDecision { events: draft.events, next: draft.next, reply }
    }

    /// The state after its first events, for the commit that opens it.
    pub fn open(
        id: SessionId,
        events: Vec<SessionEvent>,
        at: Timestamp,
    ) -> Decided<Session, SessionEvent> {
        let mut session = Session::begin(id);
        events.iter().for_each(|event| session.apply(event, at));
        Decided::new(None, events, session, at)
    }

    /// As [`Session::decide`], for a commit.
    pub fn decide_shared(
        self: &Arc<Session>,
        command: &Command,
        context: &Context<'_>,
    ) -> (Decided<Session, SessionEvent>, Result<SessionReply, Refusal>) {
        let SessionDecision { events, next, reply } = self.decide(command, context);
        (Decided::new(Some(self.clone()), events, next, context.now), reply)
    }
}

/// A session on its way from one state to the next.
pub(super) struct Draft {
    pub(super) events: Vec<SessionEvent>,
    pub(super) next: Session,
    /// The length of the transcript that a thought was owed about when the command came.
    pub(super) thinking_at: Option<usize>,
}

impl Draft {
    pub(super) fn push(&mut self, event: SessionEvent, context: &Context<'_>) {
        self.next.apply(&event, context.now);
        self.events.push(event);
    }

    fn carry_out(
        &mut self,
        command: &Command,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        match command {
            Command::Say { message, run, while_pending } => {
                self.say(message, *run, while_pending.unwrap_or(context.while_pending), context)
            }
            Command::RecordTurn { seen, turn } => {
                self.expect_thinking(*seen)?;
                // A client begins a `perform` call as soon as it is shown: while all is frozen the turn is not
                // recorded, and is taken anew after the thaw.
                // mutant: a-client-is-asked-while-frozen
                if let (Some(reason), true) = (context.frozen, turn.asks_to_perform()) {
                    return Err(Refusal::Frozen { reason: reason.to_owned() });
                }
                self.record_turn(turn, context);
                Ok(SessionReply::Done)
            }
            Command::ThinkFailed { seen, error } => {
                let run = self.expect_thinking(*seen)?;
                self.push(SessionEvent::RunFailed { run, error: error.clone() }, context);
                Ok(SessionReply::Done)
            }
            Command::Hold { id, command } => {
                self.command_hold(*id, command, context).map(SessionReply::Hold)
            }
            Command::AnswerAll { answers, by } => self.answer_all(answers, by, context),
            Command::Expire | Command::Wake => Ok(SessionReply::Done),
            Command::CancelRun { run, by, reason } => {
                self.cancel_run(*run, by, reason.clone(), context)
            }
            Command::RetryRun { run } => self.retry_run(*run, context),
            Command::RevokeGrant { grant, by } => match self.next.grants.get(grant) {
                None => Err(Refusal::NotFound { what: "grant" }),
                Some(found) if found.revoked => Ok(SessionReply::Done),
                Some(_) => {
                    self.push(
                        SessionEvent::GrantRevoked { grant: *grant, by: by.clone() },
                        context,
                    );
                    Ok(SessionReply::Done)
                }
            },
            Command::Report { call, attempt, outcome } => {
                self.report(*call, *attempt, outcome, context)
            }
            Command::NotBegun { call, attempt } => self.not_begun(*call, *attempt, context),
            Command::Recover { call, attempt, found } => {
                self.recover(*call, *attempt, found, context)
            }
        }
    }

    /// A command of a person or program to a hold, as it is in this draft.
    fn command_hold(
        &mut self,
        id: HoldId,
        command: &HoldCommand,
        context: &Context<'_>,
    ) -> Result<Arc<Hold>, Refusal> {
        let hold = self.hold(id)?;
        let events = match command {
            HoldCommand::Answer { digest, answer, by, edited } => {
                return self.answer(id, *digest, answer, by, edited.as_ref(), context);
            }
            HoldCommand::Cancel { by, reason } => {
                return self.cancel_hold(hold, by, reason.clone(), context);
            }
            HoldCommand::Claim { by } => hold.claim(by, context)?,
            HoldCommand::Unclaim { by } => hold.unclaim(by)?,
            HoldCommand::Comment { by, text } => hold.comment(by, text, context)?,
            HoldCommand::Reveal { by } => hold.reveal(by, context)?,
        };
        self.push_all(events, context);
        Ok(hold)
    }

    pub(super) fn push_all(
        &mut self,
        events: impl IntoIterator<Item: Into<SessionEvent>>,
        context: &Context<'_>,
    ) {
        for event in events {
            self.push(event.into(), context);
        }
    }

    pub(super) fn hold(&self, id: HoldId) -> Result<Arc<Hold>, Refusal> {
        self.next.holds.get(&id).cloned().ok_or(Refusal::NotFound { what: "hold" })
    }

    fn expire_overdue(&mut self, context: &Context<'_>) {
        let overdue: Vec<HoldId> = self
            .next
            .open_holds()
            .filter(|hold| hold.is_overdue(context.now))
            .map(|hold| hold.id)
            .collect();
        for hold in overdue {
            // mutant: expiry-allows
            self.decide_hold(hold, HoldState::Expired { at: context.now }, context);
        }
    }

    /// A hold's end, and for a two-phase one the word of it to the model.
    pub(super) fn decide_hold(&mut self, hold: HoldId, state: HoldState, context: &Context<'_>) {
        self.push(SessionEvent::Hold(HoldEvent::Decided { hold, state }), context);
        if self.next.holds.get(&hold).is_some_and(|hold| hold.two_phase) {
            self.tell_model_of_decision(hold, context);
        }
    }

    fn say(
        &mut self,
        message: &Arc<Message>,
        run: RunId,
        while_pending: WhilePending,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        if let Some(reason) = context.frozen {
            return Err(Refusal::Frozen { reason: reason.to_owned() });
        }
        let active = self.next.run.as_ref().filter(|run| !run.is_over());
        // Whoever began a run is who asks in it. Somebody else gets a run of their own, or they could
        // approve what they asked for themselves.
        // mutant: joins-the-run-of-somebody-else
        let same_speaker = active.is_some_and(|run| run.by == message.by);
        let Some(active) = active.map(|run| run.id) else {
            // Behind a failed run others may have waited: they were there first.
            match self.next.queue.front().cloned() {
                None => self.start_run(run, message.clone(), context),
                Some(first) => {
                    self.push(
                        SessionEvent::MessageQueued { message: message.clone(), run, join: false },
                        context,
                    );
                    self.start_run(first.run, first.message, context);
                }
            }
            return Ok(SessionReply::Said { run });
        };
        if self.next.queue.len() >= QUEUED_MESSAGES_MAX {
            return Err(Refusal::TooMany {
                what: "messages wait in this session",
                limit: QUEUED_MESSAGES_MAX,
            });
        }
        let open: Vec<HoldId> = self.next.open_holds().map(|hold| hold.id).collect();
        let all_two_phase = self.next.open_holds().all(|hold| hold.two_phase);
        let join = match while_pending {
            _ if open.is_empty() => false,
            WhilePending::Queue => false,
            WhilePending::Refuse => return Err(Refusal::HoldsOpen { holds: open }),
            WhilePending::Deliver => all_two_phase && same_speaker,
            WhilePending::Supersede => {
                // A run that waits for leave to go on ends by this; the message begins another.
                let joins = !self.next.waits_for_leave() && same_speaker;
                for hold in open {
                    // What a crash left unknown stays a question, whatever is said meanwhile.
                    if self
                        .next
                        .holds
                        .get(&hold)
                        .is_some_and(|hold| hold.question != Question::Settle)
                    {
                        let state = HoldState::Cancelled {
                            by: Actor::Runtime,
                            reason: CancelReason::Superseded,
                            at: context.now,
                        };
                        self.decide_hold(hold, state, context);
                    }
                }
                joins
            }
        };
        let run = if join { active } else { run };
        self.push(SessionEvent::MessageQueued { message: message.clone(), run, join }, context);
        Ok(SessionReply::Said { run })
    }

    pub(super) fn start_run(&mut self, run: RunId, message: Arc<Message>, context: &Context<'_>) {
        // A message that was to join a run which then ended gets a run of its own.
        let taken = self.next.run.as_ref().is_some_and(|earlier| earlier.id == run);
        let run = if taken { RunId::new(context.now.as_ms(), (context.rng)()) } else { run };
        self.push(SessionEvent::RunStarted { run }, context);
        self.push(SessionEvent::MessageAdded { message }, context);
    }

    fn expect_thinking(&self, seen: usize) -> Result<RunId, Refusal> {
        match &self.next.run {
            Some(run) if self.next.needs_model_call() && self.next.transcript.len() == seen => {
                Ok(run.id)
            }
            _ => Err(Refusal::Overtaken),
        }
    }

    fn cancel_hold(
        &mut self,
        hold: Arc<Hold>,
        by: &Actor,
        reason: CancelReason,
        context: &Context<'_>,
    ) -> Result<Arc<Hold>, Refusal> {
        match &hold.state {
            HoldState::Pending => {
                let state = HoldState::Cancelled { by: by.clone(), reason, at: context.now };
                self.decide_hold(hold.id, state, context);
                Ok(hold)
            }
            HoldState::Cancelled { by: earlier, .. } if earlier.is_same(by) => Ok(hold),
            HoldState::Expired { .. } => Err(Refusal::Expired { hold: Box::new((*hold).clone()) }),
            HoldState::Approved(_) => self.revoke(hold, by, context),
            _ => Err(Refusal::AlreadyDecided { hold: Box::new((*hold).clone()) }),
        }
    }

    /// An approval can be taken back until the call starts: this event and the start race for the
    /// same version of the session, so exactly one of them happens.
    fn revoke(
        &mut self,
        hold: Arc<Hold>,
        by: &Actor,
        context: &Context<'_>,
    ) -> Result<Arc<Hold>, Refusal> {
        let name = match by.accountable() {
            Some(person) => context.people.name_of(person).to_owned(),
            None => by.to_string(),
        };
        let result = crate::outcome::NotRun::Revoked { name }.result();
        if hold.two_phase && hold.outcome().is_none() && !self.next.is_taken(hold.id) {
            let result = super::two_phase::shaped(&result);
            let change = HoldChange::Outcome(HoldOutcome::Failed(result));
            self.push(SessionEvent::Hold(HoldEvent::Updated { hold: hold.id, change }), context);
            return Ok(hold);
        }
        let waiting = hold
            .call_id()
            .filter(|call| matches!(self.next.state_of(*call), Some(CallState::Cleared { .. })));
        match waiting {
            // mutant: revocation-ignored begins
            Some(call) => {
                self.push(SessionEvent::CallSettled { call, result }, context);
                // mutant: revocation-ignored ends
                Ok(hold)
            }
            None => Err(Refusal::AlreadyDecided { hold: Box::new((*hold).clone()) }),
        }
    }

    fn cancel_run(
        &mut self,
        id: RunId,
        by: &Actor,
        reason: Option<String>,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        match &self.next.run {
            Some(run) if run.id == id && !run.is_over() => {
                if !run.is_stopping() {
                    self.stop_run(by, reason, context);
                }
                Ok(SessionReply::Done)
            }
            Some(run) if run.id == id && run.status() == RunStatus::Cancelled => {
                Ok(SessionReply::Done)
            }
            Some(run) if run.id == id => {
                Err(Refusal::OutOfTurn { is: run.status().name(), wanted: "be cancelled" })
            }
            // Nothing was done for what waits its turn: it is taken out of the queue.
            _ if self.next.queue.iter().any(|queued| queued.run == id) => {
                self.push(SessionEvent::RunCancelled { run: id }, context);
                Ok(SessionReply::Done)
            }
            _ => Err(Refusal::OutOfTurn { is: "over", wanted: "be cancelled" }),
        }
    }

    pub(super) fn stop_run(&mut self, by: &Actor, reason: Option<String>, context: &Context<'_>) {
        let Some(run) = self.next.run.as_ref().filter(|run| !run.is_over()) else { return };
        let run = run.id;
        self.push(SessionEvent::RunStopping { run, by: by.clone(), reason }, context);
        let open: Vec<HoldId> = self.next.open_holds().map(|hold| hold.id).collect();
        for hold in open {
            let reason = CancelReason::Stated("the run was cancelled".to_owned());
            let state = HoldState::Cancelled { by: by.clone(), reason, at: context.now };
            // Nobody is going to tell the model: the run ends here.
            self.push(SessionEvent::Hold(HoldEvent::Decided { hold, state }), context);
        }
    }

    fn retry_run(&mut self, id: RunId, context: &Context<'_>) -> Result<SessionReply, Refusal> {
        if let Some(reason) = context.frozen {
            return Err(Refusal::Frozen { reason: reason.to_owned() });
        }
        match &self.next.run {
            Some(run) if run.id == id && run.status() == RunStatus::Failed => {
                self.push(SessionEvent::RunResumed { run: id }, context);
                Ok(SessionReply::Done)
            }
            Some(run) if run.id == id => {
                Err(Refusal::OutOfTurn { is: run.status().name(), wanted: "be retried" })
            }
            _ => Err(Refusal::OutOfTurn { is: "over", wanted: "be retried" }),
        }
    }

    /// Opens a hold for what `spec` asks.
    pub(super) fn open(
        &mut self,
        spec: HoldSpec,
        call: Option<Arc<Call>>,
        parent: Option<HoldId>,
        two_phase: bool,
        context: &Context<'_>,
    ) -> HoldId {
        let id = context.hold_id_after(self.next.last_hold());
        self.open_as(id, spec, call, parent, two_phase, context);
        id
    }

    pub(super) fn open_as(
        &mut self,
        id: HoldId,
        spec: HoldSpec,
        call: Option<Arc<Call>>,
        parent: Option<HoldId>,
        two_phase: bool,
        context: &Context<'_>,
    ) {
        // Whatever asks is part of a run. Without one, nothing is asked and nothing runs.
        let Some(run) = &self.next.run else { return };
        let hold = Hold {
            id,
            version: 1,
            question: spec.question,
            state: HoldState::Pending,
            risk: spec.risk,
            tag: tag_of(id),
            title: spec.title,
            origin: HoldOrigin::Session {
                session: self.next.id,
                run: run.id,
                agent: self.next.agent.clone(),
            },
            parent,
            opener: self.next.creator.clone(),
            requester: self.next.requester().cloned(),
            policy: call.as_ref().map_or_else(|| context.policy.version(), |call| call.policy),
            preview: spec.preview.about(call.as_deref()),
            call_on_hold: call.map(CallOnHold::new),
            context: spec.shown,
            rationale: spec.rationale,
            audience: spec.audience,
            rule: spec.rule,
            opened_at: context.now,
            expires_at: spec.expires_in_ms.map(|ms| context.now.plus_ms(ms)),
            claimed_by: None,
            votes: Vec::new(),
            comments: Vec::new(),
            two_phase,
        };
        self.push(SessionEvent::Hold(HoldEvent::Opened { hold: Arc::new(hold) }), context);
    }
}
