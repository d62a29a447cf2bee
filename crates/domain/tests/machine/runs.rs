//! Messages, speakers and runs: whom a run belongs to, which run a message joins, and what follows a run that
//! was ended.

use std::sync::Arc;

use holdpoint_domain::answer::{Answer, Settlement};
use holdpoint_domain::context::WhilePending;
use holdpoint_domain::id::{MessageId, RunId};
use holdpoint_domain::message::{Message, Origin, Part, Role};
use holdpoint_domain::outcome::Outcome;
use holdpoint_domain::person::{Actor, PersonId};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{
    CallState, Command, PendingWork, Recovered, RuledTurn, SessionReply,
};
use serde_json::{Value, json};

use crate::world::{World, ask, policy, rule};

fn deploy() -> (&'static str, Value) {
    ("deploy", json!({"project": "a"}))
}

fn say_as(
    world: &mut World,
    who: &str,
    while_pending: Option<WhilePending>,
) -> Result<RunId, Refusal> {
    let message = Message {
        id: MessageId::new(world.now.as_ms(), world.bits()),
        role: Role::User,
        origin: Origin::Own,
        by: Some(PersonId::new(who)),
        login_makers: Default::default(),
        parts: vec![Part::Text("more".into())],
        at: world.now,
    };
    let run = RunId::new(world.now.as_ms(), world.bits());
    expect_run(world.tell(&Command::Say { message: Arc::new(message), run, while_pending }))
}

fn expect_run(reply: Result<SessionReply, Refusal>) -> Result<RunId, Refusal> {
    match reply? {
        SessionReply::Said { run } => Ok(run),
        other => panic!("{other:?}"),
    }
}

fn cancel(world: &mut World, run: RunId) -> Result<SessionReply, Refusal> {
    let by = Actor::Person(PersonId::new("ana"));
    world.tell(&Command::CancelRun { run, by, reason: None })
}

#[test]
fn i32_whoever_began_a_run_asks_in_it_also_after_word_of_a_decision() {
    let mut world = World::new();
    let requester = |world: &World| world.session.requester().map(ToString::to_string);
    say_as(&mut world, "bob", None).unwrap();
    assert_eq!(requester(&world).as_deref(), Some("bob"), "not who opened the session");
    world.think("", &[deploy()]).approve("root", 0);
    let last = world.session.transcript.last().unwrap();
    assert_eq!((last.role, last.origin), (Role::User, Origin::Runtime), "the model is told of it");
    assert_eq!(requester(&world).as_deref(), Some("bob"));
}

#[test]
fn i32_a_message_joins_only_the_run_of_its_own_speaker() {
    for (how, two_phase) in [(WhilePending::Deliver, true), (WhilePending::Supersede, false)] {
        for (who, joins) in [("bob", true), ("eve", false)] {
            let mut world = World::new();
            let first = say_as(&mut world, "bob", None).unwrap();
            let call = if two_phase { deploy() } else { ("wipe", json!({})) };
            world.think("", &[call]);
            let run = say_as(&mut world, who, Some(how)).unwrap();
            assert_eq!(run == first, joins, "{how:?} by {who}");
        }
    }
    // One that is held for its call's sake is not delivered past it.
    let mut world = World::new();
    let first = say_as(&mut world, "bob", None).unwrap();
    world.think("", &[deploy(), ("wipe", json!({}))]);
    assert_ne!(say_as(&mut world, "bob", Some(WhilePending::Deliver)).unwrap(), first);
}

#[test]
fn where_nothing_is_open_a_message_waits_its_turn_whatever_it_asks_for() {
    for how in [WhilePending::Refuse, WhilePending::Deliver, WhilePending::Supersede] {
        let mut world = World::new();
        world.say("x").think("", &[("look", json!({}))]);
        let first = world.run_id();
        let run = expect_run(world.say_with("more", Some(how))).expect("it is taken");
        assert_ne!(run, first, "{how:?}");
        assert_eq!(world.session.queue.len(), 1);
        world.finish().think("done", &[]);
        assert_eq!(world.run_id(), run, "and begins when the run before it has ended");
    }
}

