//! A run as the stream of one assistant message. What the client has already is passed over; results of
//! the calls in its message are told in any case, since saying one twice is harmless and leaving one out
//! is not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::hold::{Hold, HoldState, Question};
use domain::id::{CallId, HoldId, MessageId};
use domain::session::Session;
use engine::Caller;

use super::super::delivered::EndMark;
use super::super::flow::{Called, End, FlowStep, RunFollower, Settled};
use super::super::shown;
use super::super::stream::{Gone, Out};
use super::values::{id_of, input_of, is_own};
use super::wire::{Chunk, QueuedNotice};
use super::{AiSdkContext, NAME, Ui, chunks, outcome};

pub(crate) struct ChunkWriter {
    here: AiSdkContext,
    caller: Caller,
    ui: Ui,
    /// What the client calls the message.
    message: String,
    /// The latest of our messages that the client has.
    upto: Option<MessageId>,
    /// Calls that the client's message has. A result of any other would end its stream.
    has: BTreeSet<CallId>,
    /// Whether what is told now is still something that the client has.
    passing: bool,
    /// Whether the next words begin another turn.
    turn_over: bool,
    /// Whether a step is open on the wire.
    in_step: bool,
    /// Which revision of each question was told.
    revisions: BTreeMap<HoldId, u32>,
    /// Set when the message is told to the end of its run.
    end: EndMark,
}

/// Why the telling stopped before its end.
enum Stopped {
    Gone,
    Failed(engine::Error),
    Refused,
}

impl From<Gone> for Stopped {
    fn from(_: Gone) -> Stopped {
        Stopped::Gone
    }
}

impl From<engine::Error> for Stopped {
    fn from(error: engine::Error) -> Stopped {
        Stopped::Failed(error)
    }
}

impl ChunkWriter {
    pub(crate) fn new(
        here: &AiSdkContext,
        caller: &Caller,
        ui: Ui,
        message: String,
        upto: Option<MessageId>,
    ) -> ChunkWriter {
        ChunkWriter {
            here: here.clone(),
            caller: caller.clone(),
            ui,
            message,
            upto,
            has: BTreeSet::new(),
            passing: upto.is_some(),
            turn_over: true,
            in_step: false,
            revisions: BTreeMap::new(),
            end: EndMark::default(),
        }
    }

    pub(crate) fn end_mark(&self) -> EndMark {
        self.end.clone()
    }

    /// The client's message has these calls already.
    pub(crate) fn with(mut self, calls: BTreeSet<CallId>) -> ChunkWriter {
        self.has = calls;
        self
    }

    pub(crate) async fn tell(mut self, mut flow: RunFollower, out: Out) {
        match self.all(&mut flow, &out).await {
            Ok(()) | Err(Stopped::Gone) => {}
            Err(stopped) => {
                if let Stopped::Failed(error) = stopped {
                    tracing::warn!(%error, "a stream of the door ai_sdk ends early");
                }
                let error_text = "this cannot be told at present; reload to see how things stand";
                let _ = out.data(&Chunk::Error { error_text }).await;
                let _ = out.send("data: [DONE]\n\n").await;
            }
        }
    }

