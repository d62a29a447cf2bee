//! What happens in a run, told in the order in which a wire needs it: from a position, first what is
//! stored and then what comes, until the run rests. Every way through here ends: at a pause, at the end
//! of the run, behind another run that waits, or when the server stops.
//!
//! Any number may follow one run, and nothing that a reader does (or fails to do) touches the run.

mod rest;
mod speech;
mod step;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::event::{HoldEvent, SessionEvent};
use domain::id::{CallId, HoldId, RunId, SessionId};
use domain::message::{Message, Part, Role};
use domain::session::Session;
use domain::time::Timestamp;
use engine::{Caller, Error, Follow, Followed, Spoken};

pub(crate) use step::{Called, End, FlowStep, Settled, SpeechKind};

use crate::app::App;
use crate::wire;
use rest::rest_of;
use speech::Speech;

/// Sessions with fewer events than this are read from their beginning.
const SHORT: u64 = 400;

pub(crate) struct RunFollower {
    app: App,
    caller: Caller,
    session: SessionId,
    /// Only this run, or all of the session's.
    run: Option<RunId>,
    /// The run that what happens now belongs to.
    current: Option<RunId>,
    follow: Follow,
    position: u64,
    /// The newest version that we know of, and how things stand there.
    known: u64,
    rest: Option<End>,
    /// The version up to which a pause does not end the stream.
    unsatisfied_at: Option<u64>,
    /// Whether what follows a pause is told too.
    over_pauses: bool,
    /// When each call was made, or began to run.
    begun: BTreeMap<CallId, Timestamp>,
    speech: Speech,
    ready: VecDeque<FlowStep>,
    ended: bool,
}

/// Where to begin, and with which run under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    pub(crate) position: u64,
    pub(crate) current: Option<RunId>,
}

impl Since {
    /// After everything that a session has seen so far.
    pub(crate) fn now(session: &Session) -> Since {
        Since { position: session.version, current: session.run.as_ref().map(|run| run.id) }
    }

    /// Before the latest run of a session began.
    pub(crate) async fn latest_run(app: &App, session: &Session) -> Result<Since, Error> {
        let Some(run) = &session.run else { return Ok(Since { position: 0, current: None }) };
        let (mut low, mut high) = (0, session.version);
        // Events are in the order of time: halve until little is left to read.
        while high - low > SHORT {
            let middle = low + (high - low) / 2;
            let entries = app.engine.read_log_after(session.id, middle, 1).await?;
            match entries.first() {
                Some(entry) if entry.at < run.started_at => low = middle,
                _ => high = middle,
            }
        }
        Ok(Since { position: low, current: None })
    }
}

impl RunFollower {
    /// `session` is how things stood at least as late as `since`. With a `run`, only that run is told of.
    pub(crate) async fn open(
        app: &App,
        caller: &Caller,
        session: &Session,
        run: Option<RunId>,
        since: Since,
    ) -> Result<RunFollower, Error> {
        let follow = app.engine.follow_session(session.id, Some(since.position)).await?;
        RunFollower::on(follow, app, caller, session, run, since).await
    }

    /// The same with a `Follow` that was opened before the message was said: deltas are not stored, so nothing
    /// else tells of them.
    pub(crate) async fn on(
        follow: Follow,
        app: &App,
        caller: &Caller,
        session: &Session,
        run: Option<RunId>,
        since: Since,
    ) -> Result<RunFollower, Error> {
        // What was done just before this may be newer than what the caller of this knew.
        let newest = app.engine.session(caller, session.id).await?;
        Ok(RunFollower {
            app: app.clone(),
            caller: caller.clone(),
            session: session.id,
            run,
            current: since.current,
            follow,
            position: since.position,
            known: newest.version,
            rest: rest_of(&newest, run),
            unsatisfied_at: None,
            over_pauses: false,
            begun: BTreeMap::new(),
            speech: Speech::default(),
            ready: VecDeque::new(),
            ended: false,
        })
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The one run that is told of, if it is only one.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.run
    }

    /// A pause that is known already is no end: how the run rests after that is.
    pub(crate) fn wait_for_change(&mut self) {
        self.unsatisfied_at = (self.rest == Some(End::Paused)).then_some(self.known);
    }

    /// Pauses are no end, whoever decides: each is told once, and then what follows it.
    pub(crate) fn goes_over_pauses(&mut self) {
        self.over_pauses = true;
    }

