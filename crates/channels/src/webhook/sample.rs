//! Holds for the tests of this folder.

use std::collections::BTreeSet;

use domain::answer::{Answer, ApprovalScope};
use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::hold::{
    CallOnHold, Callback, Decision, Hold, HoldOrigin, HoldState, Preview, Question, Risk, Vote,
    tag_of,
};
use domain::id::{CallId, HoldId};
use domain::json::Arguments;
use domain::person::{Actor, Audience, PersonId, Proof};
use domain::time::Timestamp;
use domain::tool::{Effects, Place, Tool};
use serde_json::{Value, json};

pub(crate) const SECRET_ENV: &str = "CI_CALLBACK_SECRET";

/// So many seconds after the sample was opened.
pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_ms(1_763_172_180_000).plus_ms(seconds * 1000)
}

pub(crate) fn hold() -> Hold {
    gating(json!({}), json!({"tag": "1.4"}))
}

pub(crate) fn hold_with_secret(secret: &str) -> Hold {
    let schema = json!({"properties": {"token": {"writeOnly": true}}});
    gating(schema, json!({"tag": "1.4", "token": secret}))
}

pub(crate) fn hold_with_arguments(arguments: Value) -> Hold {
    gating(json!({}), arguments)
}

fn gating(schema: Value, arguments: Value) -> Hold {
    let id = HoldId::new(at(0).as_ms(), 7);
    let tool = Tool::new("deploy", "", schema, Effects::AtMostOnce, Place::Client, "ci").unwrap();
    let policy = Digest::of(b"policy");
    let proposal = Proposal {
        id: CallId(id.0),
        tool_use_id: id.to_string(),
        agent: "ci".into(),
        session: None,
        arguments: Arguments::from_value(arguments).unwrap(),
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
        title: "Ship 1.4".into(),
        origin: HoldOrigin::Program { callback: None },
        parent: None,
        opener: Actor::Runtime,
        requester: None,
        call_on_hold: Some(CallOnHold::new(Call::propose(proposal, &tool))),
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: Audience {
            people: [PersonId::new("ana")].into(),
            roles: BTreeSet::new(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            login_makers: Default::default(),
        }
        .into(),
        rule: None,
        policy,
        opened_at: at(0),
        expires_at: Some(at(3600)),
        claimed_by: None,
        votes: Vec::new(),
        comments: Vec::new(),
        two_phase: false,
    }
}

pub(crate) fn approve(arguments: Option<Arguments>) -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments, note: None }
}

pub(crate) fn decided(mut hold: Hold, answer: Answer) -> Hold {
    let by = PersonId::new("ana");
    let vote = Vote {
        answer,
        by: by.clone(),
        at: at(5),
        via: "web".into(),
        proof: Proof::Login,
        digest: hold.digest(),
        view: domain::view::digest(&hold),
    };
    let state = match &vote.answer {
        Answer::Approve { .. } => HoldState::Approved,
        Answer::Deny { .. } => HoldState::Denied,
        _ => HoldState::Answered,
    };
    hold.decided(state(Decision::People { vote: vote.into(), voters: vec![by] }));
    hold
}

/// Decided, and somebody wants to hear of it.
pub(crate) fn hold_for(url: &str) -> Hold {
    let mut hold = decided(hold_with_secret("hunter2"), approve(None));
    let callback = Callback { url: url.into(), secret_env: SECRET_ENV.into() };
    hold.origin = HoldOrigin::Program { callback: Some(callback) };
    hold
}

/// It is always the moment at which the samples were opened.
pub(crate) struct Still;

#[async_trait::async_trait]
impl ports::clock::Clock for Still {
    fn now(&self) -> Timestamp {
        at(0)
    }

    async fn sleep(&self, _: std::time::Duration) {}
}
