//! Evidence that nobody left: what each checker is to find, made up so that it must.

use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope};
use domain::call::{Call, Clearance, ExecutionContext, Proposal};
use domain::digest::Digest;
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::grant::{ClearedBy, Covers, Grant};
use domain::hold::{
    CallOnHold, Decision, Hold, HoldChange, HoldOrigin, HoldState, Preview, Question, Risk, Vote,
    tag_of,
};
use domain::id::{
    CallId, CommitId, GrantId, HoldId, MessageId, NodeId, RunId, SessionId, StreamId,
};
use domain::json::Arguments;
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::ToolResult;
use domain::person::{Actor, Audience, PersonId, Proof};
use domain::session::Session;
use domain::time::Timestamp;
use ports::store::{Commit, Entry, SessionRow, StreamRows};
use serde_json::{Value, json};

use super::{Checker, Evidence, streams_of};
use crate::rng::Rng;
use crate::sim::chat::{Platform, Pressed};
use crate::sim::crowd::Errand;
use crate::sim::records::{Effect, Records, Told, Word};
use crate::sim::settings::offered;
use crate::sim::world::World;

/// Until when the holds of these stories wait.
pub(super) const DEADLINE_MS: i64 = 1_000;

pub(super) struct Fabricated {
    world: Arc<World>,
    pub(super) records: Records,
    pub(super) journal: Vec<Entry>,
    pub(super) clocks_lied: bool,
    pub(super) is_over: bool,
}

/// Nothing has happened.
pub(super) fn story() -> Fabricated {
    Fabricated {
        world: World::new(Rng::new(0), false),
        records: Records::default(),
        journal: Vec::new(),
        clocks_lied: false,
        is_over: false,
    }
}

impl Fabricated {
    /// A commit of the session, at the moment 0.
    pub(super) fn then(self, events: impl Into<Vec<Event>>) -> Fabricated {
        self.at(0, StreamId::Session(session()), events)
    }

    pub(super) fn at(
        mut self,
        ms: i64,
        stream: StreamId,
        events: impl Into<Vec<Event>>,
    ) -> Fabricated {
        let events: Vec<Event> = events.into();
        let count = |entry: &Entry| entry.events.len() as u64;
        let earlier = self.journal.iter().filter(|entry| entry.stream == stream);
        let entry = Entry {
            id: CommitId::new(0, self.journal.len() as u128),
            stream,
            first: 1 + earlier.map(count).sum::<u64>(),
            global: 1 + self.journal.iter().map(count).sum::<u64>(),
            at: Timestamp::from_ms(ms),
            actor: Actor::Runtime,
            events: Arc::new(events),
        };
        self.journal.push(entry);
        self.records.written_at.push(ms as u64);
        self
    }

    pub(super) fn effect(mut self, effect: Effect) -> Fabricated {
        let journal = self.journal.len();
        self.records.effects.push(Effect { journal, ..effect });
        self
    }

    /// Asked for when there was nothing but the first `asked` commits, and answered now.
    pub(super) fn told(mut self, asked: usize, errand: Errand, what: Word) -> Fabricated {
        let journal = self.journal.len();
        self.records.told.push(Told { errand, asked, journal, what });
        self
    }

    pub(super) fn over(self) -> Fabricated {
        Fabricated { is_over: true, ..self }
    }

    pub(super) fn chats(self, change: impl FnOnce(&mut Platform)) -> Fabricated {
        change(&mut self.world.inside().platform);
        self
    }

    pub(super) fn pressed(self, pressed: Pressed) -> Fabricated {
        self.chats(|platform| platform.pressed.push(pressed))
    }