    async fn all(&mut self, flow: &mut RunFollower, out: &Out) -> Result<(), Stopped> {
        let session = flow.fresh().await?;
        let latest = || session.run.as_ref().map(|run| run.id);
        let run = flow.run().or_else(latest).map(|run| run.to_string()).unwrap_or_default();
        out.data(&chunks::start(&self.message, &session.id.to_string(), &run)).await?;
        while let Some(step) = flow.next().await? {
            match step {
                FlowStep::Open { id, kind } => {
                    self.turn(out).await?;
                    self.say(out, chunks::open_block(kind, &id)).await?;
                }
                FlowStep::Delta { id, kind, text } => {
                    self.say(out, chunks::delta(kind, &id, &text)).await?
                }
                FlowStep::Close { id, kind } => self.say(out, chunks::close(kind, &id)).await?,
                FlowStep::Thought { message } => {
                    self.turn(out).await?;
                    self.turn_over = true;
                    if self.upto == Some(message.id) {
                        self.upto = None;
                    }
                }
                FlowStep::Called(called) => {
                    self.called(&*flow.fresh().await?, &called, out).await?
                }
                FlowStep::HoldOpened(hold) => {
                    self.asked(&*flow.fresh().await?, hold.id, out).await?
                }
                FlowStep::HoldDecided(hold) => self.decided(&hold, out).await?,
                FlowStep::Settled(settled) => {
                    self.settled(&*flow.fresh().await?, &settled, out).await?
                }
                FlowStep::End(end) => {
                    let session = flow.fresh().await?;
                    let latest = session.run.as_ref().map(|run| run.id);
                    let is_over = matches!(end, End::Completed | End::Failed(_) | End::Cancelled);
                    // What an earlier run came to says nothing about the latest.
                    if is_over && (flow.run().is_none() || flow.run() == latest) {
                        self.end.set(end_mark(&session));
                    }
                    return self.end(&session, end, out).await;
                }
                // One that belongs to no call is shown as it stands.
                FlowStep::HoldChanged(hold) if hold.call().is_none() => {
                    self.say(out, chunks::asks(&hold, &self.here.app.origin)).await?;
                }
                FlowStep::RunStarted
                | FlowStep::Said { .. }
                | FlowStep::Withdrawn { .. }
                | FlowStep::HoldChanged(_)
                | FlowStep::Paused
                | FlowStep::Rests
                | FlowStep::Resumed => {}
            }
        }
        Ok(())
    }

    /// What only those need who do not have it yet.
    async fn say(&self, out: &Out, chunk: Chunk<'_>) -> Result<(), Stopped> {
        if !self.passing {
            out.data(&chunk).await?;
        }
        Ok(())
    }

    /// A turn of the model is a step of the message.
    async fn turn(&mut self, out: &Out) -> Result<(), Stopped> {
        if !self.turn_over {
            return Ok(());
        }
        self.turn_over = false;
        // Everything up to the client's latest message has been passed over.
        self.passing &= self.upto.is_some();
        if !self.passing {
            self.finish_step(out).await?;
            out.data(&Chunk::StartStep).await?;
            self.in_step = true;
        }
        Ok(())
    }

    async fn finish_step(&mut self, out: &Out) -> Result<(), Stopped> {
        if std::mem::take(&mut self.in_step) {
            out.data(&Chunk::FinishStep).await?;
        }
        Ok(())
    }

    async fn called(
        &mut self,
        session: &Session,
        called: &Called,
        out: &Out,
    ) -> Result<(), Stopped> {
        if self.passing {
            return Ok(());
        }
        self.input(session, called.call, &called.tool, out).await
    }

    async fn input(
        &mut self,
        session: &Session,
        call: CallId,
        tool: &str,
        out: &Out,
    ) -> Result<(), Stopped> {
        let app = &self.here.app;
        let (id, input) = (id_of(session, call), input_of(app, session, call));
        for chunk in chunks::input(&id, tool, &input, !is_own(app, session, tool)) {
            out.data(&chunk).await?;
        }
        self.has.insert(call);
        Ok(())
    }

    async fn asked(&mut self, session: &Session, hold: HoldId, out: &Out) -> Result<(), Stopped> {
        let Some(hold) = session.holds.get(&hold) else { return Ok(()) };
        let app = &self.here.app;
        match (&hold.question, hold.call()) {
            (Question::Approve, Some(call)) if !hold.two_phase => {
                if !self.passing {
                    // Before anybody can see it.
                    shown::record(app, &self.caller, NAME, hold)
                        .await
                        .map_err(|_| Stopped::Refused)?;
                    self.revisions.insert(hold.id, call.revision);
                    if !self.has.contains(&call.id) {
                        self.input(session, call.id, &call.tool, out).await?;
                    }
                    if self.ui >= Ui::Six {
                        let id = id_of(session, call.id);
                        let request = chunks::approval_request(&id, hold, &self.here.app.origin);
                        out.data(&request).await?;
                    }
                }
                Ok(())
            }
            (_, Some(_)) if hold.question != Question::Settle => Ok(()),
            _ => self.say(out, chunks::asks(hold, &app.origin)).await,
        }
    }

