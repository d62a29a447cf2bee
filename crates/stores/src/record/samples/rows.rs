//! One row for every event, and for every way in which one can be said.

use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use domain::budget::{Resource, Usage, UsedUp};
use domain::call::{Call, Clearance, ExecutionContext};
use domain::caption::{Caption, CaptionKind};
use domain::digest::Digest;
use domain::event::{
    Event, GlobalEvent, HoldEvent, RefusedAnswer, SessionEvent, Token, TokenOwner, TokenScope,
};
use domain::file::{FileKind, FileName, FileRef, ImageFormat};
use domain::grant::ClearedBy;
use domain::hold::{
    CancelReason, Decision, HoldChange, HoldOutcome, HoldState, Preview, Risk, SUPERSEDED,
};
use domain::id::{CallId, CommitId, FileId, GrantId, HoldId, MessageId, StreamId, TokenId};
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::{ResultKind, ToolResult};
use domain::person::{Actor, CredentialMaker, EarlierHand, LinkOrigin, PersonId, Proof};
use domain::session::Home;
use domain::warning::{Warning, WarningKind};
use ports::store::Entry;
use serde_json::{Value, json};

use super::mcp_rows::mcp_rows;
use super::{
    CALL, HOLD, MS, NODE, RUN, SESSION, ana, approve, approved, arguments, at, audience, by_link,
    call, choice, comment, conditions, go_on, grants, origin, pending, person, phrased_call,
    program, rare_call, sql_call, vote,
};

