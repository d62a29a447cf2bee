//! A person gives a secret; the model gets a reference, and the tool that it is for gets the value.

use std::sync::{Arc, Mutex};

use domain::answer::{Answer, ApprovalScope};
use domain::event::HoldEvent;
use domain::hold::Hold;
use domain::id::{SessionId, StreamId};
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::policy::{MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::refusal::Refusal;
use domain::secret::referred;
use domain::tool::{Effects, Place, Tool};
use domain::warning::{Warning, WarningKind};
use holdpoint_engine::Error;
use ports::model::ModelRequest;
use ports::tool_host::{PrepareError, Prepared};
use serde_json::{Value, json};
use tools::closure::FnTool;
use tools::human::{HumanTool, HumanToolKind};

use crate::world::{Options, World, approve, node, results};

const CANARY: &str = "c4nary-\"s3cret\"&é";

/// Every way in which something could have been told.
fn spellings() -> Vec<String> {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    vec![
        CANARY.into(),
        "c4nary-".into(),
        hex.clone(),
        hex.to_uppercase(),
        "YzRuYXJ5LSJzM2NyZXQi".into(),
        "c4nary-%22s3cret%22".into(),
        "s3cret".into(),
    ]
}

fn clean(what: &str, text: &str) {
    for spelling in spellings() {
        assert!(!text.contains(&spelling), "{what} tells {spelling}: {text}");
    }
}

#[derive(Clone, Default)]
struct Got(Arc<Mutex<Vec<Value>>>);

/// Takes a key, and prints what it got in every way.
fn shipper(got: &Got) -> FnTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "app": {"type": "string"},
            "key": {"type": "string", "pattern": "^c4na", "writeOnly": true},
        },
        "required": ["app", "key"],
    });
    let tool = Tool::new("ship", "ships", schema, Effects::AtMostOnce, Place::Server, "test");
    let got = got.clone();
    let body = move |call: &domain::call::Call| {
        let arguments = call.arguments.value().clone();
        got.0.lock().unwrap().push(arguments.clone());
        let key = arguments["key"].as_str().unwrap_or_default().to_owned();
        let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        let printed = format!(
            "shipped with {key}; input {arguments}; again {:?}; {hex}; YzRuYXJ5LSJzM2NyZXQiJsOp; \
             c4nary-%22s3cret%22%26%C3%A9",
            arguments.to_string()
        );
        async move { Outcome::Succeeded(Output::text(printed)) }
    };
    FnTool::new(tool.unwrap(), body).preparing(|arguments| {
        let key = arguments.value()["key"].as_str().unwrap_or_default();
        if arguments.value()["app"] == "bad" {
            return Err(PrepareError::Unsound(format!("cannot ship with {key}")));
        }
        if arguments.value()["app"] == "away" {
            return Err(PrepareError::blind(format!("cannot look with {key}")));
        }
        let mut prepared =
            Prepared { title: Some(format!("Ship with {key}").into()), ..Prepared::default() };
        if arguments.value()["app"] == "warned" {
            let table = format!("orders of {key}");
            prepared.preview.warnings.push(WarningKind::NoWhere { table }.into());
        }
        Ok(prepared)
    })
}

async fn world(got: &Got) -> World {
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.extra = vec![
        Arc::new(HumanTool::new("ask", HumanToolKind::Anything).unwrap()),
        Arc::new(shipper(got)),
    ];
    options.start().await
}

fn form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "user": {"type": "string"},
            "key": {"type": "string", "minLength": 10, "maxLength": 20, "writeOnly": true},
        },
        "required": ["key"],
    })
}

/// The model has asked for the key.
async fn asked(world: &World) -> (SessionId, Arc<Hold>) {
    let session = world.session().await;
    world.model.will("", &[("ask", json!({"prompt": "Which key?", "schema": form()}))]);
    world.say(session, "ship it").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    (session, hold)
}

fn given() -> Answer {
    Answer::Fill(json!({"user": "shop", "key": CANARY}))
}

