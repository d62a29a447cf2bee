//! A hold to show.

use std::collections::BTreeSet;

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
use ports::channel::{DeliveryKey, Nonce, Showing};
use serde_json::{Value, json};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_ms(1_763_172_180_000).plus_ms(seconds * 1000)
}

/// `DELETE FROM orders`, which Ana is asked about.
pub fn hold() -> Hold {
    let id = HoldId::new(at(0).as_ms(), 7);
    let effects = Effects::AtMostOnce;
    let tool = Tool::new("sql_modify", "", json!({}), effects, Place::Server, "shop");
    let tool = tool.expect("a tool");
    let policy = Digest::of(b"policy");
    let arguments = json!({"sql": "DELETE FROM orders\nWHERE status = 'abandoned' <at id=all>"});
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
        risk: Risk::High,
        tag: tag_of(id),
        title: "Delete 214 rows from orders?".into(),
        origin: HoldOrigin::RunningCall { agent: "ops".into() },
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

/// The same, approved by Ana.
pub fn approved() -> Hold {
    let mut hold = hold();
    let by = PersonId::new("ana");
    let vote = Vote {
        answer: Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
        by: by.clone(),
        at: at(5),
        via: "web".into(),
        proof: Proof::Login,
        digest: hold.digest(),
        view: domain::view::digest(&hold),
    };
    hold.decided(HoldState::Approved(Decision::People { vote: vote.into(), voters: vec![by] }));
    hold
}

pub fn people() -> People {
    People::new([Person {
        id: PersonId::new("ana"),
        name: "Ana".into(),
        roles: Default::default(),
        identities: Default::default(),
    }])
}

/// Shows a hold under the key `7Q2`, to `body`.
pub async fn prompt<T>(hold: &Hold, body: impl AsyncFnOnce(&Showing<'_>) -> T) -> T {
    prompt_that(true, hold, body).await
}

/// The same, where something else `stands` so far.
pub async fn prompt_that<T>(
    stands: bool,
    hold: &Hold,
    body: impl AsyncFnOnce(&Showing<'_>) -> T,
) -> T {
    let (people, key, nonce) = (people(), DeliveryKey::new("7Q2"), Nonce::new("k3x9ab"));
    let showing = Showing {
        hold,
        people: &people,
        key: &key.expect("a key"),
        nonce: &nonce.expect("a nonce"),
        link: Some("https://hold.example.org/#/hold/x"),
        words_answer: true,
        code: Some("7K3F"),
        armed: false,
        processing: false,
        stands,
    };
    body(&showing).await
}
