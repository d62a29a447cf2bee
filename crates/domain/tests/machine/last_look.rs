//! The last look before a start, and what is told of a call that is not started.

use holdpoint_domain::context::Context;
use holdpoint_domain::id::NodeId;
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::policy::{AskSpec, Policy, Then};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, Recovered};
use holdpoint_domain::tool::{Effects, Place};
use serde_json::json;

use crate::world::{HOUR_MS, World, ask, policy, rule, tool};

fn thaw(world: &mut World) {
    world.frozen = None;
    world.tell(&Command::Wake).expect("woken");
}

/// Ana approved `wipe` while all was frozen.
fn approved() -> World {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    world
}

fn asks(spec: Option<AskSpec>) -> Policy {
    policy(vec![rule("wiping, by now", "wipe", Then::Ask, spec)])
}

#[test]
fn i07_an_approval_stands_under_a_new_policy_that_asks_no_more_than_was_given() {
    for (by_now, starts) in [(ask(&["dba"], 1), 1), (ask(&["dba"], 2), 0), (ask(&["guest"], 1), 0)]
    {
        let mut world = approved();
        world.policy = asks(by_now.clone());
        thaw(&mut world);
        assert_eq!(world.running().len(), starts, "{by_now:?}");
        assert_eq!(world.count("hold.opened"), 2 - starts);
    }
}

#[test]
fn a_call_that_is_asked_about_again_is_the_next_revision_and_waits_as_long_as_its_rule_says() {
    for (by_rule, waits_ms) in [(Some(2 * HOUR_MS), 2 * HOUR_MS), (None, 24 * HOUR_MS)] {
        let mut world = approved();
        let two = ask(&["dba"], 2).map(|ask| AskSpec { expires_ms: by_rule, ..ask });
        world.policy = asks(two);
        thaw(&mut world);
        let (first, again) = (world.hold(0), world.hold(1));
        let revision = |hold: &holdpoint_domain::hold::Hold| hold.call().unwrap().revision;
        assert_eq!(revision(&again), revision(&first) + 1);
        assert_eq!(again.expires_at, Some(world.now.plus_ms(waits_ms)), "{by_rule:?}");
    }
}

/// A channel may give people another time than the policy does, where no rule says how long.
#[test]
fn the_time_of_a_rule_stands_before_that_of_the_session() {
    for (by_rule, waits_ms) in [(Some(HOUR_MS), HOUR_MS), (None, 3 * HOUR_MS)] {
        let mut world = approved();
        world.policy = asks(ask(&["dba"], 2).map(|ask| AskSpec { expires_ms: by_rule, ..ask }));
        world.frozen = None;
        let decided = world.within(|session, context| {
            let context = Context { expires_ms: 3 * HOUR_MS, ..*context };
            session.decide(&Command::Wake, &context)
        });
        let again = decided.next.open_holds().next().expect("asked again").expires_at;
        assert_eq!(again, Some(world.now.plus_ms(waits_ms)), "{by_rule:?}");
    }
}

/// A call that can be run twice without harm: nobody looks into an attempt that was interrupted.
fn idempotent(name: &str) -> World {
    let mut world = World::new();
    world.tools.insert(name.into(), tool(name, Effects::Idempotent, Place::Server));
    world.say("x").think("", &[(name, json!({}))]);
    world
}

fn deny_from_now_on(world: &mut World) {
    world.policy = policy(vec![rule("no more mails", "send", Then::Deny, None)]);
}

#[test]
fn i16_a_second_attempt_that_a_rule_denies_by_now_is_not_said_to_be_not_run() {
    let mut world = idempotent("send");
    assert_eq!(world.running().len(), 1);
    deny_from_now_on(&mut world);
    world.crash(&Recovered::Again);
    assert!(world.running().is_empty());
    let told = world.results().pop().unwrap();
    assert!(told.contains("rule \"no more mails\" denies it now"), "{told}");
    assert!(!told.contains("was not run"), "nobody knows that: {told}");
    // A third would be told the same.
    let mut world = idempotent("send");
    world.crash(&Recovered::Again);
    deny_from_now_on(&mut world);
    world.crash(&Recovered::Again);
    assert!(!world.results().pop().unwrap().contains("was not run"));
}