fn result(request: &ModelRequest<'_>) -> String {
    format!("{:?}", request.messages.last())
}

/// The reference in the form that the model got.
async fn reference(world: &World, session: SessionId) -> String {
    let told = results(&*world.get(session).await).pop().unwrap();
    let form: Value = serde_json::from_str(&told).unwrap();
    assert!(referred(&form["key"]).is_some(), "{told}");
    assert_eq!(form["user"], "shop");
    form["key"].as_str().unwrap().to_owned()
}

async fn everything(world: &World, session: SessionId) -> String {
    let shown = world.get(session).await;
    let log = world.engine.store().audit(0, 10_000).await.unwrap();
    let log: Vec<String> =
        log.iter().map(|entry| String::from_utf8_lossy(&entry.bytes).into_owned()).collect();
    let entries = world.engine.store().load(StreamId::Session(session)).await.unwrap();
    let holds: Vec<String> = shown.holds.values().map(|hold| domain::view::render(hold)).collect();
    format!("{shown:?} {log:?} {entries:?} {holds:?} {:?}", world.model.heard())
}

#[tokio::test]
async fn i45_a_secret_goes_to_its_tool_and_nowhere_else() {
    let got = Got::default();
    let world = world(&got).await;
    let (session, hold) = asked(&world).await;
    world.answer(&world.ana, &hold, given()).await.unwrap();
    world.over(session).await;
    clean("the model's request", &result(world.model.heard().last().unwrap()));
    let key = reference(&world, session).await;

    world.model.will("", &[("ship", json!({"app": "shop", "key": key}))]);
    world.say(session, "go on").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    // The approver is told which secret it is, who gave it and when, and not what it says.
    let call = hold.call().unwrap();
    assert_eq!(call.arguments.value()["key"], key);
    assert_eq!(hold.title, format!("Ship with {key}"));
    let warning = hold.preview.warnings[0].text();
    let told = format!("ship gets the secret {key} as /key: Ana gave it as /key at 20");
    assert!(warning.starts_with(&told), "{warning}");
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let over = world.over(session).await;
    assert_eq!(*got.0.lock().unwrap(), [json!({"app": "shop", "key": CANARY})]);
    let printed = results(&over).pop().unwrap();
    assert_eq!(printed.matches("‹secret›").count(), 6, "{printed}");
    clean("something", &everything(&world, session).await);

    // Whoever may answer can look at it, and the log knows.
    let shown = world.engine.reveal(&world.ana, hold.id).await.unwrap();
    assert_eq!((shown[0].at.as_str(), shown[0].value.expose()), ("/key", &json!(CANARY)));
    assert!(!format!("{shown:?}").contains("c4nary"));
    let log = everything(&world, session).await;
    assert!(log.contains("Revealed(ana)"), "{log}");
    clean("something", &log);
    let refused = world.engine.reveal(&world.program, hold.id).await;
    assert!(refused.is_err(), "a program is nobody who approves");
}

#[tokio::test]
async fn i45_what_does_not_fit_the_form_is_refused_and_forgotten() {
    let world = world(&Got::default()).await;
    let (session, hold) = asked(&world).await;
    let long = Answer::Fill(json!({"key": format!("{CANARY}{CANARY}")}));
    let Err(Error::Refused(Refusal::AnswerInvalid { field, why })) =
        world.answer(&world.ana, &hold, long).await
    else {
        panic!("refused")
    };
    assert_eq!(field, "fill/key");
    clean("the refusal", &why.to_string());
    let scope = StreamId::Session(session);
    assert!(world.engine.store().sealed(scope).await.unwrap().is_empty());
    // Who comes too late leaves nothing behind, and the same answer again is the same answer.
    world.answer(&world.ana, &hold, given()).await.unwrap();
    world.answer(&world.ana, &hold, given()).await.unwrap();
    let root = crate::world::person(&world.engine, "root").await;
    assert!(world.answer(&root, &hold, given()).await.is_err());
    let other = Answer::Fill(json!({"user": "shop", "key": "c4nary-other"}));
    assert!(world.answer(&world.ana, &hold, other).await.is_err());
    assert_eq!(world.engine.store().sealed(scope).await.unwrap().len(), 1);
}

