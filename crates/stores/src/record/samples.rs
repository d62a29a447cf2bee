//! One of everything that can be on disk, with every field used somewhere.

use std::sync::Arc;

use domain::answer::{Answer, GrantTerms, Scope, Settlement};
use domain::call::{Call, CallParts, Clearance, ExecutionContext};
use domain::digest::Digest;
use domain::event::{Event, Scope as TokenScope, Token, TokenOwner};
use domain::grant::{ClearedBy, Covers, Grant};
use domain::hold::{
    Callback, Choice, Decision, Hold, HoldChange, HoldOutcome, HoldState, Preview, Question, Risk,
    Vote,
};
use domain::id::{
    CallId, CommitId, GrantId, HoldId, MessageId, NodeId, RunId, SessionId, StreamId, TokenId,
};
use domain::json::Arguments;
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::{ResultKind, ToolResult};
use domain::person::{Actor, Audience, PersonId, Proof};
use domain::policy::{ConditionSpec, Conditions, Op};
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place};
use ports::store::Commit;
use serde_json::{Value, json};

const MS: i64 = 1_763_172_180_007;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(MS + seconds * 1_000)
}

const SESSION: SessionId = SessionId(domain::id::Bits(0x019a_84f0_0007_1111_2222_3333_4444_5555));
const HOLD: HoldId = HoldId(domain::id::Bits(0x019a_84f0_0007_aaaa_bbbb_cccc_dddd_eeee));
const RUN: RunId = RunId(domain::id::Bits(0x019a_84f0_0007_0000_0000_0000_0000_0001));
const CALL: CallId = CallId(domain::id::Bits(0x019a_84f0_0007_0000_0000_0000_0000_0002));
const NODE: NodeId = NodeId(domain::id::Bits(0x019a_84f0_0007_0000_0000_0000_0000_0003));

fn ana() -> PersonId {
    PersonId::new("ana")
}

fn person() -> Actor {
    Actor::Person(ana())
}

fn program() -> Actor {
    Actor::Program { token: TokenId::new(MS, 4), name: "ci".into(), minted_by: Some(ana()) }
}

fn arguments(text: &str) -> Arguments {
    Arguments::parse(text.as_bytes()).unwrap()
}

