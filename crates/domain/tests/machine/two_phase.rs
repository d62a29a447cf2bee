//! Two-phase tools: what `confirmed: true` does and does not mean.

use crate::world::{HOUR_MS, World};
use holdpoint_domain::answer::{Answer, Settlement};
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::session::{PendingWork, Recovered};
use serde_json::{Value, json};

fn asked() -> World {
    let mut world = World::new();
    world.say("deploy").think("", &[("deploy", json!({"project": "a", "n": 1}))]);
    world
}

fn confirm(world: &mut World, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["confirmed"] = json!(true);
    world.think("", &[("deploy", arguments)]);
    result(world)
}

fn result(world: &World) -> Value {
    let text = world.results().pop().unwrap_or_default();
    serde_json::from_str(text.trim_start_matches("! ")).unwrap_or(Value::Null)
}

#[test]
fn the_first_call_is_answered_at_once_and_the_run_pauses() {
    let world = asked();
    let first = result(&world);
    assert_eq!(first["status"], "pending_confirmation");
    assert_eq!(first["hold"], json!(world.hold(0).id.to_string()));
    assert_eq!((&first["project"], &first["n"]), (&json!("a"), &json!(1)), "arguments are echoed");
    assert_eq!((world.status(), world.session.pending_work()), ("paused", vec![]));
}

#[test]
fn i04_a_model_that_confirms_itself_is_only_asking() {
    let mut world = World::new();
    world.say("deploy");
    assert_eq!(confirm(&mut world, json!({"project": "a"}))["status"], "pending_confirmation");
    assert_eq!((world.count("call.started"), world.count("hold.opened")), (0, 1));
}

#[test]
fn approved_then_confirmed_runs_the_stored_bytes_once() {
    let mut world = asked();
    world.approve("ana", 0);
    let hold = world.hold(0).id;
    assert_eq!(
        world.last_text(),
        format!(
            "The person approved deploy ({hold}). Call it again with the same arguments and confirmed=true."
        )
    );
    assert_eq!(world.session.pending_work(), [PendingWork::Think]);
    world.think("", &[("deploy", json!({"confirmed": true, "n": 1, "project": "a"}))]);
    assert_eq!(
        world.running(),
        [r#"deploy {"project":"a","n":1}"#],
        "the first call's bytes; key order does not matter for finding them"
    );
    world.finish();
    assert_eq!(result(&world)["status"], "success");
    assert_eq!(result(&world)["result"], "did deploy");
    let again = confirm(&mut world, json!({"project": "a", "n": 1}));
    assert_eq!((&again["status"], &again["replayed"]), (&json!("success"), &json!(true)));
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn other_arguments_are_another_request() {
    let mut world = asked();
    world.approve("ana", 0);
    for other in [
        json!({"project": "b", "n": 1}),
        json!({"project": "a", "n": "1"}),
        json!({"project": "a"}),
    ] {
        assert_eq!(confirm(&mut world, other)["status"], "pending_confirmation");
        world.say_with("go on", Some(WhilePending::Deliver)).unwrap();
    }
    assert_eq!((world.count("call.started"), world.count("hold.opened")), (0, 4));
}

#[test]
fn i08_two_confirmed_calls_in_one_turn_are_one_execution() {
    let mut world = asked();
    world.approve("ana", 0);
    let call = json!({"project": "a", "n": 1, "confirmed": true});
    world.think("", &[("deploy", call.clone()), ("deploy", call)]);
    assert_eq!(world.running().len(), 1);
    world.finish();
    let results = world.results();
    assert!(results[0].contains("success") && !results[0].contains("replayed"), "{results:?}");
    assert!(results[1].contains("success") && results[1].contains("replayed"), "{results:?}");
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn asking_again_while_pending_opens_no_second_hold() {
    let mut world = asked();
    world.say_with("hurry", Some(WhilePending::Deliver)).unwrap();
    let again = confirm(&mut world, json!({"project": "a", "n": 1}));
    assert_eq!(again["status"], "pending_confirmation");
    assert_eq!((world.count("hold.opened"), world.status()), (1, "paused"));
}

#[test]
fn denied_expired_and_cancelled_are_five_different_looks() {
    let mut world = asked();
    world.deny("ana", 0, "not on a Friday");
    assert!(world.last_text().ends_with(": not on a Friday"), "{}", world.last_text());
    let denied = confirm(&mut world, json!({"project": "a", "n": 1}));
    assert_eq!((&denied["status"], &denied["success"]), (&json!("denied"), &json!(false)));
    assert!(denied["message"].as_str().unwrap().contains("cancelled by user"));
    assert!(denied["reason"].as_str().unwrap().contains("not on a Friday"));
    assert!(world.results()[0].starts_with("! "), "is_error is set");

    let mut world = asked();
    world.later(24 * HOUR_MS);
    assert_eq!(confirm(&mut world, json!({"project": "a", "n": 1}))["status"], "expired");

    let mut world = asked();
    world.say_with("stop that", Some(WhilePending::Supersede)).unwrap();
    assert_eq!(confirm(&mut world, json!({"project": "a", "n": 1}))["status"], "cancelled");
}

#[test]
fn an_edited_approval_covers_the_edited_arguments() {
    let mut world = asked();
    world.edit("ana", 0, json!({"project": "a", "n": 2})).unwrap();
    assert!(world.last_text().contains(r#""n":2"#), "{}", world.last_text());
    world.think("", &[("deploy", json!({"project": "a", "n": 2, "confirmed": true}))]);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn a_crash_after_use_is_answered_at_once_and_settled_by_a_person() {
    let mut world = asked();
    world.approve("ana", 0);
    world.think("", &[("deploy", json!({"project": "a", "n": 1, "confirmed": true}))]);
    world.crash(&Recovered::Unknown { evidence: String::new() });
    assert_eq!(result(&world)["error"], "outcome unknown; a person was asked");
    assert_eq!(world.session.pending_work(), [PendingWork::Think]);
    world.think("I will wait.", &[]);
    world.answer_as("ana", 1, Answer::Settle { how: Settlement::Failed, content: None }).unwrap();
    assert!(world.last_text().starts_with("What became of deploy"), "{}", world.last_text());
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn a_failed_tool_is_an_error_and_never_a_success() {
    let mut world = asked();
    world.approve("ana", 0);
    world.think("", &[("deploy", json!({"project": "a", "n": 1, "confirmed": true}))]);
    let PendingWork::Execute { call, .. } = world.session.pending_work()[0] else {
        panic!("it runs")
    };
    world.report(call, Outcome::Failed(Output::text("no disk"))).unwrap();
    let failed = result(&world);
    assert_eq!(
        (&failed["status"], &failed["success"], &failed["error"]),
        (&json!("error"), &json!(false), &json!("no disk"))
    );
}

#[test]
fn the_model_may_talk_while_it_waits_and_the_run_does_not_end_by_it() {
    let mut world = asked();
    world.say_with("what are you doing?", Some(WhilePending::Deliver)).unwrap();
    world.think("I wait for your yes.", &[]);
    assert_eq!(world.status(), "paused");
    world.approve("ana", 0);
    assert_eq!(world.status(), "running");
}
