//! Holds as channels show them, for tests that need no engine.

use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope};
use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::hold::{
    CallOnHold, Decision, Hold, HoldOrigin, HoldState, Preview, Question, Risk, Vote, tag_of,
};
use domain::id::{CallId, HoldId};
use domain::json::Arguments;
use domain::person::{Actor, Audience, People, Person, PersonId, Proof};
use domain::time::Timestamp;
use domain::tool::{Effects, Place, Tool};
use ports::channel::{DeliveryKey, MessageRef, Nonce, Redraw, Showing};
use serde_json::{Value, json};

/// A hold in one place, as a channel is told to show it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub hold: Hold,
    pub people: People,
    pub key: DeliveryKey,
    pub nonce: Nonce,
    pub link: Option<String>,
}

impl Asked {
    /// "Delete 214 rows from orders?"
    pub fn deletion() -> Asked {
        let mut hold = gating(json!({"sql": "DELETE FROM orders\nWHERE status = 1"}));
        hold.title = "Delete 214 rows from orders?".into();
        Asked::of(hold)
    }

    /// A call whose arguments have so many bytes.
    pub fn long(bytes: usize) -> Asked {
        Asked::of(gating(json!({"sql": "x\n".repeat(bytes / 2)})))
    }

    pub fn question(question: Question) -> Asked {
        let mut hold = gating(json!({}));
        hold.call_on_hold = None;
        hold.title = "Which strategy?".into();
        hold.question = question;
        Asked::of(hold)
    }

    fn of(hold: Hold) -> Asked {
        let ana = Person {
            id: PersonId::new("ana"),
            name: "Ana".into(),
            roles: Default::default(),
            identities: Default::default(),
        };
        let link = Some(format!("https://hold.example.org/#/hold/{}", hold.id));
        Asked {
            hold,
            people: People::new([ana]),
            key: DeliveryKey::new("7Q2").expect("a key"),
            nonce: Nonce::new("k3x9ab").expect("a nonce"),
            link,
        }
    }

    /// The same, under another key.
    pub fn keyed(mut self, key: &str) -> Asked {
        self.key = DeliveryKey::new(key).expect("a key");
        self
    }

    /// Opened then.
    pub fn opened(mut self, at: Timestamp) -> Asked {
        self.hold.opened_at = at;
        self
    }

    pub fn showing(&self) -> Showing<'_> {
        Showing {
            hold: &self.hold,
            people: &self.people,
            key: &self.key,
            nonce: &self.nonce,
            link: self.link.as_deref(),
            words_answer: true,
            code: None,
            armed: false,
            processing: false,
            stands: true,
        }
    }

    /// Ana said yes.
    pub fn approved(mut self) -> Asked {
        let by = PersonId::new("ana");
        let vote = Vote {
            answer: Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
            by: by.clone(),
            at: self.hold.opened_at.plus_ms(5_000),
            via: "chat".into(),
            proof: Proof::Login,
            digest: self.hold.digest(),
            view: domain::view::digest(&self.hold),
        };
        self.hold
            .decided(HoldState::Approved(Decision::People { vote: vote.into(), voters: vec![by] }));
        self
    }

    pub fn redraw(&self, posted: &MessageRef) -> Box<Redraw> {
        Box::new(Redraw {
            hold: Arc::new(self.hold.clone()),
            people: Arc::new(self.people.clone()),
            key: self.key.clone(),
            nonce: self.nonce.clone(),
            link: self.link.clone(),
            words_answer: true,
            code: None,
            armed: false,
            posted: posted.clone(),
        })
    }
}

fn gating(arguments: Value) -> Hold {
    let at = Timestamp::from_ms(1_794_700_000_000);
    let id = HoldId::new(at.as_ms(), 7);
    let tool = Tool::new("sql_modify", "", json!({}), Effects::AtMostOnce, Place::Client, "shop");
    let policy = Digest::of(b"policy");
    let proposal = Proposal {
        id: CallId(id.0),
        tool_use_id: id.to_string(),
        agent: "ops".into(),
        session: None,
        arguments: Arguments::from_value(arguments).expect("arguments"),
        context: Default::default(),
        policy,
    };
    Hold {
        id,
        version: 1,
        question: Question::Approve,
        state: HoldState::Pending,
        risk: Risk::Medium,
        tag: tag_of(id),
        title: "Run it?".into(),
        origin: HoldOrigin::RunningCall { agent: "ops".into() },
        parent: None,
        opener: Actor::Runtime,
        requester: None,
        call_on_hold: Some(CallOnHold::new(Call::propose(proposal, &tool.expect("a tool")))),
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: Audience {
            people: [PersonId::new("ana")].into(),
            roles: Default::default(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            login_makers: Default::default(),
        }
        .into(),
        rule: None,
        policy,
        opened_at: at,
        expires_at: Some(at.plus_ms(300_000)),
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}