    async fn decided(&mut self, hold: &Arc<Hold>, out: &Out) -> Result<(), Stopped> {
        if hold.call().is_none() || hold.question == Question::Settle {
            return self.say(out, chunks::asks(hold, &self.here.app.origin)).await;
        }
        if self.ui < Ui::Seven || hold.question != Question::Approve || hold.two_phase {
            return Ok(());
        }
        if hold.call_id().is_none_or(|call| !self.has.contains(&call)) {
            return Ok(());
        }
        match &hold.state {
            HoldState::Approved(_) => {
                self.say(out, chunks::approval_response(hold, true, None)).await
            }
            HoldState::Denied(_) => {
                self.say(out, chunks::approval_response(hold, false, reason(hold))).await
            }
            _ => Ok(()),
        }
    }

    async fn settled(
        &self,
        session: &Session,
        settled: &Settled,
        out: &Out,
    ) -> Result<(), Stopped> {
        if !self.has.contains(&settled.call) {
            return Ok(());
        }
        let id = id_of(session, settled.call);
        let chunk = outcome::settled(self.ui, session, settled.call, &id, &settled.result);
        Ok(out.data(&chunk).await?)
    }

    async fn end(&mut self, session: &Session, end: End, out: &Out) -> Result<(), Stopped> {
        if end == End::Paused {
            self.revised(session, out).await?;
        }
        self.finish_step(out).await?;
        match end {
            End::Paused => out.data(&chunks::finish(self.ui, "tool-calls")).await?,
            End::Completed => out.data(&chunks::finish(self.ui, "stop")).await?,
            End::Failed(error) => out.data(&Chunk::Error { error_text: &error }).await?,
            End::Cancelled => out.data(&Chunk::Abort).await?,
            End::Waiting => self.waiting(session, out).await?,
            End::Closed => {
                let error_text = "the server stops; reload once it is back";
                out.data(&Chunk::Error { error_text }).await?;
            }
        }
        out.send("data: [DONE]\n\n").await?;
        Ok(())
    }

    /// The message waits behind open calls, which are shown again in its own reply: the client posts
    /// answers only from its last message.
    async fn waiting(&mut self, session: &Session, out: &Out) -> Result<(), Stopped> {
        let open: Vec<Arc<Hold>> = session.open_holds().cloned().collect();
        out.data(&Chunk::StartStep).await?;
        let waits_for = open.iter().map(|hold| hold.id.to_string()).collect();
        let data = QueuedNotice { waits_for };
        out.data(&Chunk::DataQueued { data, transient: true }).await?;
        for hold in open.iter().filter(|hold| hold.question != Question::Settle) {
            let Some(call) = hold.call().filter(|_| !hold.two_phase) else { continue };
            self.input(session, call.id, &call.tool, out).await?;
            self.asked(session, hold.id, out).await?;
        }
        out.data(&Chunk::FinishStep).await?;
        let reason = if self.has.is_empty() { "other" } else { "tool-calls" };
        Ok(out.data(&chunks::finish(self.ui, reason)).await?)
    }

    /// What was edited since it was told is told again: nobody answers what they were not shown.
    async fn revised(&mut self, session: &Session, out: &Out) -> Result<(), Stopped> {
        for hold in session.open_holds().filter(|hold| hold.question == Question::Approve) {
            let Some(call) = hold.call().filter(|_| !hold.two_phase) else { continue };
            if self.revisions.get(&hold.id).copied().unwrap_or(1) == call.revision {
                continue;
            }
            let app = &self.here.app;
            shown::record(app, &self.caller, NAME, hold).await.map_err(|_| Stopped::Refused)?;
            let (id, input) = (id_of(session, call.id), input_of(app, session, call.id));
            let [_, available] =
                chunks::input(&id, &call.tool, &input, !is_own(app, session, &call.tool));
            out.data(&available).await?;
            self.has.insert(call.id);
            if self.ui >= Ui::Six {
                out.data(&chunks::approval_request(&id, hold, &app.origin)).await?;
            }
        }
        Ok(())
    }
}

/// Names the latest run as far as it came: one that failed can be tried again, and goes on.
pub(crate) fn end_mark(session: &Session) -> String {
    let run = session.run.as_ref().map(|run| run.id.to_string()).unwrap_or_default();
    format!("{run} {}", session.transcript.len())
}

fn reason(hold: &Hold) -> Option<&str> {
    match &hold.state.decision()?.vote()?.answer {
        domain::answer::Answer::Deny { reason, .. } => reason.as_deref(),
        _ => None,
    }
}