/// A call of the turn runs, and a message waits for its result; then somebody ends the run.
#[test]
fn a_message_that_was_to_join_a_run_which_is_cancelled_begins_its_own() {
    let mut world = World::new();
    world.say("x").think("", &[deploy(), ("send", json!({}))]);
    let first = world.run_id();
    let joined = expect_run(world.say_with("more", Some(WhilePending::Deliver))).unwrap();
    assert_eq!((joined, world.session.queue.len()), (first, 1));
    cancel(&mut world, first).unwrap();
    world.finish();
    assert_ne!(world.run_id(), first, "it is not swallowed by the run that ended");
    assert_eq!((world.status(), world.last_text().as_str()), ("running", "more"));
    assert_eq!(world.session.pending_work(), [PendingWork::Think]);
}

#[test]
fn a_message_that_joins_a_run_at_work_resumes_nothing() {
    let mut world = World::new();
    world.say("x").think("", &[deploy(), ("send", json!({}))]);
    world.say_with("more", Some(WhilePending::Deliver)).unwrap();
    world.finish();
    assert_eq!((world.status(), world.last_text().as_str()), ("running", "more"));
    assert_eq!(world.count("run.resumed"), 0);
}

/// The runtime's own word is no reason to begin a run after a person ended the one that it was for.
#[test]
fn word_of_a_decision_begins_no_run_after_its_own_was_cancelled() {
    let mut world = World::new();
    world.say("x").think("", &[deploy(), ("send", json!({}))]);
    let first = world.run_id();
    world.approve("ana", 0);
    assert_eq!(world.session.queue.len(), 1, "it waits for the other call");
    cancel(&mut world, first).unwrap();
    world.finish();
    assert_eq!((world.run_id(), world.status()), (first, "cancelled"));
    assert_eq!(world.session.pending_work(), []);
}

#[test]
fn a_budget_counts_also_for_the_thought_about_a_message_while_a_confirmation_is_awaited() {
    let mut world = World::new();
    world.budgets.turns = 1;
    world.say("x").think("", &[deploy()]);
    assert_eq!(
        (world.status(), world.count("budget.used_up")),
        ("paused", 0),
        "nothing to think about"
    );
    world.say_with("more", Some(WhilePending::Deliver)).unwrap();
    assert_eq!(world.session.pending_work(), [], "the next thought is asked about first");
    assert!(world.hold(1).asks_to_go_on());
}

#[test]
fn a_message_in_place_of_the_question_whether_to_go_on_begins_another_run() {
    let mut world = World::new();
    world.budgets.turns = 1;
    world.say("x").think("", &[("look", json!({}))]).finish();
    let first = world.run_id();
    assert!(world.hold(0).asks_to_go_on());
    let run = expect_run(world.say_with("more", Some(WhilePending::Supersede))).unwrap();
    assert_ne!(run, first);
    assert_eq!((world.run_id(), world.status()), (run, "running"));
}

#[test]
fn a_run_that_is_over_says_how_it_ended_to_whoever_wants_to_change_it() {
    let is = |refused: Result<SessionReply, Refusal>| match refused {
        Err(Refusal::OutOfTurn { is, .. }) => is,
        other => panic!("{other:?}"),
    };
    let mut world = World::new();
    world.say("x").think("done", &[]);
    let (run, other) = (world.run_id(), RunId::new(1, 7));
    assert_eq!(is(cancel(&mut world, run)), "completed");
    assert_eq!(is(cancel(&mut world, other)), "over");
    assert_eq!(is(world.tell(&Command::RetryRun { run })), "completed");
    assert_eq!(is(world.tell(&Command::RetryRun { run: other })), "over");
}

#[test]
fn i16_a_settlement_is_for_the_call_that_it_is_about() {
    for (answered, open) in [(0, 1), (1, 0)] {
        let mut world = World::new();
        world.say("x").think("", &[("send", json!({"n": 1})), ("send", json!({"n": 2}))]);
        world.crash(&Recovered::Unknown { evidence: String::new() });
        let how = Settlement::Succeeded;
        world.answer_as("ana", answered, Answer::Settle { how, content: None }).unwrap();
        let state = |n: usize| &world.session.calls[&world.hold(n).call_id().unwrap()].state;
        assert!(matches!(state(answered), CallState::Settled { .. }));
        assert!(matches!(state(open), CallState::InDoubt { .. }), "nobody has said anything of it");
    }
}