#[tokio::test]
async fn i45_the_same_answer_at_once_is_one_answer_and_another_takes_nothing_away() {
    let world = world(&Got::default()).await;
    for _ in 0..20 {
        let (session, hold) = asked(&world).await;
        // The same key in two answers that differ otherwise: one counts, and its key stays.
        let other = Answer::Fill(json!({"user": "store", "key": CANARY}));
        let (first, second, third) = tokio::join!(
            world.answer(&world.ana, &hold, given()),
            world.answer(&world.ana, &hold, other.clone()),
            world.answer(&world.ana, &hold, given()),
        );
        assert_ne!(first.is_ok(), second.is_ok());
        assert_eq!(first.is_ok(), third.is_ok());
        let decided = world.hold(hold.id).await;
        let Answer::Fill(form) = &decided.votes[0].answer else { panic!("{decided:?}") };
        let kept = world.engine.store().sealed(StreamId::Session(session)).await.unwrap();
        let ids: Vec<_> = kept.iter().map(|one| one.id).collect();
        assert_eq!(ids, [referred(&form["key"]).unwrap()]);
        world.over(session).await;
    }
}

#[tokio::test]
async fn i45_two_who_give_the_same_secret_agree() {
    let world = world(&Got::default()).await;
    let root = crate::world::person(&world.engine, "root").await;
    let new = holdpoint_engine::NewHold {
        diff: None,
        question: domain::hold::Question::Fill { schema: Some(form()) },
        title: "Which key?".into(),
        call: None,
        context: Value::Null,
        audience: Some(holdpoint_engine::NewAudience {
            people: vec!["ana".into(), "root".into()],
            roles: Vec::new(),
            quorum: Some(2),
            exclude_requester: None,
        }),
        risk: None,
        expires_in_ms: None,
        callback: None,
    };
    let hold = world.engine.open_hold(&world.ana, new, None).await.unwrap();
    assert!(world.answer(&world.ana, &hold, given()).await.unwrap().is_pending());
    assert_eq!(world.answer(&root, &hold, given()).await.unwrap().state.name(), "answered");
    let kept = world.engine.store().sealed(StreamId::ExternalHold(hold.id)).await.unwrap();
    assert_eq!(kept.len(), 1);
}

