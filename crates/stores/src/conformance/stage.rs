//! People, sessions and holds to try a store with. State is folded by the domain itself, so that
//! what a commit says and what its rows say agree, as they do in the engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::call::{Call, CallParts, ExecutionContext};
use domain::digest::Digest;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::grant::Grant;
use domain::hold::{CallOnHold, Hold, HoldOrigin, HoldState, Preview, Question, Risk, tag_of};
use domain::id::{CallId, CommitId, HoldId, MessageId, NodeId, RunId, SessionId, TokenId};
use domain::json::Arguments;
use domain::message::{Message, Origin, Part, Role};
use domain::person::{Actor, Audience, PersonId};
use domain::session::Session;
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place};
use ports::store::{Commit, SessionRow, StreamRows};
use serde_json::Value;

/// The process that the first opening of a store is.
pub fn node(number: u128) -> NodeId {
    NodeId::new(1, number)
}

pub fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(1_763_000_000_000 + ms)
}

pub fn person(name: &str) -> Actor {
    Actor::Person(PersonId::new(name))
}

pub fn program(number: u128, minted_by: Option<&str>) -> Actor {
    Actor::Program {
        token: TokenId::new(1, number),
        name: format!("program {number}"),
        minted_by: minted_by.map(PersonId::new),
    }
}

