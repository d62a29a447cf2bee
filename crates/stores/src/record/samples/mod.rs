//! One of everything that can be on disk, with every field used somewhere.

mod captions;
mod mcp_rows;
mod names;
mod rows;
mod warnings;

use std::sync::Arc;

use names::CAPTIONED;
pub(super) use names::{
    EVENT_NAMES, SINCE_V2, SINCE_V3, SINCE_V4, SINCE_V5, SINCE_V6, SINCE_V7, event_name,
};
pub(super) use rows::rows;

use domain::answer::{Answer, ApprovalScope};
use domain::call::{Call, CallParts, ExecutionContext};
use domain::caption::{Caption, CaptionKind};
use domain::digest::Digest;
use domain::grant::{Covers, Grant};
use domain::hold::{
    CallOnHold, Callback, CancelReason, Choice, Comment, Decision, Hold, HoldOrigin, HoldOutcome,
    HoldState, Preview, Question, Risk, Vote,
};
use domain::id::{CallId, GrantId, HoldId, NodeId, RunId, SessionId, TokenId};
use domain::json::Arguments;
use domain::outcome::ToolResult;
use domain::person::{Actor, Audience, CredentialMaker, EarlierHand, LinkOrigin, PersonId, Proof};
use domain::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use domain::policy::{ConditionSpec, Conditions, Op};
use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place};
use domain::warning::{Warning, WarningKind};
use serde_json::{Value, json};

const MS: i64 = 1_763_172_180_007;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(MS + seconds * 1_000)
}

pub(super) const SESSION: SessionId =
    SessionId(domain::id::Bits(0x019a_84f0_0007_1111_2222_3333_4444_5555));
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
            sql: None,
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

fn audience() -> Arc<Audience> {
    Arc::new(Audience {
        people: [ana()].into(),
        roles: ["dba".to_owned()].into(),
        quorum: 2,
        exclude_requester: true,
        refuse_made_logins: false,
        login_makers: Default::default(),
    })
}

fn vote(answer: Answer, proof: Proof) -> Arc<Vote> {
    Arc::new(Vote {
        answer,
        by: ana(),
        at: at(60),
        via: "web".into(),
        proof,
        digest: call().digest(),
        view: Digest::of(b"what she saw"),
    })
}

fn comment() -> Arc<Comment> {
    Arc::new(Comment {
        by: ana(),
        via: "web".into(),
        at: at(61),
        text: "is this the staging database? @ben".into(),
        mentions: [PersonId::new("ben")].into(),
    })
}

/// A link that root made for Ana, having come in by one that Bob made.
fn origin() -> LinkOrigin {
    let by = Actor::Person(PersonId::new("root"));
    let through = Some(EarlierHand::Person(PersonId::new("bob")));
    LinkOrigin { made_by: CredentialMaker { by, through }, channel: None }
}

fn by_link() -> Proof {
    Proof::Link(origin())
}

fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
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
        origin: HoldOrigin::Session { session: SESSION, run: RUN, agent: "ops".into() },
        parent: None,
        opener: person(),
        requester: Some(ana()),
        call_on_hold: Some(CallOnHold::new(call())),
        preview: Preview {
            summary: Some("214 rows".into()),
            rows: Some(214),
            diff: Some("-1\n+2".into()),
            warnings: vec!["no WHERE".into()],
            codes_look_alikes: false,
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
        comments: Vec::new(),
        two_phase: false,
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
        origin: HoldOrigin::Program {
            callback: Some(Callback {
                url: "https://example.com/h".into(),
                secret_env: "HOOK".into(),
            }),
        },
        parent: Some(HoldId::new(MS, 6)),
        opener: program(),
        requester: None,
        call_on_hold: None,
        preview: Preview::default(),
        context: Value::Null,
        rationale: None,
        audience: Audience {
            people: [ana()].into(),
            roles: [].into(),
            quorum: 1,
            exclude_requester: false,
            refuse_made_logins: false,
            login_makers: Default::default(),
        }
        .into(),
        rule: None,
        expires_at: None,
        claimed_by: Some(ana()),
        two_phase: true,
        ..pending()
    }
}

fn became(call: Arc<Call>, outcome: HoldOutcome) -> Option<CallOnHold> {
    Some(CallOnHold { call, outcome: Some(outcome) })
}

/// Asks whether a run may go on: a hold of a session that gates no call.
fn go_on() -> Hold {
    Hold {
        title: "Let the run go on? It has used up its 20 turns".into(),
        call_on_hold: None,
        preview: Preview {
            summary: Some("used: 20 turns; going on gives it 20 turns again".into()),
            ..Preview::default()
        },
        context: json!({"budget": "turns", "used": 20, "limit": 20}),
        rationale: None,
        rule: None,
        ..pending()
    }
}