#[test]
fn i51_a_no_to_what_became_of_an_old_call_ends_no_later_run() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]).approve("ana", 0);
    let (run, call) = (world.run_id(), *world.session.calls.keys().next().unwrap());
    cancel(&mut world, run).unwrap();
    world.report(call, Outcome::Unknown { evidence: String::new() }).unwrap();
    world.say("something else");
    world.answer_as("ana", 1, Answer::Deny { reason: None, stop: true }).unwrap();
    assert_eq!((world.hold(1).state.name(), world.status()), ("denied", "running"));
}

#[test]
fn i51_a_finding_about_a_call_of_a_cancelled_run_is_kept_and_begins_nothing() {
    for how in [Settlement::Succeeded, Settlement::Failed] {
        let mut world = World::new();
        world.say("x").think("", &[("wipe", json!({}))]).approve("ana", 0);
        let (run, call) = (world.run_id(), *world.session.calls.keys().next().unwrap());
        cancel(&mut world, run).unwrap();
        world.report(call, Outcome::Unknown { evidence: String::new() }).unwrap();
        let messages = world.session.transcript.len();
        world.answer_as("ana", 1, Answer::Settle { how, content: None }).unwrap();
        let outcome = world.hold(0).outcome().cloned();
        assert!(outcome.is_some_and(|outcome| outcome.is_final()), "{how:?} is on record");
        assert_eq!((world.status(), world.session.pending_work()), ("cancelled", vec![]));
        assert_eq!((world.session.transcript.len(), world.session.queue.len()), (messages, 0));
    }
}

#[test]
fn a_text_in_place_of_a_two_phase_call_reaches_the_model() {
    let mut world = World::new();
    world.say("x").think("", &[deploy()]);
    let content = "it was deployed by hand".to_owned();
    world.answer_as("ana", 0, Answer::Respond { content }).unwrap();
    let told = world.last_text();
    assert!(told.ends_with("the person answered: it was deployed by hand"), "{told}");
}

/// Three of six words: less than three fifths.
#[test]
fn a_call_that_shares_half_its_words_with_a_denied_one_is_not_similar() {
    for (words, similar) in [("a b d e", false), ("a b c d", true)] {
        let mut world = World::new();
        world.say("x").think("", &[("wipe", json!({"sql": "a b c"}))]).deny("ana", 0, "no");
        world.think("", &[("wipe", json!({ "sql": words }))]);
        assert_eq!(!world.hold(1).preview.warnings.is_empty(), similar, "{words}");
    }
}

#[test]
fn i08_a_grant_is_not_spent_on_a_call_that_two_people_must_approve() {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    world.answer_as("ana", 0, crate::world::approve_for_session()).unwrap();
    world.finish();
    let two = rule("two by now", "wipe", holdpoint_domain::policy::Then::Ask, ask(&["dba"], 2));
    world.policy = policy(vec![two]);
    world.think("", &[("wipe", json!({}))]);
    assert_eq!((world.count("grant.used"), world.count("hold.opened")), (0, 2));
    // Taken back twice, it is taken back once.
    let grant = *world.session.grants.keys().next().unwrap();
    let by = Actor::Person(PersonId::new("ana"));
    for _ in 0..2 {
        world.tell(&Command::RevokeGrant { grant, by: by.clone() }).unwrap();
    }
    assert_eq!(world.count("grant.revoked"), 1);
    assert_eq!(
        world.session.holds.clone().into_iter().count(),
        2,
        "all of them are there to be read"
    );
}

#[test]
fn a_thought_about_what_is_no_longer_the_end_of_the_transcript_is_not_taken() {
    let mut world = World::new();
    world.say("x");
    let seen = world.session.transcript.len();
    let think = |world: &mut World, seen: usize| {
        let message = MessageId::new(world.now.as_ms(), world.bits());
        let parts = vec![Part::Text("done".into())];
        let thought = RuledTurn { message, parts, calls: Vec::new(), usage: world.usage };
        world.tell(&Command::RecordTurn { seen, turn: thought })
    };
    for wrong in [seen - 1, seen + 1] {
        assert!(matches!(think(&mut world, wrong), Err(Refusal::Overtaken)), "{wrong}");
    }
    think(&mut world, seen).unwrap();
    let now = world.session.transcript.len();
    assert!(matches!(think(&mut world, now), Err(Refusal::Overtaken)), "nobody asked for it");
}
