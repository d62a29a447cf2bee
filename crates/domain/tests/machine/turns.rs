//! Several calls in one turn, messages while holds are open, cancelling: the transcript stays
//! valid whatever the order of things.

use crate::world::{World, approve, deny, perform};
use holdpoint_domain::answer::Answer;
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::hold::{CancelReason, HoldCommand};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, PendingWork};
use serde_json::json;

#[test]
fn i25_calls_with_effects_wait_until_every_hold_of_the_turn_is_decided() {
    let mut world = World::new();
    world.say("x").think(
        "",
        &[
            ("look", json!({})),
            ("send", json!({})),
            ("wipe", json!({"n": 1})),
            ("wipe", json!({"n": 2})),
        ],
    );
    assert_eq!(world.running(), ["look {}"], "only what reads runs at once");
    world.finish().approve("ana", 1);
    assert!(world.running().is_empty());
    assert_eq!(world.status(), "paused");
    world.deny("bob", 0, "no");
    assert_eq!(world.running(), ["send {}", r#"wipe {"n":2}"#]);
    world.finish();
    assert_eq!(world.results(), ["did look", "did send", "! Denied by Bob: no", "did wipe"]);
}

#[test]
fn run_as_decided_lifts_the_wait() {
    let mut world = World::new();
    world.run_as_decided = true;
    world.say("x").think("", &[("send", json!({})), ("wipe", json!({}))]);
    assert_eq!(world.running(), ["send {}"]);
}

/// Every order of answering and finishing three calls of the same tool: each effect once, right
/// arguments, one resume, valid transcript (checked after every step by the world).
#[test]
fn i25_any_order_of_answers_and_reports_resumes_once_with_results_in_call_order() {
    for order in permutations(3) {
        for verdicts in 0..8u8 {
            let mut world = World::new();
            let calls: Vec<_> = (0..3).map(|n| ("wipe", json!({"n": n}))).collect();
            world.say("x").think("", &calls);
            for n in &order {
                if verdicts & (1 << n) != 0 {
                    world.approve(if n % 2 == 0 { "ana" } else { "bob" }, *n);
                } else {
                    world.deny("bob", *n, "no");
                }
            }
            let approved: Vec<String> = (0..3)
                .filter(|n| verdicts & (1 << n) != 0)
                .map(|n| format!(r#"wipe {{"n":{n}}}"#))
                .collect();
            assert_eq!(world.running(), approved);
            let mut running: Vec<_> = world.session.pending_work();
            running.reverse();
            for owed in running {
                if let PendingWork::Execute { call, .. } = owed {
                    world.report(call, Outcome::Succeeded(Output::text("ok"))).unwrap();
                }
            }
            let expected: Vec<_> = (0..3)
                .map(|n| if verdicts & (1 << n) != 0 { "ok" } else { "! Denied by Bob: no" })
                .collect();
            assert_eq!(world.results(), expected, "{order:?} {verdicts:03b}");
            assert_eq!(world.session.pending_work(), [PendingWork::Think], "resumed once");
        }
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    permutations(n - 1)
        .into_iter()
        .flat_map(|shorter| {
            (0..n).map(move |at| {
                let mut longer = shorter.clone();
                longer.insert(at, n - 1);
                longer
            })
        })
        .collect()
}

#[test]
fn a_refused_client_tool_takes_unapproved_effects_with_it() {
    for answer in
        [perform("no"), deny("no"), Answer::Perform { content: "x".into(), is_error: true }]
    {
        let mut world = World::new();
        world
            .say("x")
            .think("", &[("confirm", json!({})), ("send", json!({})), ("wipe", json!({}))]);
        world.approve("ana", 1);
        world.answer_as("ana", 0, answer).unwrap();
        assert_eq!(world.running(), ["wipe {}"], "a person approved that one by itself");
        world.finish();
        assert!(world.results()[1].starts_with("! Not run: `confirm`"), "{:?}", world.results());
    }
    let mut world = World::new();
    world.say("x").think("", &[("confirm", json!({})), ("send", json!({}))]);
    world.answer_as("ana", 0, perform("yes")).unwrap();
    assert_eq!(world.running(), ["send {}"]);
}

#[test]
fn a_message_while_a_run_is_under_way_waits_its_turn() {
    let mut world = World::new();
    world.say("first").say("second");
    world.think("one", &[]);
    assert_eq!(world.last_text(), "second", "the next run starts by itself");
    assert_eq!(world.status(), "running");
    world.think("two", &[]);
    assert_eq!(world.status(), "completed");
    assert_eq!(world.count("run.started"), 2);
}

#[test]
fn a_message_while_holds_are_open_is_queued_by_default() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]).say("hello?");
    assert_eq!((world.status(), world.hold(0).state.name()), ("paused", "pending"));
    world.approve("ana", 0).finish().think("done", &[]);
    assert_eq!(world.last_text(), "hello?");
}

#[test]
fn supersede_cancels_the_holds_and_goes_on_with_the_message() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({})), ("look", json!({}))]);
    world.say_with("never mind", Some(WhilePending::Supersede)).unwrap();
    assert_eq!(world.hold(0).state.name(), "cancelled");
    world.finish();
    assert!(world.results()[0].starts_with("! Superseded"), "{:?}", world.results());
    assert_eq!(world.last_text(), "never mind");
    assert_eq!(world.session.pending_work(), [PendingWork::Think]);
    assert!(world.answer_as("ana", 0, approve()).is_err());
    assert_eq!(world.count("call.started"), 1, "only the reading call ran");
}