/// A call of an SQL tool, with what the tool knew about its statement.
fn sql_call() -> Arc<Call> {
    let mut parts = parts();
    parts.context.sql = Some(SqlFacts {
        kind: SqlKind::Delete,
        tables: SqlTables { names: vec!["orders".into(), "lines".into()], complete: true },
        has_where: Some(true),
        rows: Some(214),
    });
    Arc::new(Call::fixed(parts))
}

/// A call whose context is made of phrases of ours, around a line of others.
fn phrased_call() -> Arc<Call> {
    let mut parts = parts();
    let mut detail = RunDetail::default();
    detail.push(PhraseCode::Program, &["/usr/bin/git"]);
    detail.push_text("X-Ticket: 7");
    detail.push(PhraseCode::TimeLimit, &["30"]);
    parts.context.detail = detail;
    Arc::new(Call::fixed(parts))
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
    decided.call_on_hold = became(call(), HoldOutcome::Succeeded(ToolResult::output("214 rows")));
    let mut fill = choice();
    fill.question = Question::Fill { schema: Some(json!({"type": "object"})) };
    fill.state = HoldState::Expired { at: at(5) };
    let mut perform = pending();
    perform.question = Question::Perform { deny_values: vec!["no".into()] };
    perform.policy = Digest::of(b"another policy");
    perform.call_on_hold = became(rare_call(), HoldOutcome::Failed(ToolResult::error("gone")));
    perform.state =
        HoldState::Cancelled { by: program(), reason: CancelReason::Superseded, at: at(9) };
    let mut settle = pending();
    settle.question = Question::Settle;
    settle.call_on_hold = became(call(), HoldOutcome::Unknown);
    settle.risk = Risk::High;
    let mut refusing = pending();
    Arc::make_mut(&mut refusing.audience).refuse_made_logins = true;
    let mut through_a_login = pending();
    Arc::make_mut(&mut through_a_login.audience).login_makers =
        [PersonId::new("bob"), PersonId::new("eve")].into();
    let mut voted = pending();
    let made_by = CredentialMaker::new(Actor::Runtime);
    let proof = Proof::MintedToken { id: TokenId::new(MS, 4), made_by };
    voted.votes = vec![vote(approve(), proof)];
    let mut warned = pending();
    // The sentence stays as it was shown, however the kind is worded by now.
    let kinds = warnings::every_kind().into_iter().zip(1..);
    let shown = |(kind, n): (_, u32)| Warning::stored(format!("sentence {n}"), Some(kind));
    warned.preview.warnings.extend(kinds.map(shown));
    let mut titled = Hold { preview: Preview::default(), ..pending() };
    let command = CaptionKind::RunCommand { command: "ls".into() };
    titled.title = Caption::stored("Look".into(), Some(command));
    let mut coded = pending();
    coded.preview = Preview { codes_look_alikes: true, ..Preview::default() };
    let mut holds = vec![
        ("hold_pending", pending()),
        ("hold_approved", decided),
        ("hold_choose", choice()),
        ("hold_fill", fill),
        ("hold_perform", perform),
        ("hold_settle", settle),
        ("hold_refusing_made_logins", refusing),
        ("hold_voted_by_token", voted),
        ("hold_of_a_made_login", through_a_login),
        (
            "hold_with_sql_facts",
            Hold { call_on_hold: Some(CallOnHold::new(sql_call())), ..pending() },
        ),
        ("hold_with_kinds_of_warnings", warned),
        ("hold_with_codes_of_look_alikes", coded),
        ("hold_with_kind_of_title", titled),
        (
            "hold_with_phrases",
            Hold { call_on_hold: Some(CallOnHold::new(phrased_call())), ..pending() },
        ),
        ("hold_with_phrases_of_a_warning", not_previewed()),
        ("hold_with_comments", Hold { comments: vec![comment()], ..pending() }),
    ];
    holds.extend(captioned());
    holds
}

/// A hold without a preview, for a reason in two phrases of ours.
fn not_previewed() -> Hold {
    let why = NoPreviewReason::new(PhraseCode::DatabaseBusy, &[]);
    let why = NoPreviewReason::because(PhraseCode::RowsUncounted, why);
    let warnings = vec![Warning::stored("no".into(), Some(WarningKind::NoPreview { why }))];
    Hold { preview: Preview { warnings, ..Preview::default() }, ..pending() }
}

/// Every kind of a caption, two in each hold. The line stays as it was shown, however the kind is worded by now.
fn captioned() -> impl Iterator<Item = (&'static str, Hold)> {
    let kinds = captions::every_kind();
    let pairs: Vec<Vec<CaptionKind>> = kinds.chunks(2).map(<[_]>::to_vec).collect();
    assert_eq!(pairs.len(), CAPTIONED.len());
    CAPTIONED.into_iter().zip(pairs).map(|(name, pair)| {
        let mut hold = Hold { preview: Preview::default(), ..pending() };
        hold.title = Caption::stored("a title".into(), pair.first().cloned());
        hold.preview.summary = Some(Caption::stored("a summary".into(), pair.get(1).cloned()));
        (name, hold)
    })
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