fn message(number: u128, role: Role, parts: Vec<Part>) -> Arc<Message> {
    let id = MessageId::new(MS, number);
    Arc::new(Message {
        id,
        role,
        origin: Origin::Own,
        by: None,
        login_makers: Default::default(),
        parts,
        at: at(1),
    })
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

pub(in crate::record) fn rows() -> Vec<(&'static str, Entry)> {
    let session: Vec<(&'static str, Vec<Event>)> =
        [opening(), calls(), deciding(), ending(), spending()].concat();
    let session = session
        .into_iter()
        .map(|(name, events)| (name, row(StreamId::Session(SESSION), person(), events)));
    let outside = [(
        "outside_hold",
        vec![Event::ExternalHold(HoldEvent::Opened { hold: Arc::new(choice()) })],
    )]
    .into_iter()
    .map(|(name, events)| (name, row(StreamId::ExternalHold(HOLD), program(), events)));
    let global = [global_rows(), mcp_rows()]
        .concat()
        .into_iter()
        .map(|(name, events)| (name, row(StreamId::Global, Actor::Runtime, events)));
    session.chain(outside).chain(global).collect()
}

fn row(stream: StreamId, actor: Actor, events: Vec<Event>) -> Entry {
    Entry {
        id: CommitId::new(MS, 9),
        stream,
        first: 42,
        global: 7,
        at: at(1),
        actor,
        events: events.into(),
    }
}

pub(super) type NamedEvents = (&'static str, Vec<Event>);

fn opening() -> Vec<NamedEvents> {
    let said = message(1, Role::User, vec![Part::Text("delete the old orders\n\u{202e}".into())]);
    let somebody = Arc::new(Message { by: Some(PersonId::new("bob")), ..(*said).clone() });
    let by_a_made_login =
        Arc::new(Message { login_makers: [PersonId::new("bob")].into(), ..(*said).clone() });
    let file = |number, kind, name| {
        Part::File(FileRef {
            id: FileId::new(MS, number),
            digest: Digest::of(b"a file"),
            bytes: 123_456,
            kind,
            name: FileName::given(name),
        })
    };
    let image = FileKind::Image { format: ImageFormat::Png, width: 1200, height: 800 };
    let with_files = Arc::new(Message {
        parts: vec![
            Part::Text("what is this?".into()),
            file(1, image, "photo \u{202e}gnp.png"),
            file(2, FileKind::Csv, "orders.csv"),
        ],
        ..(*said).clone()
    });
    let with_a_file = message(4, Role::User, vec![file(3, FileKind::Bytes, "照片")]);
    let decided = Arc::new(Message {
        origin: Origin::Runtime,
        by: None,
        ..(*message(3, Role::User, vec![Part::Text("Ana approved it.".into())])).clone()
    });
    let opened = |title: Option<&str>, metadata| {
        Event::Session(SessionEvent::SessionOpened {
            agent: "ops".into(),
            creator: program(),
            title: title.map(str::to_owned),
            metadata,
            home: None,
        })
    };
    let at_a_door = Event::Session(SessionEvent::SessionOpened {
        agent: "ops".into(),
        creator: program(),
        title: None,
        metadata: Value::Null,
        home: Some(Home { door: "worlds".into(), place: "my-world/chat-7".into() }),
    });
    vec![
        ("session_opened", vec![opened(Some("Clean up"), json!({"from": "cron", "n": 1.5}))]),
        ("session_opened_at_a_door", vec![at_a_door]),
        ("session_opened_bare", vec![opened(None, Value::Null)]),
        (
            "message_queued",
            vec![Event::Session(SessionEvent::MessageQueued {
                message: said.clone(),
                run: RUN,
                join: true,
            })],
        ),
        (
            "message",
            vec![
                Event::Session(SessionEvent::RunStarted { run: RUN }),
                Event::Session(SessionEvent::MessageAdded { message: said }),
            ],
        ),
        (
            "message_by_somebody",
            vec![Event::Session(SessionEvent::MessageAdded { message: somebody })],
        ),
        (
            "message_by_a_made_login",
            vec![Event::Session(SessionEvent::MessageAdded { message: by_a_made_login })],
        ),
        (
            "message_with_files",
            vec![Event::Session(SessionEvent::MessageAdded { message: with_files })],
        ),
        (
            "message_with_a_file",
            vec![Event::Session(SessionEvent::MessageQueued {
                message: with_a_file,
                run: RUN,
                join: false,
            })],
        ),
        (
            "message_by_runtime",
            vec![Event::Session(SessionEvent::MessageAdded { message: decided })],
        ),
    ]
}

fn calls() -> Vec<NamedEvents> {
    let clearance = |by| Some(Clearance { by, at: at(1), execute_by: at(86_401) });
    let proposed = |call: &Arc<Call>, clearance| {
        Event::Session(SessionEvent::CallProposed { id: call.id, call: call.clone(), clearance })
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
                Event::Session(SessionEvent::MessageAdded { message: turn_of(&call()) }),
                proposed(&call(), None),
                Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold: Arc::new(pending()) })),
                Event::Session(SessionEvent::RunPaused { run: RUN }),
            ],
        ),
        ("call_by_rule", vec![proposed(&call(), clearance(ClearedBy::Rule(Some("reads".into()))))]),
        (
            "call_with_sql_facts",
            vec![proposed(&sql_call(), clearance(ClearedBy::Rule(Some("small deletes".into()))))],
        ),
        (
            "call_with_phrases",
            vec![proposed(&phrased_call(), clearance(ClearedBy::Rule(Some("reads".into()))))],
        ),
        ("call_by_default", vec![proposed(&rare_call(), clearance(ClearedBy::Rule(None)))]),
        (
            "call_by_grant",
            vec![proposed(&call(), clearance(ClearedBy::Grant(GrantId::new(MS, 8))))],
        ),
        (
            "call_confirmed",
            vec![Event::Session(SessionEvent::CallProposed {
                id: CallId::new(MS, 10),
                call: rare_call(),
                clearance: clearance(ClearedBy::People(HOLD)),
            })],
        ),
        (
            "call_malformed",
            vec![Event::Session(SessionEvent::CallMalformed {
                call: CALL,
                tool_use_id: "toolu_01".into(),
                tool: "no_such".into(),
            })],
        ),
        (
            "call_started",
            vec![Event::Session(SessionEvent::CallStarted { call: CALL, attempt: 2, node: NODE })],
        ),
        (
            "call_in_doubt",
            vec![Event::Session(SessionEvent::CallInDoubt {
                call: CALL,
                evidence: "pid 7 is gone".into(),
                settle: HOLD,
            })],
        ),
        (
            "call_settled",
            vec![Event::Session(SessionEvent::CallSettled {
                call: CALL,
                result: ToolResult::output("214 rows"),
            })],
        ),
        (
            "results",
            vec![Event::Session(SessionEvent::MessageAdded {
                message: message(4, Role::Tool, vec![result]),
            })],
        ),
    ]
}

