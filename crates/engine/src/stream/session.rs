//! The stream of a session.

use std::sync::Arc;

use domain::context::Context;
use domain::event::{HoldEvent, SessionEvent};
use domain::hold::{Hold, Question};
use domain::id::{HoldId, SessionId, StreamId};
use domain::refusal::Refusal;
use domain::session::{Command, Session, SessionReply};
use ports::durable::Durable;
use ports::store::{Entry, SessionRow, StreamRows};

use super::{DecisionBasis, Rows, Stream, StreamDecision};
use crate::Engine;
use crate::calls::changed_tools::ToolRechecks;
use crate::lane::lanes::Lanes;

pub(crate) enum SessionCommand<'a> {
    /// With its first events.
    Open(Vec<SessionEvent>),
    Do {
        command: &'a Command,
        /// What hosts of changed tools said about its calls.
        rechecks: &'a ToolRechecks,
    },
}

impl Stream for Session {
    type Id = SessionId;
    type Command<'a> = SessionCommand<'a>;
    type Reply = SessionReply;

    fn lanes(engine: &Engine) -> &Arc<Lanes<Session>> {
        &engine.0.sessions
    }

    fn stream_id(id: SessionId) -> StreamId {
        StreamId::Session(id)
    }

    fn hold_ids(&self, known: usize) -> impl Iterator<Item = HoldId> {
        self.holds.keys().rev().take(self.holds.len().saturating_sub(known)).copied()
    }

    fn hold_count(&self) -> usize {
        self.holds.len()
    }

    fn hold(&self, id: HoldId) -> Option<&Arc<Hold>> {
        self.holds.get(&id)
    }

    fn decide(
        engine: &Engine,
        id: SessionId,
        before: Option<&Arc<Session>>,
        command: &SessionCommand<'_>,
        basis: &DecisionBasis,
    ) -> StreamDecision<Session> {
        match (command, before) {
            (SessionCommand::Open(events), None) => {
                let decided = Some(Session::open(id, events.clone(), basis.now));
                StreamDecision { decided, reply: Ok(SessionReply::Done) }
            }
            (SessionCommand::Open(_), Some(_)) => StreamDecision::refused(Refusal::Overtaken),
            (SessionCommand::Do { .. }, None) => {
                StreamDecision::refused(Refusal::NotFound { what: "session" })
            }
            (SessionCommand::Do { command, rechecks }, Some(session)) => {
                engine.decide(session, command, rechecks, basis)
            }
        }
    }

    async fn before_commit(engine: &Engine, events: &[SessionEvent], next: &Session) {
        if starts_calls(events) {
            // By its address: most commands start nothing.
            Box::pin(engine.announce_starts(events, next)).await;
        }
    }

    fn rows(
        engine: &Engine,
        before: Option<&Session>,
        events: &[SessionEvent],
        next: &Arc<Session>,
        basis: &DecisionBasis,
    ) -> Rows {
        let (holds, grants) = match before {
            Some(before) => (
                next.holds.changed_since(&before.holds).cloned().collect(),
                next.grants.changed_since(&before.grants).cloned().collect(),
            ),
            // A session opens without any.
            None => (Vec::new(), Vec::new()),
        };
        Rows {
            // What is decided while all is frozen waits for the thaw; a thaw meanwhile has passed it by.
            // mutant: freeze-of-another-node-ignored
            relies_on_global: starts_calls(events)
                || asks_to_perform(events)
                || basis.global.frozen.is_some(),
            stream: StreamRows::Session {
                row: SessionRow::of(next, engine.0.node).into(),
                holds,
                grants,
            },
            // Chats are told by the follower of the log (`chat/follow.rs`).
            outbox: Vec::new(),
            write_before: engine.write_before(next, events),
        }
    }

    fn tell_story(&self, entry: &Entry) {
        crate::lane::story::tell_session(entry, self);
    }

    fn follow_up(engine: &Engine, next: &Durable<Session>, _: &Entry) {
        engine.0.timers.note(next.due_at());
        engine.dispatch(next);
    }

    fn resume(engine: &Engine, newest: &Durable<Session>) {
        engine.dispatch(newest);
    }
}

impl Engine {
    fn decide(
        &self,
        session: &Arc<Session>,
        command: &Command,
        rechecks: &ToolRechecks,
        basis: &DecisionBasis,
    ) -> StreamDecision<Session> {
        let tools = self.0.tools.now();
        let renewals = rechecks.of(session, &tools);
        let agent = self.0.agents.get(&session.agent);
        let tool_of = |name: &str| tools.tool(name);
        let rng = || self.0.rng.bits();
        let may_begin = self.0.store.may_begin();
        let context = Context {
            now: basis.now,
            node: self.0.node,
            frozen: basis.global.frozen.as_ref().map(|freeze| freeze.reason.as_str()),
            people: &self.0.people,
            policy: &self.0.policy,
            // A start that the gate would refuse would be taken back, and made again at once.
            closing: self.0.closing.has_begun() || !may_begin,
            tool_of: &tool_of,
            renewals: &renewals,
            run_as_decided: agent.is_some_and(|agent| agent.run_as_decided),
            budgets: agent.map(|agent| agent.budgets).unwrap_or_default(),
            while_pending: agent.map(|agent| agent.while_pending).unwrap_or_default(),
            expires_ms: self.expires_ms(session.home.as_ref()),
            rng: &rng,
        };
        let (decided, reply) = session.decide_shared(command, &context);
        if !may_begin && decided.next().pending_work_iter().next().is_some() {
            self.wake_when_leased(session.id);
        }
        StreamDecision { decided: Some(decided), reply }
    }
}

/// A call that a client runs begins when it is shown.
fn asks_to_perform(events: &[SessionEvent]) -> bool {
    events.iter().any(|event| match event {
        SessionEvent::Hold(HoldEvent::Opened { hold }) => {
            matches!(hold.question, Question::Perform { .. })
        }
        _ => false,
    })
}

fn starts_calls(events: &[SessionEvent]) -> bool {
    events.iter().any(|event| matches!(event, SessionEvent::CallStarted { .. }))
}
