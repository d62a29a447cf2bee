//! Ways in which a session once got stuck, ran too much or forgot too little.

use holdpoint_domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use holdpoint_domain::hold::{CancelReason, HoldCommand, HoldOutcome, HoldState, QuestionKind};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, Recovered};
use holdpoint_domain::tool::{Effects, Place, Tool};
use serde_json::json;

use crate::world::{HOUR_MS, World, logged_in};

#[test]
fn a_queue_drains_after_a_thaw() {
    let mut w = World::new();
    w.say("one").say("two");
    w.frozen = Some("fire".into());
    w.think("done", &[]);
    assert_eq!((w.status(), w.session.queue.len()), ("completed", 1));
    // engine: thaw wakes only sessions whose row says `owes`
    assert!(
        !w.session.pending_work().is_empty(),
        "nothing is owed, so a thaw wakes nothing; `two` waits for ever"
    );
}

#[test]
fn a_call_of_a_cancelled_run_is_not_started_again_after_a_crash() {
    let mut w = World::new();
    w.say("x").think("", &[("look", json!({}))]);
    let (run, ana) = (w.run_id(), Actor::Person(PersonId::new("ana")));
    w.tell(&Command::CancelRun { run, by: ana, reason: None }).unwrap();
    w.crash(&Recovered::Again);
    // a start is on disk (attempt 2), but what is owed is Stop, and no task exists to be stopped
    assert_eq!(w.count("call.started"), 1, "a call of a cancelled run is started again");
    assert_eq!(w.status(), "cancelled");
}

#[test]
fn i16_an_interrupted_call_that_is_not_made_again_is_not_said_not_to_have_run() {
    // Nobody looks into what an idempotent attempt did: running it again is harmless. If it then is
    // not run again, nobody knows that nothing happened.
    let mut w = World::new();
    let schema = json!({"type": "object"});
    let wipe = Tool::new("wipe", "", schema, Effects::Idempotent, Place::Server, "test").unwrap();
    w.tools.insert("wipe".into(), wipe);
    w.say("x").think("", &[("wipe", json!({}))]);
    w.approve("ana", 0);
    let (run, ana) = (w.run_id(), Actor::Person(PersonId::new("ana")));
    w.tell(&Command::CancelRun { run, by: ana, reason: None }).unwrap();
    w.crash(&Recovered::Again);
    let results = w.results();
    assert!(results[0].contains("may have been carried out"), "{results:?}");
    assert!(!results[0].contains("was not run"), "{results:?}");
}

#[test]
fn i16_a_second_attempt_that_did_not_begin_says_nothing_about_the_first() {
    let mut w = World::new();
    let schema = json!({"type": "object"});
    let wipe = Tool::new("wipe", "", schema, Effects::Idempotent, Place::Server, "test").unwrap();
    w.tools.insert("wipe".into(), wipe);
    w.say("x").think("", &[("wipe", json!({}))]);
    w.approve("ana", 0);
    w.crash(&Recovered::Again);
    let (call, record) = w.session.calls.iter().next().unwrap();
    assert_eq!((record.attempts, record.begun), (2, 2));
    let call = *call;
    let (run, ana) = (w.run_id(), Actor::Person(PersonId::new("ana")));
    w.tell(&Command::CancelRun { run, by: ana, reason: None }).unwrap();
    w.tell(&Command::NotBegun { call, attempt: 2 }).unwrap();
    let results = w.results();
    assert!(results[0].contains("may have been carried out"), "{results:?}");
    assert!(!results[0].contains("was not run"), "{results:?}");
}

#[test]
fn i29_a_late_report_that_makes_an_expiry_happen_brings_its_consequences_too() {
    let mut w = World::new();
    w.run_as_decided = true;
    w.say("x").think("", &[("wipe", json!({})), ("look", json!({}))]);
    let look = *w.session.run.as_ref().unwrap().turn.last().unwrap();
    w.finish();
    assert_eq!(w.status(), "paused");
    w.now = w.now.plus_ms(25 * HOUR_MS);
    let late = w.tell(&Command::Report {
        call: look,
        attempt: 1,
        outcome: Outcome::Succeeded(Output::text("again")),
    });
    assert_eq!(late, Err(Refusal::Overtaken));
    assert!(!w.hold(0).is_pending());
    assert!(
        w.session.due_at().is_some()
            || !w.session.pending_work().is_empty()
            || w.status() != "paused",
        "paused, nothing pending, nothing owed, nothing due"
    );
}