fn deciding() -> Vec<NamedEvents> {
    let updated = |change| {
        vec![Event::Session(SessionEvent::Hold(HoldEvent::Updated { hold: HOLD, change }))]
    };
    let answered = |answer, proof| {
        let vote = vote(answer, proof);
        let decision = Decision::People { voters: vec![vote.by.clone()], vote };
        vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided {
            hold: HOLD,
            state: HoldState::Answered(decision),
        }))]
    };
    let channel = || Proof::Channel { name: "feishu".into(), message: "om_1".into() };
    let edited = Answer::Approve {
        scope: ApprovalScope::Session(GrantTerms {
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
    let revision = |preview: Preview| HoldChange::Revised {
        title: "Look at orders".into(),
        call: Arc::new(revised.clone()),
        audience: audience(),
        rule: Some("reads".into()),
        risk: Risk::Low,
        preview,
        votes: vec![vote(approve(), Proof::Door("worlds".into()))],
    };
    let rows = CaptionKind::Rows { rows: 214, more: 6, estimated: false };
    let summary = Some(Caption::stored("some rows".into(), Some(rows)));
    let mut captioned = revision(Preview { summary, ..Preview::default() });
    if let HoldChange::Revised { title, .. } = &mut captioned {
        let command = CaptionKind::RunCommand { command: "ls".into() };
        *title = Caption::stored("Look".into(), Some(command));
    }
    let interrupted = Some(WarningKind::EarlierAttempt);
    let warnings = vec![Warning::stored("it was interrupted".into(), interrupted)];
    let warned = Preview { warnings, ..Preview::default() };
    let automatic = Decision::Automatic { allowed: false, by: ClearedBy::Rule(None), at: at(2) };
    let deny = Answer::Deny { reason: None, stop: false };
    vec![
        ("hold_voted", updated(HoldChange::Voted(vote(edited, channel())))),
        ("hold_revised", updated(revision(Preview::default()))),
        ("hold_revised_with_warning", updated(revision(warned))),
        ("hold_revised_with_captions", updated(captioned)),
        (
            "voted_by_program",
            updated(HoldChange::Voted(vote(approve(), Proof::Vouched("single sign-on".into())))),
        ),
        ("voted_by_link", updated(HoldChange::Voted(vote(approve(), by_link())))),
        ("hold_claimed", updated(HoldChange::Claimed(ana()))),
        ("hold_unclaimed", updated(HoldChange::Unclaimed)),
        ("hold_commented", updated(HoldChange::Commented(comment()))),
        ("hold_revealed", updated(HoldChange::Revealed(ana()))),
        ("hold_outcome", updated(HoldChange::Outcome(HoldOutcome::Executing))),
        (
            "decided_approved",
            vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                hold: HOLD,
                state: approved(),
            }))],
        ),
        (
            "decided_denied",
            vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                hold: HOLD,
                state: HoldState::Denied(Decision::People {
                    vote: vote(deny, Proof::Login),
                    voters: vec![ana()],
                }),
            }))],
        ),
        (
            "decided_by_rule",
            vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                hold: HOLD,
                state: HoldState::Denied(automatic),
            }))],
        ),
        ("decided_respond", answered(Answer::Respond { content: "42".into() }, Proof::Login)),
        (
            "decided_choose",
            answered(Answer::Choose(vec!["1".into(), "Other".into()]), Proof::Login),
        ),
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
            vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                hold: HOLD,
                state: HoldState::Expired { at: at(3) },
            }))],
        ),
        ("decided_cancelled", cancelled(CancelReason::Unstated)),
        ("decided_cancelled_as_stated", cancelled(CancelReason::Stated(SUPERSEDED.into()))),
    ]
}

fn cancelled(reason: CancelReason) -> Vec<Event> {
    let state = HoldState::Cancelled { by: Actor::Runtime, reason, at: at(3) };
    vec![Event::Session(SessionEvent::Hold(HoldEvent::Decided { hold: HOLD, state }))]
}

fn ending() -> Vec<NamedEvents> {
    let grants = grants()
        .into_iter()
        .map(|(_, grant)| Event::Session(SessionEvent::GrantMade { grant: Arc::new(grant) }));
    let grant = GrantId::new(MS, 8);
    vec![
        ("run_resumed", vec![Event::Session(SessionEvent::RunResumed { run: RUN })]),
        ("run_completed", vec![Event::Session(SessionEvent::RunCompleted { run: RUN })]),
        (
            "run_failed",
            vec![Event::Session(SessionEvent::RunFailed {
                run: RUN,
                error: "the model is busy".into(),
            })],
        ),
        (
            "run_stopping",
            vec![Event::Session(SessionEvent::RunStopping {
                run: RUN,
                by: person(),
                reason: Some("enough".into()),
            })],
        ),
        ("run_cancelled", vec![Event::Session(SessionEvent::RunCancelled { run: RUN })]),
        ("grant_made", grants.collect()),
        ("grant_used", vec![Event::Session(SessionEvent::GrantUsed { grant, call: CALL })]),
        ("grant_revoked", vec![Event::Session(SessionEvent::GrantRevoked { grant, by: person() })]),
    ]
}