#[tokio::test]
async fn i45_a_reference_is_of_no_use_elsewhere() {
    let got = Got::default();
    let world = world(&got).await;
    let (session, hold) = asked(&world).await;
    world.answer(&world.ana, &hold, given()).await.unwrap();
    world.over(session).await;
    let key = reference(&world, session).await;
    // In another session it is nothing, and in a field that is not secret it is only a text.
    let other = world.session().await;
    world.model.will("", &[("ship", json!({"app": "shop", "key": key}))]);
    world.say(other, "ship it").await;
    let over = world.over(other).await;
    let told = results(&over).pop().unwrap();
    assert!(told.contains("there is no secret"), "{told}");
    world.model.will("", &[("wipe", json!({"note": key}))]);
    world.say(session, "wipe").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.bob, &hold, approve()).await.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments(), [json!({"note": key}).to_string()]);
    assert!(got.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn i45_what_a_tool_says_beforehand_is_looked_through_too() {
    let world = world(&Got::default()).await;
    let session = world.session().await;
    world.model.will("", &[("ship", json!({"app": "bad", "key": CANARY}))]);
    world.say(session, "x").await;
    let told = results(&*world.over(session).await).pop().unwrap();
    assert!(told.contains("cannot ship with ‹secret›"), "{told}");
    world.model.will("", &[("ship", json!({"app": "shop", "key": CANARY}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    assert_eq!(hold.title, "Ship with ‹secret›");
    clean("the view", &domain::view::render(&hold));
}

#[tokio::test]
async fn i45_a_secret_in_a_value_of_a_warning_is_told_nowhere() {
    for (app, kind) in [
        ("warned", WarningKind::NoWhere { table: "orders of ‹secret›".into() }),
        ("away", WarningKind::NoPreview { why: "cannot look with ‹secret›".into() }),
    ] {
        let world = world(&Got::default()).await;
        let session = world.session().await;
        world.model.will("", &[("ship", json!({"app": app, "key": CANARY}))]);
        world.say(session, "x").await;
        let hold = world.paused(session).await.open_holds().next().unwrap().clone();
        assert_eq!(hold.preview.warnings, [Warning::new(kind)]);
        // What the call itself says is kept, and shown to nobody.
        let preview = &hold.preview;
        clean("the preview", &format!("{preview:?}"));
        let view = domain::view::View::of(&hold);
        clean("the view", &view.json().to_string());
        clean("the view", &view.text());
    }
}

#[tokio::test]
async fn i45_a_secret_that_an_approver_types_is_kept_apart_as_well() {
    let got = Got::default();
    let world = world(&got).await;
    let session = world.session().await;
    world.model.will("", &[("ship", json!({"app": "shop", "key": "c4nary-old-key"}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    let arguments =
        domain::json::Arguments::from_value(json!({"app": "shop", "key": CANARY})).unwrap();
    let edit = Answer::Approve {
        scope: domain::answer::ApprovalScope::Once,
        arguments: Some(arguments),
        note: None,
    };
    world.answer(&world.ana, &hold, edit.clone()).await.unwrap();
    world.over(session).await;
    assert_eq!(*got.0.lock().unwrap(), [json!({"app": "shop", "key": CANARY})]);
    world.answer(&world.ana, &hold, edit).await.unwrap();
    let log = world.engine.store().load(StreamId::Session(session)).await.unwrap();
    let revised =
        log.iter().flat_map(|entry| &*entry.events).find_map(|event| match event.hold_event() {
            Some(HoldEvent::Updated {
                change: domain::hold::HoldChange::Revised { call, .. },
                ..
            }) => Some(call.arguments.value()["key"].clone()),
            _ => None,
        });
    assert!(referred(&revised.unwrap()).is_some());
    let all = everything(&world, session).await;
    for spelling in [CANARY, "s3cret"] {
        assert!(!all.contains(spelling), "{spelling} in {all}");
    }
}

#[tokio::test]
async fn i45_no_rule_alone_sends_a_secret_anywhere() {
    let got = Got::default();
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.extra = vec![
        Arc::new(HumanTool::new("ask", HumanToolKind::Anything).unwrap()),
        Arc::new(shipper(&got)),
    ];
    let rule = RuleSpec {
        name: "ship freely".into(),
        line: 1,
        matcher: MatchSpec { tool: Some("ship".into()), ..MatchSpec::default() },
        then: Then::Allow,
        risk: None,
        ask: None,
    };
    let spec = PolicySpec { rules: vec![rule], ..PolicySpec::default() };
    options.policy = Policy::compile(spec).unwrap();
    let world = options.start().await;
    let (session, hold) = asked(&world).await;
    world.answer(&world.ana, &hold, given()).await.unwrap();
    world.over(session).await;
    let key = reference(&world, session).await;
    world.model.will("", &[("ship", json!({"app": "shop", "key": key}))]);
    world.say(session, "go on").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    assert!(got.0.lock().unwrap().is_empty(), "somebody is asked first");

    // Whoever changes another field and sends the reference back means the same secret.
    let edited = Arguments::from_value(json!({"app": "other", "key": key})).unwrap();
    let answer =
        Answer::Approve { scope: ApprovalScope::Once, arguments: Some(edited), note: None };
    world.answer(&world.ana, &hold, answer).await.unwrap();
    world.over(session).await;
    assert_eq!(*got.0.lock().unwrap(), [json!({"app": "other", "key": CANARY})]);
}