#[test]
fn refuse_refuses_and_deliver_acts_as_queue_for_held_calls() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    assert!(matches!(
        world.say_with("y", Some(WhilePending::Refuse)),
        Err(Refusal::HoldsOpen { .. })
    ));
    world.say_with("z", Some(WhilePending::Deliver)).unwrap();
    assert_eq!((world.status(), world.session.queue.len()), ("paused", 1));
}

#[test]
fn cancelling_a_run_gives_every_call_its_result() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({})), ("look", json!({}))]);
    let (run, by) = (world.run_id(), Actor::Person(PersonId::new("ana")));
    world.tell(&Command::CancelRun { run, by: by.clone(), reason: None }).unwrap();
    assert_eq!(world.status(), "running", "one call is still running and is being stopped");
    assert!(
        world.session.pending_work().iter().any(|owed| matches!(owed, PendingWork::Stop { .. }))
    );
    world.finish();
    assert_eq!(world.status(), "cancelled");
    assert_eq!(world.results().len(), 2);
    assert!(world.tell(&Command::CancelRun { run, by, reason: None }).is_ok(), "again is fine");
    world.say("go on").think("yes", &[]);
    assert_eq!(world.status(), "completed", "the session is not bricked");
}

#[test]
fn a_run_that_waits_its_turn_can_be_cancelled_and_never_begins() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    let first = world.run_id();
    world.say_with("y", None).unwrap();
    world.say_with("z", None).unwrap();
    let by = Actor::Person(PersonId::new("ana"));
    let waits: Vec<_> = world.session.queue.iter().map(|queued| queued.run).collect();
    let cancel = |run| Command::CancelRun { run, by: by.clone(), reason: None };
    world.tell(&cancel(waits[0])).unwrap();
    assert_eq!((world.run_id(), world.status(), world.session.queue.len()), (first, "paused", 1));
    assert!(world.tell(&cancel(waits[0])).is_err(), "it is over");
    world.tell(&cancel(first)).unwrap();
    assert_eq!(
        (world.run_id(), world.session.queue.len()),
        (waits[1], 0),
        "the other has its turn"
    );
}

#[test]
fn a_cancelled_hold_is_told_apart_from_a_denial() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    let (hold, by) = (world.hold(0).id, Actor::Person(PersonId::new("ana")));
    world
        .tell(&Command::Hold {
            id: hold,
            command: HoldCommand::Cancel { by, reason: CancelReason::Stated("typo".into()) },
        })
        .unwrap();
    assert_eq!(world.results(), ["! Cancelled: typo. The call was not run."]);
}

#[test]
fn a_reason_that_says_superseded_is_no_new_message() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    let (hold, by) = (world.hold(0).id, Actor::Person(PersonId::new("ana")));
    let reason = CancelReason::stated(Some("superseded".into()));
    world
        .tell(&Command::Hold {
            id: hold,
            command: HoldCommand::Cancel { by, reason: reason.clone() },
        })
        .unwrap();
    assert_eq!(world.results(), ["! Cancelled: superseded. The call was not run."]);
    assert_eq!(reason.text(), CancelReason::Superseded.text(), "people read the same word");
}

#[test]
fn i41_a_session_cannot_flood_people() {
    let mut world = World::new();
    let calls: Vec<_> = (0..300).map(|n| ("wipe", json!({"n": n}))).collect();
    world.say("x").think("", &calls);
    assert_eq!(
        world.session.open_holds().count(),
        holdpoint_domain::limits::OPEN_HOLDS_PER_SESSION_MAX
    );
}

#[test]
fn holds_of_one_turn_stand_in_the_order_of_its_calls() {
    let mut world = World::new();
    let calls: Vec<_> = (0..20).map(|n| ("wipe", json!({"n": n}))).collect();
    world.say("x").think("", &calls);
    let shown: Vec<_> = world
        .session
        .open_holds()
        .map(|hold| hold.call().unwrap().arguments.value()["n"].clone())
        .collect();
    assert_eq!(shown, (0..20).map(|n| json!(n)).collect::<Vec<_>>());
}