#[test]
fn a_first_attempt_that_a_rule_denies_by_now_is_said_to_be_not_run() {
    let mut world = World::new();
    world.tools.insert("send".into(), tool("send", Effects::Idempotent, Place::Server));
    world.say("x");
    world.frozen = Some("wait".into());
    world.think("", &[("send", json!({}))]);
    deny_from_now_on(&mut world);
    thaw(&mut world);
    assert_eq!(world.results(), ["! Denied by rule \"no more mails\". The call was not run."]);
}

#[test]
fn a_call_that_never_began_is_cancelled_and_not_interrupted() {
    let mut world = World::new();
    world.tools.insert("send".into(), tool("send", Effects::Idempotent, Place::Server));
    world.say("x");
    world.frozen = Some("wait".into());
    world.think("", &[("send", json!({}))]);
    let (run, by) = (world.run_id(), Actor::Person(PersonId::new("ana")));
    world.tell(&Command::CancelRun { run, by, reason: None }).unwrap();
    let told = world.results().pop().unwrap();
    assert!(told.starts_with("! Cancelled"), "{told}");
}

/// What was begun stays begun when the call is proposed anew: how often decides what is told of it.
#[test]
fn i50_a_call_that_is_asked_about_again_after_a_crash_has_begun_once() {
    let mut world = idempotent("wipe");
    world.approve("ana", 0);
    world.policy = asks(ask(&["dba"], 2));
    world.crash(&Recovered::Again);
    assert_eq!(world.hold(1).state.name(), "pending", "asked again");
    let record = world.session.calls.values().next().unwrap();
    assert_eq!((record.attempts, record.begun), (1, 1));
}

#[test]
fn only_the_node_that_made_the_latest_attempt_can_take_it_back() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]).approve("ana", 0);
    let call = *world.session.calls.keys().next().unwrap();
    let executing = |world: &World| world.hold(0).outcome().map(|outcome| outcome.name());
    assert_eq!(executing(&world), Some("executing"));
    let version = world.hold(0).version;
    let own = world.node;
    for (attempt, node) in [(2, own), (1, NodeId::new(1, 77)), (2, NodeId::new(1, 77))] {
        world.node = node;
        let refused = world.tell(&Command::NotBegun { call, attempt });
        assert!(matches!(refused, Err(Refusal::Overtaken)), "{attempt} {node}");
        assert_eq!(executing(&world), Some("executing"));
    }
    world.node = own;
    world.frozen = Some("incident".into());
    world.tell(&Command::NotBegun { call, attempt: 1 }).unwrap();
    assert_eq!(executing(&world), None, "its call does not execute");
    assert!(world.hold(0).version > version, "whoever watches the hold is told");
}

#[test]
fn i17_a_call_is_handed_to_the_node_that_started_it_and_recovered_by_another() {
    let mut world = World::new();
    world.say("x").think("", &[("look", json!({}))]);
    let (call, own, other) =
        (*world.session.calls.keys().next().unwrap(), world.node, NodeId::new(1, 77));
    assert!(world.session.started(call, own).is_some());
    assert!(world.session.started(call, other).is_none());
    for (node, attempt) in [(own, 1), (own, 2), (other, 2)] {
        world.node = node;
        let refused = world.tell(&Command::Recover { call, attempt, found: Recovered::Again });
        assert!(matches!(refused, Err(Refusal::Overtaken)), "attempt {attempt} by {node}");
    }
    world.node = other;
    world.tell(&Command::Recover { call, attempt: 1, found: Recovered::Again }).unwrap();
    assert!(
        world.session.started(call, other).is_some() && world.session.started(call, own).is_none()
    );
}