fn parts() -> CallParts {
    CallParts {
        id: CALL,
        tool_use_id: "toolu_01".into(),
        agent: "ops".into(),
        session: Some(SESSION),
        tool: "sql_modify".into(),
        effects: Effects::Transactional,
        place: Place::Server,
        confirm: Confirm::Held,
        definition: Digest::of(b"a tool"),
        arguments: arguments(r#"{ "sql": "DELETE FROM orders WHERE status=1", "é": 1.50 }"#),
        secrets: Vec::new(),
        context: ExecutionContext {
            detail: "on orders.db, at most 30 s".into(),
            working_directory: Some("/srv".into()),
        },
        policy: Digest::of(b"a policy"),
        revision: 1,
    }
}

fn call() -> Arc<Call> {
    Arc::new(Call::fixed(parts()))
}

/// Everything that is seldom there.
fn rare_call() -> Arc<Call> {
    Arc::new(Call::fixed(CallParts {
        id: CallId::new(MS, 5),
        session: None,
        effects: Effects::AtMostOnce,
        place: Place::Client,
        confirm: Confirm::TwoPhase,
        arguments: arguments(r#"{"password":"hunter2"}"#),
        secrets: vec!["/password".into()],
        context: ExecutionContext::default(),
        revision: 3,
        ..parts()
    }))
}

fn audience() -> Audience {
    Audience {
        people: [ana()].into(),
        roles: ["dba".to_owned()].into(),
        quorum: 2,
        exclude_requester: true,
    }
}

fn vote(answer: Answer, proof: Proof) -> Vote {
    Vote {
        answer,
        by: ana(),
        at: at(60),
        via: "web".into(),
        proof,
        digest: call().digest(),
        view: Digest::of(b"what she saw"),
    }
}

fn approve() -> Answer {
    Answer::Approve { scope: Scope::Once, arguments: None, note: None }
}

fn conditions() -> Conditions {
    Conditions::compile(vec![
        ConditionSpec { pointer: "/amount".into(), op: Op::AtMost(500.into()) },
        ConditionSpec { pointer: "/to".into(), op: Op::In(vec![json!("a"), json!(null)]) },
        ConditionSpec { pointer: "/path".into(), op: Op::Glob("/srv/**".into()) },
        ConditionSpec { pointer: "/force".into(), op: Op::Exists(false) },
        ConditionSpec { pointer: "/name".into(), op: Op::Equals(json!("x")) },
    ])
    .unwrap()
}

fn pending() -> Hold {
    Hold {
        id: HOLD,
        version: 1,
        question: Question::Approve,
        state: HoldState::Pending,
        risk: Risk::Medium,
        tag: domain::hold::tag_of(HOLD),
        title: "Delete 214 rows from orders".into(),
        agent: Some("ops".into()),
        session: Some(SESSION),
        run: Some(RUN),
        parent: None,
        opener: person(),
        requester: Some(ana()),
        call: Some(call()),
        preview: Preview {
            summary: Some("214 rows".into()),
            rows: Some(214),
            diff: Some("-1\n+2".into()),
            warnings: vec!["no WHERE".into()],
        },
        context: json!({"ticket": 7}),
        rationale: Some("they are old".into()),
        audience: audience(),
        rule: Some("deletes need a dba".into()),
        policy: Digest::of(b"a policy"),
        opened_at: at(0),
        expires_at: Some(at(86_400)),
        claimed_by: None,
        votes: Vec::new(),
        two_phase: false,
        outcome: None,
        callback: None,
    }
}

/// A question of an outside program that gates no call.
fn choice() -> Hold {
    Hold {
        question: Question::Choose {
            options: vec![
                Choice { id: "1".into(), label: "Blue-Green".into(), description: None },
                Choice { id: "2".into(), label: "Canary".into(), description: Some("5 %".into()) },
            ],
            multiple: true,
            allow_other: true,
        },
        risk: Risk::Critical,
        tag: "XYZ".into(),
        agent: None,
        session: None,
        run: None,
        parent: Some(HoldId::new(MS, 6)),
        opener: program(),
        requester: None,
        call: None,
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: Audience { people: [ana()].into(), roles: [].into(), quorum: 1, exclude_requester: false },
        rule: None,
        expires_at: None,
        claimed_by: Some(ana()),
        two_phase: true,
        callback: Some(Callback { url: "https://example.com/h".into(), secret_env: "HOOK".into() }),
        ..pending()
    }
}

fn approved() -> HoldState {
    HoldState::Approved(Decision::People {
        vote: vote(approve(), Proof::Login),
        voters: vec![ana(), PersonId::new("bob")],
    })
}

pub(super) fn holds() -> Vec<(&'static str, Hold)> {
    let mut decided = pending();
    decided.votes = vec![vote(
        Answer::Deny { reason: Some("not now".into()), stop: true },
        Proof::Token(TokenId::new(MS, 4)),
    )];
    decided.decided(approved());
    decided.outcome = Some(HoldOutcome::Succeeded(ToolResult::output("214 rows")));
    let mut fill = choice();
    fill.question = Question::Fill { schema: Some(json!({"type": "object"})) };
    fill.state = HoldState::Expired { at: at(5) };
    let mut perform = pending();
    perform.question = Question::Perform { deny_values: vec!["no".into()] };
    perform.call = Some(rare_call());
    perform.policy = Digest::of(b"another policy");
    perform.outcome = Some(HoldOutcome::Failed(ToolResult::error("gone")));
    perform.state =
        HoldState::Cancelled { by: program(), reason: Some("superseded".into()), at: at(9) };
    let mut settle = pending();
    settle.question = Question::Settle;
    settle.outcome = Some(HoldOutcome::Unknown);
    settle.risk = Risk::High;
    vec![
        ("hold_pending", pending()),
        ("hold_approved", decided),
        ("hold_choose", choice()),
        ("hold_fill", fill),
        ("hold_perform", perform),
        ("hold_settle", settle),
    ]
}

pub(super) fn grants() -> Vec<(&'static str, Grant)> {
    let same = Grant {
        id: GrantId::new(MS, 8),
        session: SESSION,
        tool: "sql_modify".into(),
        definition: Digest::of(b"a tool"),
        covers: Covers::Same(call().match_key()),
        by: ana(),
        hold: HOLD,
        made_at: at(60),
        expires_at: at(3_660),
        uses_left: 99,
        revoked: false,
    };
    let stated = Grant { covers: Covers::Stated(conditions()), revoked: true, ..same.clone() };
    vec![("grant_same", same), ("grant_stated", stated)]
}

fn message(number: u128, role: Role, parts: Vec<Part>) -> Arc<Message> {
    let id = MessageId::new(MS, number);
    Arc::new(Message { id, role, origin: Origin::Own, parts, at: at(1) })
}

fn turn_of(call: &Call) -> Arc<Message> {
    message(
        2,
        Role::Assistant,
        vec![
            Part::Reasoning { text: "hm".into(), opaque: Some("c2ln".into()) },
            Part::Text("I will delete them.".into()),
            Part::ToolCall {
                call: call.id,
                tool_use_id: call.tool_use_id.clone(),
                tool: call.tool.clone(),
                input: String::from_utf8(call.arguments.bytes().to_vec()).unwrap(),
            },
        ],
    )
}

pub(super) fn rows() -> Vec<(&'static str, Commit)> {
    let session: Vec<(&'static str, Vec<Event>)> = [opening(), calls(), deciding(), ending()].concat();
    let session = session
        .into_iter()
        .map(|(name, events)| (name, row(StreamId::Session(SESSION), person(), events)));
    let outside = [("outside_hold", vec![Event::HoldOpened { hold: Arc::new(choice()) }])]
        .into_iter()
        .map(|(name, events)| (name, row(StreamId::Outside(HOLD), program(), events)));
    let house = house()
        .into_iter()
        .map(|(name, events)| (name, row(StreamId::House, Actor::Runtime, events)));
    session.chain(outside).chain(house).collect()
}

fn row(stream: StreamId, actor: Actor, events: Vec<Event>) -> Commit {
    Commit {
        id: CommitId::new(MS, 9),
        stream,
        expected: 41,
        house: None,
        events,
        at: at(1),
        actor,
        session: None,
        holds: Vec::new(),
        grants: Vec::new(),
        reply: None,
        deliveries: Vec::new(),
    }
}

type Named = (&'static str, Vec<Event>);

fn opening() -> Vec<Named> {
    let said = message(1, Role::User, vec![Part::Text("delete the old orders\n\u{202e}".into())]);
    let decided = Arc::new(Message {
        origin: Origin::Runtime,
        ..(*message(3, Role::User, vec![Part::Text("Ana approved it.".into())])).clone()
    });
    let opened = |title: Option<&str>, metadata| Event::SessionOpened {
        agent: "ops".into(),
        creator: program(),
        title: title.map(str::to_owned),
        metadata,
    };
    vec![
        ("session_opened", vec![opened(Some("Clean up"), json!({"from": "cron", "n": 1.5}))]),
        ("session_opened_bare", vec![opened(None, Value::Null)]),
        ("message_queued", vec![Event::MessageQueued { message: said.clone(), run: RUN, join: true }]),
        ("message", vec![Event::RunStarted { run: RUN }, Event::MessageAdded { message: said }]),
        ("message_by_runtime", vec![Event::MessageAdded { message: decided }]),
    ]
}

fn calls() -> Vec<Named> {
    let clearance = |by| Some(Clearance { by, at: at(1), execute_by: at(86_401) });
    let proposed = |call: &Arc<Call>, clearance| Event::CallProposed {
        id: call.id,
        call: call.clone(),
        clearance,
    };
    let result = Part::ToolResult {
        call: CALL,
        tool_use_id: "toolu_01".into(),
        tool: "sql_modify".into(),
        result: ToolResult { content: "Denied".into(), is_error: true, kind: ResultKind::Denied },
    };
    vec![
        (
            "turn",
            vec![
                Event::MessageAdded { message: turn_of(&call()) },
                proposed(&call(), None),
                Event::HoldOpened { hold: Arc::new(pending()) },
                Event::RunPaused { run: RUN },
            ],
        ),
        ("call_by_rule", vec![proposed(&call(), clearance(ClearedBy::Rule(Some("reads".into()))))]),
        ("call_by_default", vec![proposed(&rare_call(), clearance(ClearedBy::Rule(None)))]),
        ("call_by_grant", vec![proposed(&call(), clearance(ClearedBy::Grant(GrantId::new(MS, 8))))]),
        (
            "call_confirmed",
            vec![Event::CallProposed {
                id: CallId::new(MS, 10),
                call: rare_call(),
                clearance: clearance(ClearedBy::People(HOLD)),
            }],
        ),
        (
            "call_malformed",
            vec![Event::CallMalformed { call: CALL, tool_use_id: "toolu_01".into(), tool: "no_such".into() }],
        ),
        ("call_started", vec![Event::CallStarted { call: CALL, attempt: 2, node: NODE }]),
        (
            "call_in_doubt",
            vec![Event::CallInDoubt { call: CALL, evidence: "pid 7 is gone".into(), settle: HOLD }],
        ),
        ("call_settled", vec![Event::CallSettled { call: CALL, result: ToolResult::output("214 rows") }]),
        ("results", vec![Event::MessageAdded { message: message(4, Role::Tool, vec![result]) }]),
    ]
}

fn deciding() -> Vec<Named> {
    let updated = |change| vec![Event::HoldUpdated { hold: HOLD, change }];
    let answered = |answer, proof| {
        let vote = vote(answer, proof);
        let decision = Decision::People { voters: vec![vote.by.clone()], vote };
        vec![Event::HoldDecided { hold: HOLD, state: HoldState::Answered(decision) }]
    };
    let channel = || Proof::Channel { name: "feishu".into(), message: "om_1".into() };
    let edited = Answer::Approve {
        scope: Scope::Session(GrantTerms {
            expires_in_ms: Some(3_600_000),
            uses: Some(5),
            conditions: Some(conditions()),
        }),
        arguments: Some(arguments(r#"{"sql":"SELECT 1"}"#)),
        note: Some("smaller".into()),
    };
    let revised = call().revised(
        arguments(r#"{"sql":"SELECT 1"}"#),
        ExecutionContext::default(),
        Digest::of(b"a tool"),
        Digest::of(b"a policy"),
    );
    let automatic = Decision::Automatic { allowed: false, by: ClearedBy::Rule(None), at: at(2) };
    let deny = Answer::Deny { reason: None, stop: false };
    vec![
        ("hold_voted", updated(HoldChange::Voted(vote(edited, channel())))),
        (
            "hold_revised",
            updated(HoldChange::Revised {
                call: Arc::new(revised),
                audience: audience(),
                rule: Some("reads".into()),
                risk: Risk::Low,
                preview: Preview::default(),
                votes: vec![vote(approve(), Proof::Door("worlds".into()))],
            }),
        ),
        ("hold_claimed", updated(HoldChange::Claimed(ana()))),
        ("hold_unclaimed", updated(HoldChange::Unclaimed)),
        ("hold_outcome", updated(HoldChange::Outcome(HoldOutcome::Executing))),
        ("decided_approved", vec![Event::HoldDecided { hold: HOLD, state: approved() }]),
        (
            "decided_denied",
            vec![Event::HoldDecided {
                hold: HOLD,
                state: HoldState::Denied(Decision::People {
                    vote: vote(deny, Proof::Login),
                    voters: vec![ana()],
                }),
            }],
        ),
        (
            "decided_by_rule",
            vec![Event::HoldDecided { hold: HOLD, state: HoldState::Denied(automatic) }],
        ),
        ("decided_respond", answered(Answer::Respond { content: "42".into() }, Proof::Login)),
        ("decided_choose", answered(Answer::Choose(vec!["1".into(), "Other".into()]), Proof::Login)),
        ("decided_fill", answered(Answer::Fill(json!({"text": "hello"})), Proof::Login)),
        (
            "decided_perform",
            answered(Answer::Perform { content: "done".into(), is_error: true }, Proof::Login),
        ),
        (
            "decided_settle",
            answered(
                Answer::Settle { how: Settlement::Retry, content: Some("it is not there".into()) },
                Proof::Login,
            ),
        ),
        (
            "decided_expired",
            vec![Event::HoldDecided { hold: HOLD, state: HoldState::Expired { at: at(3) } }],
        ),
        (
            "decided_cancelled",
            vec![Event::HoldDecided {
                hold: HOLD,
                state: HoldState::Cancelled { by: Actor::Runtime, reason: None, at: at(3) },
            }],
        ),
    ]
}

fn ending() -> Vec<Named> {
    let grants = grants().into_iter().map(|(_, grant)| Event::GrantMade { grant: Arc::new(grant) });
    let grant = GrantId::new(MS, 8);
    vec![
        ("run_resumed", vec![Event::RunResumed { run: RUN }]),
        ("run_completed", vec![Event::RunCompleted { run: RUN }]),
        ("run_failed", vec![Event::RunFailed { run: RUN, error: "the model is busy".into() }]),
        (
            "run_stopping",
            vec![Event::RunStopping { run: RUN, by: person(), reason: Some("enough".into()) }],
        ),
        ("run_cancelled", vec![Event::RunCancelled { run: RUN }]),
        ("grant_made", grants.collect()),
        ("grant_used", vec![Event::GrantUsed { grant, call: CALL }]),
        ("grant_revoked", vec![Event::GrantRevoked { grant, by: person() }]),
    ]
}

fn house() -> Vec<Named> {
    let token = |owner, scopes: &[TokenScope], note: Option<&str>| Event::TokenMinted {
        token: Box::new(Token {
            id: TokenId::new(MS, 4),
            owner,
            scopes: scopes.to_vec(),
            secret: Digest::of(b"a secret"),
            minted_by: person(),
            minted_at: at(0),
            expires_at: note.map(|_| at(86_400)),
            note: note.map(str::to_owned),
        }),
    };
    vec![
        ("frozen", vec![Event::Frozen { by: person(), reason: "smoke".into() }]),
        ("thawed", vec![Event::Thawed { by: person() }]),
        (
            "token_minted",
            vec![
                token(TokenOwner::Person(ana()), &TokenScope::ALL, Some("laptop")),
                token(TokenOwner::Program("ci".into()), &[TokenScope::Ask], None),
            ],
        ),
        ("token_revoked", vec![Event::TokenRevoked { token: TokenId::new(MS, 4), by: person() }]),
        ("logged_in", vec![Event::LoggedIn { person: ana(), via: "link".into() }]),
        ("policy_in_force", vec![Event::PolicyInForce { policy: Digest::of(b"a policy"), node: NODE }]),
    ]
}

/// Every event there is. A new one does not compile until it has a name here, and then does not
/// pass until it has a golden file.
pub(super) fn event_name(event: &Event) -> &'static str {
    match event {
        Event::SessionOpened { .. } => "SessionOpened",
        Event::MessageQueued { .. } => "MessageQueued",
        Event::RunStarted { .. } => "RunStarted",
        Event::MessageAdded { .. } => "MessageAdded",
        Event::CallProposed { .. } => "CallProposed",
        Event::CallMalformed { .. } => "CallMalformed",
        Event::HoldOpened { .. } => "HoldOpened",
        Event::HoldUpdated { .. } => "HoldUpdated",
        Event::HoldDecided { .. } => "HoldDecided",
        Event::CallStarted { .. } => "CallStarted",
        Event::CallInDoubt { .. } => "CallInDoubt",
        Event::CallSettled { .. } => "CallSettled",
        Event::RunPaused { .. } => "RunPaused",
        Event::RunResumed { .. } => "RunResumed",
        Event::RunCompleted { .. } => "RunCompleted",
        Event::RunFailed { .. } => "RunFailed",
        Event::RunStopping { .. } => "RunStopping",
        Event::RunCancelled { .. } => "RunCancelled",
        Event::GrantMade { .. } => "GrantMade",
        Event::GrantUsed { .. } => "GrantUsed",
        Event::GrantRevoked { .. } => "GrantRevoked",
        Event::Frozen { .. } => "Frozen",
        Event::Thawed { .. } => "Thawed",
        Event::TokenMinted { .. } => "TokenMinted",
        Event::TokenRevoked { .. } => "TokenRevoked",
        Event::LoggedIn { .. } => "LoggedIn",
        Event::PolicyInForce { .. } => "PolicyInForce",
    }
}

pub(super) const EVENT_NAMES: [&str; 27] = [
    "SessionOpened",
    "MessageQueued",
    "RunStarted",
    "MessageAdded",
    "CallProposed",
    "CallMalformed",
    "HoldOpened",
    "HoldUpdated",
    "HoldDecided",
    "CallStarted",
    "CallInDoubt",
    "CallSettled",
    "RunPaused",
    "RunResumed",
    "RunCompleted",
    "RunFailed",
    "RunStopping",
    "RunCancelled",
    "GrantMade",
    "GrantUsed",
    "GrantRevoked",
    "Frozen",
    "Thawed",
    "TokenMinted",
    "TokenRevoked",
    "LoggedIn",
    "PolicyInForce",
];