#[test]
fn i09_a_refused_answer_changes_nothing() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({"t": 1}))]);
    let arguments = holdpoint_domain::json::Arguments::from_value(json!({"t": 2})).unwrap();
    let spec = holdpoint_domain::policy::ConditionSpec {
        pointer: "/t".into(),
        op: holdpoint_domain::policy::Op::Equals(json!(1)),
    };
    let conditions = holdpoint_domain::policy::Conditions::compile(vec![spec]).unwrap();
    let terms = GrantTerms { conditions: Some(conditions), ..GrantTerms::default() };
    let answer = Answer::Approve {
        scope: ApprovalScope::Session(terms),
        arguments: Some(arguments),
        note: None,
    };
    let before = w.session.version;
    let refused = w.answer_edited("ana", 0, answer);
    assert!(matches!(refused, Err(Refusal::AnswerInvalid { .. })), "{refused:?}");
    assert_eq!(w.session.version, before, "422, but the hold was revised");
}

#[test]
fn i27_a_two_phase_approval_goes_stale() {
    let mut w = World::new();
    w.say("x").think("", &[("deploy", json!({"p": 1}))]);
    w.approve("ana", 0);
    w.think("later", &[]);
    w.later(90 * 24 * HOUR_MS);
    w.say("go").think("", &[("deploy", json!({"p": 1, "confirmed": true}))]);
    assert_eq!(w.running(), Vec::<String>::new(), "an approval of 90 days ago runs");
}

#[test]
fn i11_a_two_phase_approval_can_be_taken_back() {
    let mut w = World::new();
    w.say("x").think("", &[("deploy", json!({"p": 1}))]);
    w.approve("ana", 0);
    let hold = w.hold(0).id;
    let by = Actor::Person(PersonId::new("root"));
    let r = w.tell(&Command::Hold {
        id: hold,
        command: HoldCommand::Cancel { by, reason: CancelReason::Unstated },
    });
    w.think("", &[("deploy", json!({"p": 1, "confirmed": true}))]);
    assert!(r.is_ok() && w.running().is_empty(), "409, and it still runs: {:?}", w.running());
}

#[test]
fn a_revoked_approval_settles_its_hold() {
    let mut w = World::new();
    w.frozen = None;
    w.say("x").think("", &[("wipe", json!({}))]);
    w.frozen = Some("fire".into());
    w.approve("ana", 0);
    let hold = w.hold(0).id;
    w.tell(&Command::Hold {
        id: hold,
        command: HoldCommand::Cancel {
            by: Actor::Person(PersonId::new("root")),
            reason: CancelReason::Unstated,
        },
    })
    .unwrap();
    assert!(
        w.hold(0).is_finished(),
        "wait?until=settled never ends: {:?} {:?}",
        w.hold(0).state.name(),
        w.hold(0).outcome()
    );
}

#[test]
fn a_run_that_ends_in_its_last_turn_is_complete() {
    let mut w = World::new();
    w.budgets.turns = 1;
    w.say("hello").think("hello!", &[]);
    assert_eq!(w.status(), "completed");
}

#[test]
fn a_settled_two_phase_call_replays_in_shape() {
    let mut w = World::new();
    w.say("x").think("", &[("deploy", json!({"p": 1}))]);
    w.approve("ana", 0);
    w.think("", &[("deploy", json!({"p": 1, "confirmed": true}))]);
    w.crash(&Recovered::Unknown { evidence: "".into() });
    w.answer_as("ana", 1, Answer::Settle { how: Settlement::Succeeded, content: None }).unwrap();
    w.think("", &[("deploy", json!({"p": 1, "confirmed": true}))]);
    let r = w.results().pop().unwrap();
    assert!(
        serde_json::from_str::<serde_json::Value>(&r)
            .is_ok_and(|v| v["status"] == "success" && v["replayed"] == true),
        "{r}"
    );
}

#[test]
fn a_missing_tool_does_not_hold_a_run_for_ever() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({}))]);
    w.tools.remove("wipe");
    w.approve("ana", 0);
    w.later(48 * HOUR_MS);
    assert_ne!(
        w.status(),
        "paused",
        "execute_by is long past: {:?} due {:?}",
        w.session.pending_work(),
        w.session.due_at()
    );
}

