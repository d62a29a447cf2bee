//! The whole circle of one call: propose, hold, answer, run once, resume.

use crate::world::{World, approve, approve_for_session, deny, policy, rule};
use holdpoint_domain::answer::Answer;
use holdpoint_domain::answer::Settlement;
use holdpoint_domain::event::SessionEvent;
use holdpoint_domain::hold::{CancelReason, HoldCommand, HoldOutcome, QuestionKind};
use holdpoint_domain::outcome::{Outcome, Output};
use holdpoint_domain::policy::Then;
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{CallState, Command, Recovered};
use serde_json::json;

fn held() -> World {
    let mut world = World::new();
    world.say("wipe it").think("I will wipe.", &[("wipe", json!({"table": "a"}))]);
    world
}

#[test]
fn i01_nothing_runs_before_an_entitled_person_approved() {
    let mut world = held();
    assert_eq!((world.status(), world.running()), ("paused", vec![]));
    world.approve("ana", 0);
    assert_eq!(world.running(), [r#"wipe {"table":"a"}"#]);
    world.finish();
    assert_eq!(world.results(), ["did wipe"]);
    assert_eq!(world.status(), "running");
    world.think("Done.", &[]);
    assert_eq!(world.status(), "completed");
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn i14_the_intent_is_in_the_same_commit_as_the_answer_and_before_any_result() {
    let mut world = held();
    let before = world.events.len();
    world.approve("ana", 0);
    let names: Vec<_> = world.events[before..].iter().map(SessionEvent::name).collect();
    assert_eq!(names, ["hold.decided", "call.started", "run.resumed"]);
}

#[test]
fn a_denial_reaches_the_model_with_name_and_reason() {
    let mut world = held();
    world.deny("bob", 0, "not today");
    assert_eq!(world.results(), ["! Denied by Bob: not today"]);
    assert_eq!((world.status(), world.count("call.started")), ("running", 0));
}

#[test]
fn deny_and_stop_ends_the_run() {
    let mut world = held();
    world.answer_as("ana", 0, Answer::Deny { reason: None, stop: true }).unwrap();
    assert_eq!(world.status(), "cancelled");
    assert_eq!(world.results().len(), 1, "the call still has its result");
}

#[test]
fn an_answer_in_the_calls_place_is_its_result() {
    let mut world = held();
    world.answer_as("ana", 0, Answer::Respond { content: "use table b".into() }).unwrap();
    assert_eq!(world.results(), ["use table b"]);
    assert_eq!(world.hold(0).state.name(), "answered");
}

#[test]
fn a_rule_that_denies_opens_no_hold() {
    let mut world = World::new();
    world.say("boom").think("", &[("nuke", json!({}))]);
    assert_eq!(world.results(), ["! Denied by rule \"never\". The call was not run."]);
    assert_eq!(world.count("hold.opened"), 0);
}

#[test]
fn i06_an_unknown_tool_gets_an_error_result_and_nothing_runs() {
    let mut world = World::new();
    world.say("x").think("", &[("frobnicate", json!({}))]);
    assert_eq!(world.results(), ["! There is no tool `frobnicate`."]);
    assert_eq!(world.count("call.started"), 0);
}

#[test]
fn i09_first_answer_wins_a_repeat_is_fine_and_others_are_told() {
    let mut world = held();
    world.approve("ana", 0);
    let events = world.events.len();
    assert!(world.answer_as("ana", 0, approve()).is_ok(), "the same again");
    assert_eq!(world.events.len(), events, "and nothing happened by it");
    for (who, answer) in [("bob", approve()), ("ana", deny("no")), ("bob", deny("no"))] {
        match world.answer_as(who, 0, answer) {
            Err(Refusal::AlreadyDecided { hold }) => {
                assert_eq!(hold.state.decision().unwrap().vote().unwrap().by.as_str(), "ana");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn i11_a_decided_hold_never_changes_its_decision() {
    let mut world = held();
    world.deny("ana", 0, "no");
    assert!(world.answer_as("bob", 0, approve()).is_err());
    world.later(100 * crate::world::HOUR_MS);
    assert_eq!(world.hold(0).state.name(), "denied");
    assert_eq!(world.running(), Vec::<String>::new());
}

#[test]
fn i12_two_different_people_are_two_and_one_person_twice_is_one() {
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({}))]);
    world.approve("ana", 0);
    assert_eq!(world.hold(0).state.name(), "pending");
    world.approve("ana", 0);
    assert_eq!(world.hold(0).state.name(), "pending", "the same person counts once");
    assert!(matches!(
        world.answer_as("ana", 0, Answer::Respond { content: "x".into() }),
        Err(Refusal::AlreadyVoted { .. })
    ));
    assert!(world.running().is_empty());
    world.approve("bob", 0);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i12_one_denial_denies_whatever_the_quorum() {
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({}))]);
    world.approve("ana", 0).deny("bob", 0, "no");
    assert_eq!(world.hold(0).state.name(), "denied");
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({}))]);
    world.approve("ana", 0);
    let other = world.answer_as("ana", 0, deny("on second thoughts"));
    assert!(matches!(other, Err(Refusal::AlreadyVoted { .. })), "one vote each");
}