    /// Rows on disk, whatever the journal says.
    pub(super) fn rows(
        self,
        row: Option<SessionRow>,
        holds: &[&Hold],
        grants: &[&Grant],
    ) -> Fabricated {
        let holds = holds.iter().map(|hold| Arc::new((*hold).clone()));
        let rows: Vec<StreamRows> = match row {
            Some(row) => {
                let grants = grants.iter().map(|grant| Arc::new((*grant).clone())).collect();
                vec![StreamRows::Session { row: row.into(), holds: holds.collect(), grants }]
            }
            // Grants have no rows without their session.
            None => holds.map(StreamRows::ExternalHold).collect(),
        };
        for rows in rows {
            let commit = Commit {
                id: CommitId::new(1, 0),
                rows,
                expected: 0,
                global_version: None,
                events: Vec::new().into(),
                at: Timestamp::from_ms(0),
                actor: Actor::Runtime,
                reply: None,
                outbox: Vec::new(),
                write_before: None,
            };
            self.world.write(0, commit).expect("the disk takes it");
        }
        self
    }

    /// The session that the journal leads to.
    pub(super) fn folded(&self) -> Session {
        let mut folded = Session::begin(session());
        for entry in self.journal.iter().filter(|it| it.stream == StreamId::Session(session())) {
            let events = entry.events.iter().filter_map(Event::session_event);
            events.for_each(|event| folded.apply(event, entry.at));
        }
        folded
    }

    #[track_caller]
    pub(super) fn passes(self, checker: Checker) {
        assert_eq!(self.judged(checker), Ok(()));
    }

    #[track_caller]
    pub(super) fn breaks(self, checker: Checker, words: &str) {
        let found = self.judged(checker).expect_err(words);
        assert!(found.contains(words), "`{words}` was to be found, and `{found}` was");
    }

    fn judged(&self, checker: Checker) -> super::Verdict {
        checker(&Evidence {
            world: &self.world,
            records: &self.records,
            journal: self.journal.clone(),
            streams: streams_of(&self.journal),
            clocks_lied: self.clocks_lied,
            is_over: self.is_over,
        })
    }
}

// --- who and what

pub(super) fn session() -> SessionId {
    SessionId::new(0, 1)
}

pub(super) fn run() -> RunId {
    RunId::new(0, 1)
}

pub(super) fn node() -> NodeId {
    NodeId::new(0, 1)
}

pub(super) fn person(name: &str) -> PersonId {
    PersonId::new(name)
}

pub(super) fn call(tool: &str, n: u128) -> Arc<Call> {
    let tools = offered();
    let tool = tools.iter().find(|it| &*it.name == tool).expect("a tool of the simulation");
    let proposal = Proposal {
        id: CallId::new(0, n),
        tool_use_id: format!("toolu_{n}"),
        agent: "ops".into(),
        session: Some(session()),
        arguments: Arguments::from_value(json!({"n": n as u64})).expect("sound arguments"),
        context: ExecutionContext::default(),
        policy: Digest::of(b"policy"),
    };
    Arc::new(Call::propose(proposal, tool))
}

/// The same with other arguments.
pub(super) fn revised(call: &Call) -> Arc<Call> {
    let arguments = Arguments::from_value(json!({"n": 77})).expect("sound arguments");
    Arc::new(call.revised(arguments, call.context.clone(), call.definition, call.policy))
}

/// What a tool did; `Fabricated::effect` says when.
pub(super) fn effect(call: &Call, attempt: u32) -> Effect {
    Effect::of(call, attempt, node())
}