#[test]
fn i45_a_secret_does_not_show_in_warnings() {
    let mut w = World::new();
    let tool = Tool::new(
        "wipe",
        "x",
        json!({"type":"object","properties":{"key":{"type":"string","writeOnly":true}}}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    )
    .unwrap();
    w.tools.insert("wipe".into(), tool);
    w.say("x").think("", &[("wipe", json!({"key": "hunter2p\u{430}ypal"}))]);
    let text = holdpoint_domain::view::render(&w.hold(0));
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn i25_an_undecided_sibling_holds_back_effects() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({})), ("send", json!({}))]);
    w.frozen = Some("f".into());
    w.approve("ana", 0);
    // the tool changes while frozen
    let tool = Tool::new(
        "wipe",
        "changed",
        json!({"type":"object"}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    )
    .unwrap();
    w.tools.insert("wipe".into(), tool);
    w.frozen = None;
    w.tell(&Command::Wake).unwrap();
    assert!(w.hold(1).is_pending());
    assert_eq!(w.running(), Vec::<String>::new(), "`send` runs while `wipe` is undecided");
}

#[test]
fn i03_a_changed_tool_is_asked_about_as_what_it_is_now() {
    let mut w = World::new();
    let reads =
        Tool::new("wipe", "v1", json!({"type":"object"}), Effects::ReadOnly, Place::Server, "test")
            .unwrap();
    w.tools.insert("wipe".into(), reads);
    w.say("x").think("", &[("wipe", json!({}))]);
    let changed = Tool::new(
        "wipe",
        "v2",
        json!({"type":"object"}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    )
    .unwrap();
    w.tools.insert("wipe".into(), changed);
    w.approve("ana", 0);
    assert!(w.hold(1).is_pending());
    assert_eq!(
        w.hold(1).call().unwrap().effects,
        Effects::AtMostOnce,
        "asked again under the new definition, but as read_only"
    );
}

#[test]
fn stop_on_an_old_hold_does_not_cancel_another_run() {
    let mut w = World::new();
    w.say("x").think("", &[("deploy", json!({"p": 1}))]);
    w.approve("ana", 0);
    w.think("", &[("deploy", json!({"p": 1, "confirmed": true}))]);
    w.crash(&Recovered::Unknown { evidence: "".into() });
    w.think("ok", &[]);
    assert_eq!(w.status(), "completed");
    w.say("something else");
    w.answer_as("ana", 1, Answer::Deny { reason: None, stop: true }).unwrap();
    assert_eq!(w.status(), "running");
}

#[test]
fn i12_a_quorum_settle_can_be_agreed_on() {
    let mut w = World::new();
    w.say("x").think("", &[("launch", json!({}))]);
    w.approve("ana", 0).approve("bob", 0);
    w.crash(&Recovered::Unknown { evidence: "".into() });
    w.answer_as(
        "ana",
        1,
        Answer::Settle { how: Settlement::Succeeded, content: Some("saw it".into()) },
    )
    .unwrap();
    w.answer_as("bob", 1, Answer::Settle { how: Settlement::Succeeded, content: None }).unwrap();
    assert!(
        !w.hold(1).is_pending(),
        "two dbas said succeeded; neither may vote again, and it never expires"
    );
}

#[test]
fn i22_people_who_disagree_about_what_happened_do_not_hold_up_the_run_for_ever() {
    let mut w = World::new();
    w.say("x").think("", &[("launch", json!({}))]);
    w.approve("ana", 0).approve("bob", 0);
    w.crash(&Recovered::Unknown { evidence: "".into() });
    let settle = |how| Answer::Settle { how, content: None };
    w.answer_as("ana", 1, settle(Settlement::Retry)).unwrap();
    assert!(w.hold(1).is_pending(), "bob has not been heard");
    w.answer_as("bob", 1, settle(Settlement::Succeeded)).unwrap();
    let hold = w.hold(1);
    let HoldState::Cancelled { by: Actor::Runtime, reason: CancelReason::Stated(why), .. } =
        &hold.state
    else {
        panic!("no third person may say which it is, and it never expires: {:?}", hold.state)
    };
    assert!(why.contains("do not agree"), "{why}");
    assert_eq!(hold.votes.len(), 2, "both can be read");
    assert_eq!(w.hold(0).outcome(), Some(&HoldOutcome::Unknown));
    assert!(w.results().last().unwrap().contains("Outcome unknown"), "{:?}", w.results());
    assert_eq!((w.status(), w.count("call.started")), ("running", 1));
}

#[test]
fn too_few_people_to_agree_are_no_disagreement() {
    let mut w = World::new();
    w.say("x").think("", &[("launch", json!({}))]);
    w.approve("ana", 0).approve("bob", 0);
    w.crash(&Recovered::Unknown { evidence: "".into() });
    let everybody = w.people.clone();
    w.people = holdpoint_domain::person::People::new(
        everybody.iter().filter(|person| person.id != PersonId::new("bob")).cloned(),
    );
    let settle = || Answer::Settle { how: Settlement::Succeeded, content: None };
    w.answer_as("ana", 1, settle()).unwrap();
    assert!(w.hold(1).is_pending(), "bob is missing, and has not said anything else");
    w.people = everybody;
    w.answer_as("bob", 1, settle()).unwrap();
    assert_eq!(w.hold(1).state.name(), "answered");
}

#[test]
fn i09_an_edit_repeated_is_the_same_answer_again() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({"t": 1}))]);
    let shown = w.hold(0).digest();
    w.edit("ana", 0, json!({"t": 2})).unwrap();
    let arguments = holdpoint_domain::json::Arguments::from_value(json!({"t": 2})).unwrap();
    let answer =
        Answer::Approve { scope: ApprovalScope::Once, arguments: Some(arguments), note: None };
    let again = w.answer_with("ana", 0, Some(shown), answer, None);
    assert!(again.is_ok(), "{again:?}");
    assert_eq!(w.count("call.started"), 1);
}

