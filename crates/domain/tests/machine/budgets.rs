//! A run that has used up a budget asks whether it may go on, before the next model call.

use holdpoint_domain::answer::Answer;
use holdpoint_domain::budget::{Budgets, Usage};
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::hold::{CancelReason, HoldCommand, Question};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::person::{Actor, People, PersonId};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, PendingWork, Recovered, RunStatus};
use serde_json::json;

use crate::world::{HOUR_MS, World, approve, approve_for_session, deny, person};

fn look() -> [(&'static str, serde_json::Value); 1] {
    [("look", json!({}))]
}

/// Two turns are used up, and the calls of both have their results.
fn after_two_turns() -> World {
    let mut w = World::new();
    w.budgets.turns = 2;
    w.say("go").think("", &look()).finish().think("", &look()).finish();
    w
}

fn reason(w: &World) -> String {
    let run = w.session.run.as_ref().expect("a run");
    run.stopping().and_then(|stopping| stopping.reason.clone()).unwrap_or_default()
}

#[test]
fn a_person_is_asked_before_the_model_call_for_which_nothing_is_left() {
    let w = after_two_turns();
    assert_eq!(w.status(), "paused");
    assert_eq!(w.session.pending_work(), [], "no model is called");
    assert_eq!(w.results(), ["did look"], "the calls of the last turn were carried out");
    let hold = w.hold(0);
    assert_eq!(hold.question, Question::Approve);
    assert!(hold.call().is_none() && hold.asks_to_go_on());
    assert_eq!(hold.title, "Let the run go on? It has used up its 2 turns");
    assert_eq!(
        hold.preview.summary.as_deref(),
        Some("used: 2 turns; going on gives it 2 turns again")
    );
    assert_eq!(hold.context, json!({"budget": "turns", "used": 2, "limit": 2}));
    assert_eq!(hold.run(), Some(w.run_id()));
    assert!(hold.expires_at.is_some());
    let ask = |who: &str| hold.admits(&PersonId::new(who), &w.people);
    assert!(ask("ana") && ask("root"), "the requester and the admins");
    assert!(!ask("bob") && !ask("eve"), "and nobody else");
}

#[test]
fn a_yes_gives_the_same_amount_again_and_no_more() {
    let mut w = after_two_turns();
    w.approve("ana", 0);
    assert_eq!((w.status(), w.session.pending_work()), ("running", vec![PendingWork::Think]));
    w.think("", &look()).finish();
    assert_eq!(w.session.pending_work(), [PendingWork::Think]);
    w.think("", &look()).finish();
    assert_eq!(w.status(), "paused");
    assert_eq!(w.hold(1).title, "Let the run go on? It has used up its 2 turns");
    w.approve("root", 1).think("done", &[]);
    assert_eq!(w.status(), "completed");
    assert_eq!(w.session.run.as_ref().unwrap().spent.turns, 5);
}

#[test]
fn a_no_ends_the_run_and_says_who_and_why() {
    for stop in [false, true] {
        let mut w = after_two_turns();
        let no = Answer::Deny { reason: Some("not today".into()), stop };
        w.answer_as("ana", 0, no).unwrap();
        assert_eq!(w.status(), "cancelled");
        assert_eq!(
            reason(&w),
            "the run used up its 2 turns, and Ana did not let it go on: not today"
        );
        // The world has checked that every call has its result; the next message is heard.
        w.say("once more").think("hello", &[]);
        assert_eq!(w.status(), "completed");
    }
}

#[test]
fn i27_silence_is_no_leave() {
    let mut w = after_two_turns();
    w.later(23 * HOUR_MS);
    assert_eq!(w.status(), "paused");
    w.later(2 * HOUR_MS);
    assert_eq!(w.status(), "cancelled");
    assert_eq!(
        reason(&w),
        "the run used up its 2 turns, and nobody said in time that it may go on"
    );
    assert!(matches!(w.answer_as("ana", 0, approve()), Err(Refusal::Expired { .. })));
}

#[test]
fn withdrawing_the_question_or_the_run_ends_it() {
    let by = Actor::Person(PersonId::new("ana"));
    let mut w = after_two_turns();
    let hold = w.hold(0).id;
    w.tell(&Command::Hold {
        id: hold,
        command: HoldCommand::Cancel { by: by.clone(), reason: CancelReason::Unstated },
    })
    .unwrap();
    assert_eq!(w.status(), "cancelled");
    assert_eq!(
        reason(&w),
        "the run used up its 2 turns, and the question whether it may go on was withdrawn"
    );
    let mut w = after_two_turns();
    let run = w.run_id();
    w.tell(&Command::CancelRun { run, by, reason: Some("enough".into()) }).unwrap();
    assert_eq!((w.status(), reason(&w).as_str()), ("cancelled", "enough"));
    assert_eq!(w.hold(0).state.name(), "cancelled");
}

#[test]
fn messages_meanwhile_wait_or_begin_a_run_of_their_own() {
    let mut w = after_two_turns();
    w.say("and then?");
    assert_eq!((w.status(), w.session.queue.len()), ("paused", 1));
    w.deny("ana", 0, "no");
    assert_eq!(w.session.pending_work(), [PendingWork::Think], "the message's own run has begun");
    assert_eq!(w.last_text(), "and then?");

    let mut w = after_two_turns();
    let first = w.run_id();
    w.say_with("never mind", Some(WhilePending::Supersede)).unwrap();
    assert_ne!(w.run_id(), first);
    assert_eq!((w.status(), w.session.pending_work()), ("running", vec![PendingWork::Think]));
    assert_eq!(w.hold(0).state.name(), "cancelled");

    let mut w = after_two_turns();
    let refused = w.say_with("hello", Some(WhilePending::Refuse));
    assert!(matches!(refused, Err(Refusal::HoldsOpen { .. })));
    // It is no two-phase hold, so there is no talking around it.
    w.say_with("hello", Some(WhilePending::Deliver)).unwrap();
    assert_eq!(w.status(), "paused");
}

#[test]
fn only_yes_and_no_are_answers_to_it() {
    let mut w = after_two_turns();
    let respond = Answer::Respond { content: "go on".into() };
    for answer in [respond, approve_for_session(), Answer::Fill(json!({"text": "yes"}))] {
        let refused = w.answer_as("ana", 0, answer);
        assert!(matches!(refused, Err(Refusal::AnswerInvalid { .. })), "{refused:?}");
    }
    assert!(matches!(w.answer_as("bob", 0, deny("no")), Err(Refusal::NotEntitled { .. })));
    let shown = w.answer_with("ana", 0, None, approve(), None);
    assert!(matches!(shown, Err(Refusal::AnswerInvalid { .. })), "a yes names what was shown");
    assert_eq!(w.status(), "paused");
}

#[test]
fn a_run_that_is_done_is_not_asked_about() {
    let mut w = World::new();
    w.budgets.turns = 1;
    w.say("hello").think("hello", &[]);
    assert_eq!((w.status(), w.count("hold.opened")), ("completed", 0));
}

#[test]
fn tokens_and_money_are_counted_over_all_turns_of_the_run() {
    let mut w = World::new();
    w.budgets = Budgets { tokens: Some(100), money: Some(5_000), ..Budgets::default() };
    w.usage = Usage { input_tokens: 30, cached_tokens: 10, output_tokens: 5, money: 1_000 };
    w.say("go").think("", &look()).finish().think("", &look()).finish();
    assert_eq!(w.status(), "running");
    w.think("", &look()).finish();
    assert_eq!(w.hold(0).title, "Let the run go on? It has used up its 100 tokens");
    assert_eq!(w.hold(0).context, json!({"budget": "tokens", "used": 105, "limit": 100}));
    w.approve("ana", 0).think("", &look()).finish().think("", &look()).finish();
    // What was renewed are the tokens; the money goes on counting.
    assert_eq!(w.hold(1).title, "Let the run go on? It has used up its 0.005 of money");
    let spent = w.session.run.as_ref().unwrap().spent;
    assert_eq!((spent.usage.input_tokens, spent.usage.output_tokens), (150, 25));
    assert_eq!((spent.usage.cached_tokens, spent.usage.money, spent.turns), (50, 5_000, 5));
    w.deny("ana", 1, "no").say("again");
    assert_eq!(w.session.run.as_ref().unwrap().spent.usage, Usage::default(), "a new run");
}

#[test]
fn the_time_for_which_people_are_waited_for_does_not_count() {
    let mut w = World::new();
    w.budgets = Budgets { time_ms: Some(1_000), ..Budgets::default() };
    w.say("go");
    w.now = w.now.plus_ms(600);
    w.think("", &[("wipe", json!({}))]);
    w.later(3 * HOUR_MS);
    w.approve("ana", 0);
    w.now = w.now.plus_ms(300);
    w.finish();
    assert_eq!(w.session.pending_work(), [PendingWork::Think], "900 ms");
    w.now = w.now.plus_ms(50);
    w.think("", &look());
    w.now = w.now.plus_ms(50);
    w.finish();
    assert_eq!(w.hold(1).title, "Let the run go on? It has used up its 1 s of running");
    // Neither does the time until somebody lets it go on.
    w.later(5 * HOUR_MS);
    w.approve("ana", 1);
    w.now = w.now.plus_ms(999);
    w.think("", &look()).finish();
    assert_eq!(w.session.pending_work(), [PendingWork::Think]);
}

#[test]
fn a_thought_that_is_on_its_way_is_not_thrown_away() {
    let mut w = World::new();
    w.budgets = Budgets { time_ms: Some(1_000), ..Budgets::default() };
    w.say("go");
    w.now = w.now.plus_ms(5_000);
    w.tell(&Command::Wake).unwrap();
    w.say("are you there?");
    assert_eq!(w.session.pending_work(), [PendingWork::Think], "somebody is thinking it");
    w.think("", &look()).finish();
    assert_eq!(w.status(), "paused", "the next one needs leave");
}

#[test]
fn a_restart_changes_nothing_about_it() {
    let mut w = after_two_turns();
    w.crash(&Recovered::Unknown { evidence: String::new() });
    assert_eq!((w.status(), w.session.pending_work()), ("paused", vec![]));
    assert_eq!(w.session.due_at(), w.hold(0).expires_at);
    w.approve("ana", 0);
    assert_eq!(w.session.pending_work(), [PendingWork::Think]);
}

#[test]
fn a_late_result_and_a_failed_turn_come_to_the_same_question() {
    let mut w = World::new();
    w.budgets.turns = 1;
    w.say("go").think("", &[("send", json!({}))]);
    let call = *w.session.calls.keys().next().unwrap();
    w.report(call, Outcome::Failed(Output::text("no"))).unwrap();
    assert_eq!(w.count("budget.used_up"), 1);
    let mut w = World::new();
    w.budgets.turns = 1;
    w.say("go").think("", &[("no such tool", json!({}))]);
    assert_eq!(w.count("budget.used_up"), 1, "a turn that only went wrong was a turn");
}

#[test]
fn while_a_confirmation_is_awaited_nobody_is_asked_for_nothing() {
    let mut w = World::new();
    w.budgets.turns = 1;
    w.say("go").think("", &[("deploy", json!({"p": 1}))]);
    assert_eq!((w.status(), w.count("hold.opened")), ("paused", 1));
    assert_eq!(w.count("budget.used_up"), 0);
    w.approve("ana", 0);
    assert_eq!(w.count("budget.used_up"), 1, "now the model would be told");
    assert_eq!(w.status(), "paused");
    w.approve("ana", 1);
    assert_eq!(w.session.pending_work(), [PendingWork::Think]);
    assert!(w.last_text().contains("The person approved deploy"), "{}", w.last_text());
}

#[test]
fn where_nobody_can_be_asked_the_run_ends() {
    let mut w = World::new();
    w.people = People::new([person("bob", &["dba"])]);
    w.budgets.turns = 1;
    w.say("go").think("", &look()).finish();
    let run = w.session.run.as_ref().unwrap();
    assert_eq!((run.status(), w.count("hold.opened")), (RunStatus::Cancelled, 0));
    assert_eq!(
        reason(&w),
        "the run used up its 1 turn, and nobody is configured who could let it go on"
    );
}