/// About a call, or a bare question of the session's run.
pub(super) fn hold(n: u128, question: Question, call: Option<&Arc<Call>>) -> Hold {
    let id = HoldId::new(0, n);
    Hold {
        id,
        version: 1,
        question,
        state: HoldState::Pending,
        risk: Risk::Medium,
        tag: tag_of(id),
        title: "may it?".into(),
        origin: HoldOrigin::Session { session: session(), run: run(), agent: "ops".into() },
        parent: None,
        opener: Actor::Person(person("ana")),
        requester: Some(person("ana")),
        call_on_hold: call.cloned().map(CallOnHold::new),
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: Arc::new(Audience {
            people: Default::default(),
            roles: ["dba".to_owned()].into(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            login_makers: Default::default(),
        }),
        rule: None,
        policy: Digest::of(b"policy"),
        opened_at: Timestamp::from_ms(0),
        expires_at: Some(Timestamp::from_ms(DEADLINE_MS)),
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}

/// For what an approval of this hold gave leave.
pub(super) fn grant(hold: &Hold, call: &Call, by: &str) -> Grant {
    Grant {
        id: GrantId::new(0, 1),
        session: session(),
        tool: call.tool.clone(),
        definition: call.definition,
        covers: Covers::Same(call.match_key()),
        by: person(by),
        hold: hold.id,
        made_at: Timestamp::from_ms(0),
        expires_at: Timestamp::from_ms(DEADLINE_MS),
        uses_left: 2,
        revoked: false,
    }
}

pub(super) fn yes() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
}

pub(super) fn no() -> Answer {
    Answer::Deny { reason: None, stop: false }
}

pub(super) fn vote(hold: &Hold, who: &str, answer: Answer) -> Arc<Vote> {
    Arc::new(Vote {
        answer,
        by: person(who),
        at: Timestamp::from_ms(0),
        via: "web".into(),
        proof: Proof::Login,
        digest: hold.digest(),
        view: Digest::of(b"view"),
    })
}

/// By all of these, of whom the last decides.
pub(super) fn by(hold: &Hold, voters: &[&str], answer: Answer) -> Decision {
    let last = voters.last().expect("somebody votes");
    Decision::People {
        vote: vote(hold, last, answer),
        voters: voters.iter().map(|who| person(who)).collect(),
    }
}

pub(super) fn approved(hold: &Hold, voters: &[&str]) -> HoldState {
    HoldState::Approved(by(hold, voters, yes()))
}

pub(super) fn denied(hold: &Hold, who: &str) -> HoldState {
    HoldState::Denied(by(hold, &[who], no()))
}

// --- what happened

pub(super) fn opened_by(creator: &str) -> Event {
    Event::Session(SessionEvent::SessionOpened {
        agent: "ops".into(),
        creator: Actor::Person(person(creator)),
        title: Some("session 1".into()),
        metadata: Value::Null,
        home: None,
    })
}

pub(super) fn proposed(call: &Arc<Call>, by: Option<ClearedBy>) -> Event {
    let at = Timestamp::from_ms(0);
    let clearance = by.map(|by| Clearance { by, at, execute_by: at.plus_ms(1_000) });
    Event::Session(SessionEvent::CallProposed { id: call.id, call: call.clone(), clearance })
}

pub(super) fn held(hold: &Hold) -> Event {
    of_hold(hold, HoldEvent::Opened { hold: Arc::new(hold.clone()) })
}

pub(super) fn decided(hold: &Hold, state: HoldState) -> Event {
    of_hold(hold, HoldEvent::Decided { hold: hold.id, state })
}

pub(super) fn updated(hold: &Hold, change: HoldChange) -> Event {
    of_hold(hold, HoldEvent::Updated { hold: hold.id, change })
}

/// In the stream that the hold belongs to.
fn of_hold(hold: &Hold, event: HoldEvent) -> Event {
    match hold.session() {
        Some(_) => Event::Session(SessionEvent::Hold(event)),
        None => Event::ExternalHold(event),
    }
}

pub(super) fn started(call: &Call, attempt: u32) -> Event {
    Event::Session(SessionEvent::CallStarted { call: call.id, attempt, node: node() })
}

pub(super) fn settled(call: &Call, said: &str) -> Event {
    Event::Session(SessionEvent::CallSettled { call: call.id, result: ToolResult::output(said) })
}

pub(super) fn frozen() -> Event {
    Event::Global(GlobalEvent::Frozen {
        by: Actor::Person(person("root")),
        reason: "an incident".into(),
    })
}

pub(super) fn thawed() -> Event {
    Event::Global(GlobalEvent::Thawed { by: Actor::Person(person("root")) })
}

pub(super) fn message(n: u128, role: Role, parts: Vec<Part>) -> Arc<Message> {
    let at = Timestamp::from_ms(0);
    let id = MessageId::new(0, n);
    Arc::new(Message {
        id,
        role,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts,
        at,
    })
}

pub(super) fn said(n: u128, role: Role, text: &str) -> Event {
    Event::Session(SessionEvent::MessageAdded {
        message: message(n, role, vec![Part::Text(text.to_owned())]),
    })
}