    /// The next thing to tell; `None` after the end.
    pub(crate) async fn next(&mut self) -> Result<Option<FlowStep>, Error> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                return Ok(Some(step));
            }
            if self.ended {
                return Ok(None);
            }
            if let (true, Some(end)) = (self.position >= self.known, &self.rest) {
                if self.unsatisfied_at.take_if(|known| self.position <= *known).is_some() {
                    self.rest = None;
                    continue;
                }
                self.ready.extend(self.speech.close());
                if self.over_pauses && matches!(end, End::Paused | End::Waiting) {
                    self.rest = None;
                    self.ready.push_back(FlowStep::Rests);
                    continue;
                }
                self.ended = true;
                self.ready.push_back(FlowStep::End(end.clone()));
                continue;
            }
            match self.follow.next().await? {
                None => {
                    self.ended = true;
                    return Ok(Some(FlowStep::End(End::Closed)));
                }
                Some(Followed::Spoken(spoken)) => self.hear(spoken),
                Some(Followed::Reset { position }) => self.position = position,
                Some(Followed::Event(happening)) => {
                    self.position = happening.position;
                    if let Some(event) = happening.event().session_event() {
                        self.take(event, happening.at).await?;
                    }
                }
            }
        }
    }

    fn is_ours(&self) -> bool {
        self.run.is_none() || self.current == self.run
    }

    fn hear(&mut self, spoken: Spoken) {
        if self.is_ours() {
            self.ready.extend(self.speech.hear(spoken));
        }
    }

    async fn take(&mut self, event: &SessionEvent, at: Timestamp) -> Result<(), Error> {
        if let SessionEvent::RunStarted { run } = event {
            self.current = Some(*run);
        }
        let ours = self.is_ours();
        match event {
            SessionEvent::RunPaused { .. }
            | SessionEvent::RunCompleted { .. }
            | SessionEvent::RunFailed { .. }
            | SessionEvent::RunCancelled { .. } => {
                let session = self.fresh().await?;
                self.known = session.version;
                self.rest = rest_of(&session, self.run);
                let cancelled = match event {
                    SessionEvent::RunCancelled { run } => Some(*run),
                    _ => None,
                };
                // It waited its turn, and never began.
                let unbegun = cancelled.filter(|run| self.current != Some(*run));
                if unbegun.is_some() && unbegun == self.run {
                    self.rest = Some(End::Cancelled);
                }
                // A turn that was being written when the run ended came to nothing.
                if ours && unbegun.is_none() {
                    self.ready.extend(self.speech.close());
                }
            }
            SessionEvent::RunResumed { .. } | SessionEvent::RunStarted { .. }
                if self.position >= self.known =>
            {
                self.rest = None;
            }
            _ => {}
        }
        if !ours {
            return Ok(());
        }
        let step = match event {
            SessionEvent::RunStarted { .. } => FlowStep::RunStarted,
            SessionEvent::RunPaused { .. } => FlowStep::Paused,
            SessionEvent::RunResumed { .. } => FlowStep::Resumed,
            SessionEvent::MessageAdded { message } => {
                return self.added(message).await;
            }
            SessionEvent::CallStarted { call, .. } => {
                self.begun.insert(*call, at);
                return Ok(());
            }
            SessionEvent::CallSettled { call, result } => {
                let session = self.fresh().await?;
                let Some(record) = session.calls.get(call) else { return Ok(()) };
                let asked = || session.hold_of(*call).map(|hold| hold.opened_at);
                let begun = self.begun.remove(call).or_else(asked).unwrap_or(at);
                let took_ms = at.as_ms().saturating_sub(begun.as_ms());
                FlowStep::Settled(Settled {
                    call: *call,
                    tool_use_id: record.tool_use_id.clone(),
                    tool: record.tool.clone(),
                    result: result.clone(),
                    took_ms: u64::try_from(took_ms).unwrap_or_default(),
                })
            }
            SessionEvent::Hold(HoldEvent::Opened { hold }) => FlowStep::HoldOpened(hold.clone()),
            SessionEvent::Hold(HoldEvent::Updated { hold, .. }) => match self.hold(*hold).await? {
                Some(hold) => FlowStep::HoldChanged(hold),
                None => return Ok(()),
            },
            SessionEvent::Hold(HoldEvent::Decided { hold, .. }) => match self.hold(*hold).await? {
                Some(hold) => FlowStep::HoldDecided(hold),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.ready.push_back(step);
        Ok(())
    }

    async fn added(&mut self, message: &Arc<Message>) -> Result<(), Error> {
        match message.role {
            Role::User => self.ready.push_back(FlowStep::Said { message: message.clone() }),
            // Each result was told when it was there.
            Role::Tool => {}
            Role::Assistant => {
                self.ready.extend(self.speech.whole(message));
                self.ready.push_back(FlowStep::Thought { message: message.clone() });
                let session = self.fresh().await?;
                for part in &message.parts {
                    if let Part::ToolCall { call, tool_use_id, tool, input } = part {
                        self.begun.insert(*call, message.at);
                        let input =
                            wire::call_input(*call, tool, input, &session, &self.app.engine);
                        self.ready.push_back(FlowStep::Called(Called {
                            call: *call,
                            tool_use_id: tool_use_id.clone(),
                            tool: tool.clone(),
                            input,
                            held: hold_of(&session, *call),
                        }));
                    }
                }
            }
        }
        Ok(())
    }

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<domain::hold::Hold>>, Error> {
        Ok(self.fresh().await?.holds.get(&id).cloned())
    }

    /// Whether everything that led there was told.
    pub(crate) fn has_reached(&self, session: &Session) -> bool {
        self.position >= session.version
    }

    /// As it is now: at least as new as what was just told.
    pub(crate) async fn fresh(&self) -> Result<Arc<Session>, Error> {
        self.app.engine.session(&self.caller, self.session).await
    }
}

fn hold_of(session: &Session, call: CallId) -> Option<HoldId> {
    session.hold_of(call).map(|hold| hold.id)
}