#[test]
fn i12_a_voter_who_lost_the_role_no_longer_counts() {
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({}))]);
    world.approve("ana", 0);
    world.people = holdpoint_domain::person::People::new([
        crate::world::person("ana", &["guest"]),
        crate::world::person("bob", &["dba"]),
        crate::world::person("cid", &["dba"]),
    ]);
    world.approve("bob", 0);
    assert_eq!(world.hold(0).state.name(), "pending", "Ana's vote is void");
    world.approve("cid", 0);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i31_only_the_audience_answers() {
    let mut world = held();
    for who in ["eve", "root", "nobody"] {
        assert!(
            matches!(world.answer_as(who, 0, approve()), Err(Refusal::NotEntitled { .. })),
            "{who}"
        );
    }
    assert_eq!(world.hold(0).state.name(), "pending");
}

#[test]
fn i32_the_requester_cannot_approve_where_the_rule_says_so() {
    let mut world = World::new();
    let mut asked = crate::world::ask(&["dba"], 1);
    asked.as_mut().unwrap().exclude_requester = true;
    world.policy = policy(vec![rule("four eyes", "wipe", Then::Ask, asked)]);
    world.say("x").think("", &[("wipe", json!({}))]);
    assert!(matches!(world.answer_as("ana", 0, approve()), Err(Refusal::NotEntitled { .. })));
    world.approve("bob", 0);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i02_an_approval_must_name_the_digest_that_was_shown() {
    let mut world = held();
    assert!(matches!(
        world.answer_with("ana", 0, None, approve(), None),
        Err(Refusal::AnswerInvalid { field, .. }) if field == "digest"
    ));
    let other = holdpoint_domain::digest::Digest::of(b"something else");
    assert!(matches!(
        world.answer_with("ana", 0, Some(other), approve(), None),
        Err(Refusal::VersionConflict { .. })
    ));
    assert_eq!(world.running(), Vec::<String>::new());
}

#[test]
fn i02_an_edit_runs_the_edited_bytes_and_the_models_own_call_stays() {
    let mut world = held();
    world.edit("ana", 0, json!({"table": "b"})).unwrap();
    assert_eq!(world.running(), [r#"wipe {"table":"b"}"#]);
    let written = format!("{:?}", world.session.transcript[1].parts);
    assert!(written.contains(r#"{\"table\":\"a\"}"#), "{written}");
}

#[test]
fn i02_an_edit_voids_earlier_votes() {
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({"n": 1}))]);
    let shown = world.hold(0).digest();
    world.approve("ana", 0);
    world.edit("bob", 0, json!({"n": 2})).unwrap();
    assert_eq!(world.hold(0).state.name(), "pending", "two must approve the edited call");
    assert_eq!(world.hold(0).votes.len(), 1, "Ana's vote was for another call");
    assert!(matches!(
        world.answer_with("ana", 0, Some(shown), approve(), None),
        Err(Refusal::VersionConflict { .. })
    ));
    world.approve("ana", 0);
    assert_eq!(world.running(), [r#"launch {"n":2}"#]);
}

#[test]
fn the_next_approver_is_shown_what_every_edit_changed() {
    let mut world = World::new();
    world.say("go").think("", &[("launch", json!({"n": 1, "to": "moon"}))]);
    let proposed = holdpoint_domain::view::digest(&world.hold(0));
    world.edit("bob", 0, json!({"n": 2, "to": "moon"})).unwrap();
    let text = holdpoint_domain::view::render(&world.hold(0));
    let change = "changed by an edit (person):\n│ -n: 1\n│ +n: 2\n│  to: \"moon\"\n";
    assert!(text.contains(change) && text.contains("arguments (person):\n│ n: 2\n"), "{text}");
    assert_ne!(holdpoint_domain::view::digest(&world.hold(0)), proposed, "a vote records it");
    world.edit("ana", 0, json!({"n": 2, "to": "mars"})).unwrap();
    let text = holdpoint_domain::view::render(&world.hold(0));
    let both = "│ +n: 2\n│  to: \"moon\"\n│  n: 2\n│ -to: \"moon\"\n│ +to: \"mars\"\n";
    assert!(text.contains(both), "{text}");
}

#[test]
fn i05_an_edit_that_the_editor_may_not_approve_waits_for_those_who_may() {
    let mut world = held();
    let conditions = holdpoint_domain::policy::ConditionSpec {
        pointer: "/table".into(),
        op: holdpoint_domain::policy::Op::Equals(json!("payroll")),
    };
    let mut payroll =
        rule("payroll is the admin's", "wipe", Then::Ask, crate::world::ask(&["admin"], 1));
    payroll.matcher.args = vec![conditions];
    world.policy = policy(vec![
        payroll,
        rule("wiping needs a dba", "wipe", Then::Ask, crate::world::ask(&["dba"], 1)),
    ]);
    world.edit("ana", 0, json!({"table": "payroll"})).unwrap();
    assert_eq!(world.hold(0).state.name(), "pending");
    assert!(matches!(world.answer_as("bob", 0, approve()), Err(Refusal::NotEntitled { .. })));
    world.approve("root", 0);
    assert_eq!(world.running(), [r#"wipe {"table":"payroll"}"#]);
}

#[test]
fn i08_an_approval_is_used_once_and_a_session_grant_covers_the_same_call_only() {
    let mut world = held();
    world.approve("ana", 0).finish();
    world.think("again", &[("wipe", json!({"table": "a"}))]);
    assert_eq!(world.status(), "paused", "an approval is for one call");
    world.answer_as("ana", 1, approve_for_session()).unwrap();
    world.finish().think("once more", &[("wipe", json!({"table": "a"}))]);
    assert_eq!(world.running().len(), 1, "the grant covers it");
    world.finish().think("another", &[("wipe", json!({"table": "b"}))]);
    assert_eq!(world.status(), "paused", "other arguments are another call");
}

#[test]
fn i08_a_grant_ends_with_its_time_its_uses_and_its_revocation() {
    for end in ["time", "revoked", "left"] {
        let mut world = held();
        world.answer_as("ana", 0, approve_for_session()).unwrap();
        world.finish();
        match end {
            "time" => {
                world.later(25 * crate::world::HOUR_MS);
            }
            "revoked" => {
                let grant = *world.session.grants.keys().next().unwrap();
                let by = holdpoint_domain::person::Actor::Person(
                    holdpoint_domain::person::PersonId::new("ana"),
                );
                world.tell(&Command::RevokeGrant { grant, by }).unwrap();
            }
            _ => {
                world.people =
                    holdpoint_domain::person::People::new([crate::world::person("bob", &["dba"])])
            }
        }
        world.think("again", &[("wipe", json!({"table": "a"}))]);
        assert_eq!(world.status(), "paused", "{end}");
    }
}

#[test]
fn i16_a_crash_in_the_middle_asks_a_person_and_never_runs_again() {
    let mut world = held();
    world.approve("ana", 0);
    world.crash(&Recovered::Unknown { evidence: "pid 7".into() });
    assert_eq!(world.running(), Vec::<String>::new());
    assert_eq!(world.hold(0).outcome(), Some(&HoldOutcome::Unknown));
    let settle = world.hold(1);
    assert_eq!(
        (settle.question.kind(), settle.parent),
        (QuestionKind::Settle, Some(world.hold(0).id))
    );
    assert_eq!(settle.expires_at, None);
    assert_eq!(world.status(), "paused");
    let how = Answer::Settle { how: Settlement::Succeeded, content: Some("it is gone".into()) };
    world.answer_as("bob", 1, how).unwrap();
    assert_eq!(world.results(), ["it is gone"]);
    assert_eq!(world.hold(0).outcome().map(HoldOutcome::name), Some("succeeded"));
    assert_eq!(world.count("call.started"), 1);
}

#[test]
fn i16_a_retry_is_a_new_hold_that_nobody_approved_yet() {
    let mut world = held();
    world.approve("ana", 0);
    world.crash(&Recovered::Unknown { evidence: String::new() });
    world.answer_as("ana", 1, Answer::Settle { how: Settlement::Retry, content: None }).unwrap();
    assert!(world.running().is_empty());
    assert_ne!(world.hold(2).digest(), world.hold(0).digest(), "another revision");
    world.approve("ana", 2);
    assert_eq!(world.running().len(), 1);
    world.finish();
    assert_eq!(world.results(), ["did wipe"]);
}

#[test]
fn i15_what_only_reads_is_run_again_by_the_next_process_and_late_reports_are_refused() {
    let mut world = World::new();
    world.say("x").think("", &[("look", json!({}))]);
    let call = *world.session.calls.keys().next().unwrap();
    world.crash(&Recovered::Again);
    assert_eq!(world.running().len(), 1);
    let late =
        Command::Report { call, attempt: 1, outcome: Outcome::Succeeded(Output::text("zombie")) };
    assert_eq!(world.tell(&late), Err(Refusal::Overtaken), "the first attempt was fenced off");
    world.finish();
    assert_eq!(world.results(), ["did look"]);
}

#[test]
fn i20_a_result_is_taken_once() {
    let mut world = held();
    world.approve("ana", 0);
    let call = *world.session.calls.keys().next().unwrap();
    world.finish();
    let again = world.report(call, Outcome::Failed(Output::text("other")));
    assert_eq!(again, Err(Refusal::Overtaken));
    assert!(matches!(world.session.calls[&call].state, CallState::Settled { .. }));
}

#[test]
fn a_failed_run_goes_on_from_its_last_sound_point() {
    let mut world = World::new();
    world.say("x");
    let seen = world.session.transcript.len();
    world.tell(&Command::ThinkFailed { seen, error: "busy".into() }).unwrap();
    assert_eq!(world.status(), "failed");
    let run = world.run_id();
    world.tell(&Command::RetryRun { run }).unwrap();
    world.think("hello", &[]);
    assert_eq!((world.status(), world.run_id()), ("completed", run));
}

#[test]
fn a_turn_made_from_an_old_transcript_is_void() {
    let mut world = held();
    let thought = holdpoint_domain::session::RuledTurn {
        usage: Default::default(),
        message: holdpoint_domain::id::MessageId::new(0, 0),
        parts: vec![],
        calls: vec![],
    };
    assert_eq!(
        world.tell(&Command::RecordTurn { seen: 1, turn: thought }),
        Err(Refusal::Overtaken)
    );
}

#[test]
fn an_approval_can_be_taken_back_until_the_call_starts() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    world.approve("ana", 0);
    assert!(world.running().is_empty(), "the sibling is undecided");
    let by =
        holdpoint_domain::person::Actor::Person(holdpoint_domain::person::PersonId::new("ana"));
    let hold = world.hold(0).id;
    world
        .tell(&Command::Hold {
            id: hold,
            command: HoldCommand::Cancel { by: by.clone(), reason: CancelReason::Unstated },
        })
        .unwrap();
    world.approve("ana", 1);
    assert_eq!(world.running(), [r#"wipe {"n":2}"#]);
    let hold = world.hold(1).id;
    let late = world.tell(&Command::Hold {
        id: hold,
        command: HoldCommand::Cancel { by, reason: CancelReason::Unstated },
    });
    assert!(matches!(late, Err(Refusal::AlreadyDecided { .. })), "it is running already");
}

#[test]
fn i17_a_zombie_of_an_earlier_start_cannot_report_for_a_later_one() {
    let mut world = held();
    world.approve("ana", 0);
    let call = *world.session.calls.keys().next().unwrap();
    world.crash(&Recovered::Unknown { evidence: String::new() });
    world.answer_as("ana", 1, Answer::Settle { how: Settlement::Retry, content: None }).unwrap();
    world.approve("ana", 2);
    assert_eq!(world.running().len(), 1);
    let zombie =
        Command::Report { call, attempt: 1, outcome: Outcome::Succeeded(Output::text("old")) };
    assert_eq!(world.tell(&zombie), Err(Refusal::Overtaken));
    world.finish();
    assert_eq!(world.results(), ["did wipe"]);
}

#[test]
fn i44_a_vote_keeps_what_was_shown_to_whom_and_how_they_proved_it() {
    let mut world = held();
    let (shown, call) = (holdpoint_domain::view::digest(&world.hold(0)), world.hold(0).digest());
    world.approve("ana", 0);
    let decided = world.hold(0);
    let vote = decided.state.decision().unwrap().vote().unwrap().clone();
    assert_eq!((vote.view, vote.digest), (shown, call));
    assert_eq!((vote.by.as_str(), vote.via.as_str(), vote.at), ("ana", "web", world.now));
    assert_eq!(vote.proof, holdpoint_domain::person::Proof::Login);
    // What was on the table can be drawn again from the record, to the same digest.
    assert_eq!(holdpoint_domain::view::digest(&decided), vote.view);
}