fn spending() -> Vec<NamedEvents> {
    let usage = Usage { input_tokens: 1_200, cached_tokens: 800, output_tokens: 90, money: 2_790 };
    let used_up = UsedUp { of: Resource::Turns, used: 20, limit: 20 };
    let cheap = Usage { output_tokens: 1, ..Usage::default() };
    vec![
        (
            "turn_counted",
            vec![
                Event::Session(SessionEvent::TurnCounted { run: RUN, usage }),
                Event::Session(SessionEvent::TurnCounted { run: RUN, usage: cheap }),
            ],
        ),
        (
            "budget_used_up",
            vec![
                Event::Session(SessionEvent::BudgetUsedUp { run: RUN, hold: HOLD, used_up }),
                Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold: Arc::new(go_on()) })),
                Event::Session(SessionEvent::RunPaused { run: RUN }),
            ],
        ),
    ]
}

fn refusals() -> Vec<Event> {
    let all = RefusedAnswer {
        channel: "slack".into(),
        identity: Some("U1".into()),
        person: Some(ana()),
        hold: Some(HoldId::new(MS, 5)),
        why: "it is not for them".into(),
        unlisted: 3,
    };
    let nothing = RefusedAnswer {
        identity: None,
        person: None,
        hold: None,
        why: "it points to no prompt of ours".into(),
        unlisted: 0,
        ..all.clone()
    };
    [all, nothing]
        .map(|refused| Event::Global(GlobalEvent::AnswerRefused { refused: Box::new(refused) }))
        .into()
}

fn global_rows() -> Vec<NamedEvents> {
    let token = |owner, scopes: &[TokenScope], note: Option<&str>| {
        Event::Global(GlobalEvent::TokenMinted {
            token: Box::new(Token {
                id: TokenId::new(MS, 4),
                scopes: scopes.to_vec(),
                secret: Digest::of(b"a secret"),
                minted_by: person(),
                through: match &owner {
                    // What version 1 says of it.
                    TokenOwner::Person(_) => Some(EarlierHand::Unrecorded),
                    TokenOwner::Program(_) => None,
                },
                owner,
                minted_at: at(0),
                expires_at: note.map(|_| at(86_400)),
                note: note.map(str::to_owned),
            }),
        })
    };
    let through = |owner, hand: Option<EarlierHand>| {
        let mut minted = token(owner, &[TokenScope::Answer], None);
        if let Event::Global(GlobalEvent::TokenMinted { token }) = &mut minted {
            token.through = hand;
        }
        minted
    };
    let made_by = CredentialMaker::new(Actor::Person(ana()));
    let sent = LinkOrigin { made_by, channel: Some("feishu".into()) };
    vec![
        (
            "frozen",
            vec![Event::Global(GlobalEvent::Frozen { by: person(), reason: "smoke".into() })],
        ),
        ("thawed", vec![Event::Global(GlobalEvent::Thawed { by: person() })]),
        (
            "token_minted",
            vec![
                token(TokenOwner::Person(ana()), &TokenScope::ALL, Some("laptop")),
                token(TokenOwner::Program("ci".into()), &[TokenScope::Ask], None),
            ],
        ),
        (
            "token_revoked",
            vec![Event::Global(GlobalEvent::TokenRevoked {
                token: TokenId::new(MS, 4),
                by: person(),
            })],
        ),
        (
            "token_minted_through",
            vec![
                through(TokenOwner::Person(ana()), None),
                through(
                    TokenOwner::Person(ana()),
                    Some(EarlierHand::Person(PersonId::new("root"))),
                ),
                through(TokenOwner::Program("ci".into()), Some(EarlierHand::Unrecorded)),
            ],
        ),
        (
            "login_link_made",
            vec![
                Event::Global(GlobalEvent::LoginLinkMade {
                    person: ana(),
                    origin: origin(),
                    expires_at: at(900),
                }),
                Event::Global(GlobalEvent::LoginLinkMade {
                    person: ana(),
                    origin: sent,
                    expires_at: at(900),
                }),
            ],
        ),
        (
            "logged_in",
            vec![Event::Global(GlobalEvent::LoggedIn {
                person: ana(),
                via: "link".into(),
                link: None,
            })],
        ),
        (
            "logged_in_by_link",
            vec![Event::Global(GlobalEvent::LoggedIn {
                person: ana(),
                via: "web".into(),
                link: Some(origin()),
            })],
        ),
        (
            "policy_in_force",
            vec![Event::Global(GlobalEvent::PolicyInForce {
                policy: Digest::of(b"a policy"),
                node: NODE,
            })],
        ),
        ("answer_refused", refusals()),
        (
            "delivery_failed",
            vec![Event::Global(GlobalEvent::DeliveryFailed {
                hold: HoldId::new(MS, 5),
                channel: "feishu".into(),
                to: "oc_1".into(),
                why: "it cannot be done: the bot is not in the chat".into(),
            })],
        ),
    ]
}
