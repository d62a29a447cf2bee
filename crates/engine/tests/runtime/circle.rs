//! The circle, and what it costs.

use std::sync::Arc;

use domain::event::HoldEvent;
use domain::hold::HoldOutcome;
use domain::id::StreamId;
use domain::policy::{AskSpec, ConditionSpec, MatchSpec, Op, Policy, PolicySpec, RuleSpec, Then};
use domain::refusal::Refusal;
use domain::session::RunStatus;
use holdpoint_engine::{Error, Until};
use serde_json::json;

use crate::world::{Options, World, approve, deny, node, results, status};

#[tokio::test]
async fn a_call_is_held_approved_run_once_and_the_run_goes_on() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("I will wipe.", &[("wipe", json!({"t": 1}))]);
    world.say(session, "wipe it").await;
    let paused = world.paused(session).await;
    let hold = paused.open_holds().next().unwrap().clone();
    assert_eq!(hold.rationale.as_deref(), Some("I will wipe."));
    assert!(world.witness.arguments().is_empty());
    world.answer(&world.bob, &hold, approve()).await.unwrap();
    let over = world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Completed));
    assert_eq!(results(&over), [r#"did {"t":1}"#]);
    assert_eq!(world.witness.arguments(), [r#"{"t":1}"#]);
    let hold = world.hold(hold.id).await;
    assert!(matches!(hold.outcome(), Some(HoldOutcome::Succeeded(_))), "{:?}", hold.outcome());
}

#[tokio::test]
async fn a_whole_cycle_takes_five_commits() {
    let node = node();
    let store = Arc::new(stores::MemoryStore::new(node));
    let world = Options::new(store, node).start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    world.over(session).await;
    let entries = world.engine.store().load(StreamId::Session(session)).await.unwrap();
    // The first one opened the session.
    assert_eq!(
        entries.len() - 1,
        5,
        "{:?}",
        entries.iter().map(|e| e.events.len()).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn i01_every_effect_has_an_earlier_approval_of_exactly_its_digest() {
    let world = World::memory().await;
    let session = world.session().await;
    world
        .model
        .will("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2})), ("look", json!({}))]);
    world.say(session, "x").await;
    world.until(session, "two holds", |session| session.open_holds().count() == 2).await;
    for (n, hold) in world.holds().await.iter().enumerate() {
        let answer = if n == 0 { approve() } else { deny() };
        world.answer(&world.bob, hold, answer).await.unwrap();
    }
    world.over(session).await;
    let entries = world.engine.store().load(StreamId::Session(session)).await.unwrap();
    let approved: Vec<String> = entries
        .iter()
        .flat_map(|entry| &*entry.events)
        .filter_map(|event| match event.hold_event() {
            Some(HoldEvent::Decided {
                state: domain::hold::HoldState::Approved(decision), ..
            }) => decision.vote(),
            _ => None,
        })
        .map(|vote| vote.digest.to_string())
        .collect();
    let wiped: Vec<String> = world
        .witness
        .digests()
        .into_iter()
        .zip(world.witness.arguments())
        .filter(|(_, arguments)| arguments != "{}")
        .map(|(digest, _)| digest)
        .collect();
    assert_eq!(wiped, approved, "the witness saw what was approved, and nothing else");
}

#[tokio::test]
async fn waiting_ends_when_it_is_decided_and_when_it_is_settled() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    let early = world
        .engine
        .wait(&world.ana, hold.id, Until::Decided, std::time::Duration::from_millis(20))
        .await;
    assert!(early.unwrap().is_none());
    let (engine, ana) = (world.engine.clone(), world.ana.clone());
    let waiter = async {
        engine.wait(&ana, hold.id, Until::Settled, std::time::Duration::from_secs(10)).await
    };
    let (settled, answered) = tokio::join!(waiter, world.answer(&world.ana, &hold, approve()));
    answered.unwrap();
    assert!(settled.unwrap().unwrap().is_finished());
}

#[tokio::test]
async fn i30_strangers_find_nothing_and_programs_never_answer() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    let eve = crate::world::person(&world.engine, "eve").await;
    let not_found =
        |result: Result<_, Error>| matches!(result, Err(Error::Refused(Refusal::NotFound { .. })));
    assert!(not_found(world.engine.hold(&eve, hold.id).await.map(drop)));
    assert!(not_found(world.engine.session(&eve, session).await.map(drop)));
    assert!(not_found(world.answer(&eve, &hold, approve()).await.map(drop)));
    assert!(not_found(world.answer(&world.program, &hold, approve()).await.map(drop)));
    // One who sees it, but may not answer it.
    let root = crate::world::person(&world.engine, "root").await;
    let refused = world.answer(&root, &hold, approve()).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::NotEntitled { .. }))), "{refused:?}");
    assert!(world.hold(hold.id).await.is_pending());
}

#[tokio::test]
async fn a_freeze_takes_answers_and_starts_nothing() {
    let world = World::memory().await;
    let root = crate::world::person(&world.engine, "root").await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.engine.freeze(&root, "incident").await.unwrap();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    assert_eq!(world.hold(hold.id).await.state.name(), "approved");
    let waiting = world.get(session).await;
    assert_eq!(waiting.calls.values().next().unwrap().attempts, 0, "it was started");
    assert!(world.witness.arguments().is_empty());
    world.engine.thaw(&root).await.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

/// An edit is ruled on by the rule for the edited call, and by nothing that is left of the old one.
#[tokio::test]
async fn i05_an_edit_asks_for_what_the_rule_of_the_edited_call_asks_for() {
    let ask = |people: &[&str], roles: &[&str], quorum: u32| AskSpec {
        people: people.iter().map(|id| (*id).to_owned()).collect(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        quorum,
        ..AskSpec::default()
    };
    let rule = |name: &str, args: Vec<ConditionSpec>, ask: AskSpec| RuleSpec {
        name: name.into(),
        line: 1,
        matcher: MatchSpec { tool: Some("wipe".into()), args, ..MatchSpec::default() },
        then: Then::Ask,
        risk: None,
        ask: Some(ask),
    };
    let five = ConditionSpec { pointer: "/n".into(), op: Op::Equals(json!(5)) };
    let rules = vec![
        rule("five is bob's", vec![five], ask(&["bob"], &[], 1)),
        rule("two dbas", vec![], ask(&[], &["dba"], 2)),
    ];
    let node = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(node)), node);
    options.policy = Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap();
    let world = options.start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    let edited = domain::answer::Answer::Approve {
        scope: domain::answer::ApprovalScope::Once,
        arguments: Some(domain::json::Arguments::parse(br#"{"n":5}"#).unwrap()),
        note: None,
    };
    let answered = world.answer(&world.bob, &hold, edited).await.unwrap();
    assert_eq!(answered.state.name(), "approved", "{:?}", answered.audience);
    world.over(session).await;
    assert_eq!(world.witness.arguments(), [r#"{"n":5}"#]);
}