pub fn audience(people: &[&str], roles: &[&str]) -> Audience {
    Audience {
        people: people.iter().map(|id| PersonId::new(id)).collect(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect::<BTreeSet<_>>(),
        quorum: 1,
        exclude_requester: false,
        refuse_made_logins: false,
        login_makers: Default::default(),
    }
}

pub fn hold_id(number: u128) -> HoldId {
    HoldId::new(number as i64, number)
}

pub fn session_id(number: u128) -> SessionId {
    SessionId::new(number as i64, number)
}

pub fn call(session: Option<SessionId>, number: u128, arguments: &str) -> Arc<Call> {
    Arc::new(Call::fixed(CallParts {
        id: CallId::new(1, number),
        tool_use_id: format!("toolu_{number}"),
        agent: "ops".into(),
        session,
        tool: "sql_modify".into(),
        effects: Effects::Transactional,
        place: Place::Server,
        confirm: Confirm::Held,
        definition: Digest::of(b"definition"),
        arguments: Arguments::parse(arguments.as_bytes()).expect("sound arguments"),
        secrets: Vec::new(),
        context: ExecutionContext::default(),
        policy: Digest::of(b"policy"),
        revision: 1,
    }))
}

/// A pending question about a call, for the people given.
pub fn hold(id: HoldId, call: Option<Arc<Call>>, opener: Actor, audience: Audience) -> Hold {
    let asking = call.as_ref().and_then(|call| Some((call.session?, call.agent.clone())));
    let origin = match asking {
        Some((session, agent)) => HoldOrigin::Session { session, run: RunId::new(1, 1), agent },
        None => HoldOrigin::Program { callback: None },
    };
    Hold {
        id,
        version: 1,
        question: if call.is_some() { Question::Approve } else { Question::Fill { schema: None } },
        state: HoldState::Pending,
        risk: Risk::Medium,
        tag: tag_of(id),
        title: "Delete 214 rows from orders".into(),
        origin,
        parent: None,
        requester: opener.accountable().cloned(),
        opener,
        policy: Digest::of(b"policy"),
        call_on_hold: call.map(CallOnHold::new),
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: audience.into(),
        rule: Some("deletes need a dba".into()),
        opened_at: at(0),
        expires_at: Some(at(86_400_000)),
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}

pub fn user_message(number: u128, text: &str, at: Timestamp) -> Arc<Message> {
    Arc::new(Message {
        id: MessageId::new(1, number),
        role: Role::User,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts: vec![Part::Text(text.into())],
        at,
    })
}

/// The model's turn with one call in it.
pub fn turn(number: u128, call: &Call, at: Timestamp) -> Arc<Message> {
    let input = String::from_utf8_lossy(call.arguments.bytes()).into_owned();
    Arc::new(Message {
        id: MessageId::new(2, number),
        role: Role::Assistant,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts: vec![
            Part::Text("I will delete them.".into()),
            Part::ToolCall {
                call: call.id,
                tool_use_id: call.tool_use_id.clone(),
                tool: call.tool.clone(),
                input,
            },
        ],
        at,
    })
}

/// A commit that leaves these rows behind, and nothing else.
pub fn commit(rows: StreamRows, expected: u64, events: Vec<Event>, actor: Actor) -> Commit {
    // Any different id will do: nothing is looked up by it here.
    let bits =
        domain::digest::Digest::of(format!("{} {expected} {events:?}", rows.stream()).as_bytes());
    let random = bits.as_bytes()[..10].iter().fold(0u128, |sum, byte| (sum << 8) | *byte as u128);
    Commit {
        id: CommitId::new(1, random),
        rows,
        expected,
        global_version: None,
        events: events.into(),
        at: at(expected as i64),
        actor,
        reply: None,
        outbox: Vec::new(),
        write_before: None,
    }
}

/// The first and only commit of an external hold.
pub fn open_outside(hold: Hold) -> Commit {
    let (hold, opener) = (Arc::new(hold.clone()), hold.opener);
    let events = vec![Event::ExternalHold(HoldEvent::Opened { hold: hold.clone() })];
    commit(StreamRows::ExternalHold(hold), 0, events, opener)
}

/// One session on its way, and the commits that take it there.
#[derive(Clone)]
pub struct Stage {
    pub session: Session,
    node: NodeId,
}

impl Stage {
    pub fn new(id: SessionId, node: NodeId) -> Stage {
        Stage { session: Session::begin(id), node }
    }

    pub fn open(&mut self, creator: Actor) -> Commit {
        let opened = SessionEvent::SessionOpened {
            agent: "ops".into(),
            creator: creator.clone(),
            title: Some("Clean up".into()),
            metadata: Value::Null,
            home: None,
        };
        self.commit(vec![opened], creator)
    }

    /// A message, and the run that it starts.
    pub fn say(&mut self, number: u128) -> Commit {
        let run = RunId::new(1, self.session.id.0.random_part() << 16 | number);
        let events = vec![
            SessionEvent::RunStarted { run },
            SessionEvent::MessageAdded {
                message: user_message(number, "delete the old orders", self.now()),
            },
        ];
        let actor = self.session.creator.clone();
        self.commit(events, actor)
    }

    /// A turn with one call, which waits for these people.
    pub fn ask(&mut self, number: u128, id: HoldId, audience: Audience) -> Commit {
        let creator = self.session.creator.clone();
        self.ask_for(creator, number, id, audience)
    }

    /// The same, where somebody else than the session's creator opens the hold.
    pub fn ask_for(
        &mut self,
        opener: Actor,
        number: u128,
        id: HoldId,
        audience: Audience,
    ) -> Commit {
        let call = call(Some(self.session.id), number, r#"{"sql": "DELETE FROM orders"}"#);
        let mut asked = hold(id, Some(call.clone()), opener, audience);
        asked.opened_at = self.now();
        if let (HoldOrigin::Session { run, .. }, Some(latest)) =
            (&mut asked.origin, &self.session.run)
        {
            *run = latest.id;
        }
        let mut events = vec![
            SessionEvent::MessageAdded { message: turn(number, &call, self.now()) },
            SessionEvent::CallProposed { id: call.id, call, clearance: None },
            SessionEvent::Hold(HoldEvent::Opened { hold: Arc::new(asked) }),
        ];
        events.extend(self.session.run.as_ref().map(|run| SessionEvent::RunPaused { run: run.id }));
        self.commit(events, Actor::Runtime)
    }

    /// When the next commit will be made.
    fn now(&self) -> Timestamp {
        at(self.session.version as i64)
    }

    /// Applies the events, and says what they changed.
    pub fn commit(&mut self, events: Vec<SessionEvent>, actor: Actor) -> Commit {
        let before = self.session.clone();
        let at = at(before.version as i64);
        for event in &events {
            self.session.apply(event, at);
        }
        let after = &self.session;
        let is_new = |hold: &&Arc<Hold>| before.holds.get(&hold.id) != Some(hold);
        let is_new_grant = |grant: &&Arc<Grant>| before.grants.get(&grant.id) != Some(grant);
        let rows = StreamRows::Session {
            row: self.row().into(),
            holds: after.holds.values().filter(is_new).cloned().collect(),
            grants: after.grants.values().filter(is_new_grant).cloned().collect(),
        };
        let events = events.into_iter().map(Event::Session).collect();
        commit(rows, before.version, events, actor)
    }

    pub fn row(&self) -> SessionRow {
        row_of(&self.session, self.node)
    }
}

/// What lists show of a session.
pub fn row_of(session: &Session, owner: NodeId) -> SessionRow {
    SessionRow {
        id: session.id,
        agent: session.agent.clone(),
        creator: session.creator.clone(),
        title: session.title.clone(),
        home: session.home.clone(),
        run: session.run.as_ref().map(|run| (run.id, run.status())),
        opened_at: session.opened_at,
        changed_at: session.changed_at,
        owes: !session.pending_work().is_empty(),
        owner,
    }
}