#[test]
fn what_a_closing_process_could_not_finish_it_does_not_start() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({}))]);
    w.closing = true;
    w.approve("ana", 0);
    assert!(w.running().is_empty());
    w.closing = false;
    w.crash(&Recovered::Unknown { evidence: String::new() });
    assert_eq!(w.running().len(), 1, "the next process starts it");
}

#[test]
fn i09_the_same_option_by_id_and_by_label_is_the_same_answer() {
    let options = ["Blue-Green", "Canary"].map(|label| (label.to_owned(), None));
    let question = holdpoint_domain::hold::Question::choose(options, false, false).unwrap();
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({}))]);
    let mut hold = (*w.hold(0)).clone();
    hold.question = question;
    let by = logged_in("ana");
    let choose = |text: &str| Answer::Choose(vec![text.to_owned()]);
    let judged = |hold: &holdpoint_domain::hold::Hold, text: &str| {
        hold.judge(&choose(text), None, &by, None, &w.people, w.now)
    };
    let Ok(holdpoint_domain::hold::Judgement::Decides(state)) = judged(&hold, "Blue-Green") else {
        panic!("it decides")
    };
    hold.decided(state);
    assert_eq!(judged(&hold, "1"), Ok(holdpoint_domain::hold::Judgement::Repeat));
    assert!(judged(&hold, "2").is_err());
}

#[test]
fn an_empty_answer_in_a_tools_place_is_none() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({}))]);
    let empty = w.answer_as("ana", 0, Answer::Respond { content: "  ".into() });
    assert!(matches!(empty, Err(Refusal::AnswerInvalid { field, .. }) if field == "content"));
}

#[test]
fn i51_a_cancelled_run_ends_and_what_became_of_its_call_is_still_asked() {
    let mut w = World::new();
    w.say("x").think("", &[("wipe", json!({}))]);
    w.approve("ana", 0);
    let call = *w.session.calls.keys().next().unwrap();
    let (run, by) = (w.session.run.as_ref().unwrap().id, Actor::Person(PersonId::new("ana")));
    w.tell(&Command::CancelRun { run, by, reason: None }).unwrap();
    assert_ne!(w.status(), "cancelled", "it still runs");
    let outcome = holdpoint_domain::outcome::Outcome::Unknown { evidence: "may still run".into() };
    w.report(call, outcome).unwrap();
    assert_eq!(w.status(), "cancelled");
    let settle = w.hold(1);
    assert_eq!((settle.question.kind(), settle.state.name()), (QuestionKind::Settle, "pending"));
    let messages = w.session.transcript.len();
    w.answer_as("ana", 1, Answer::Settle { how: Settlement::Retry, content: None }).unwrap();
    assert_eq!(w.status(), "cancelled", "nothing is begun for that");
    assert_eq!(w.session.transcript.len(), messages);
    assert!(w.session.open_holds().next().is_none());
}
