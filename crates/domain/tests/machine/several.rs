//! Several answers that came together: all of them count, or none does.

use holdpoint_domain::answer::Answer;
use holdpoint_domain::hold::HoldState;
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, GivenAnswer, PendingWork, SessionReply};
use serde_json::json;

use crate::answers::logged_in;
use crate::world::{World, approve, deny};

/// A turn with so many calls that each need an approval.
fn asked(calls: usize) -> World {
    let mut world = World::new();
    let calls: Vec<_> = (0..calls).map(|n| ("wipe", json!({"n": n}))).collect();
    world.say("x").think("", &calls);
    world
}

fn answer_all(
    world: &mut World,
    who: &str,
    answers: &[(usize, Answer)],
) -> Result<SessionReply, Refusal> {
    let by = logged_in(who);
    let given = |(n, answer): &(usize, Answer)| {
        let hold = world.hold(*n);
        let digest = Some(hold.digest());
        GivenAnswer { hold: hold.id, digest, answer: answer.clone(), edited: None }
    };
    let answers = answers.iter().map(given).collect();
    world.tell(&Command::AnswerAll { answers, by })
}

fn states(world: &World, count: usize) -> Vec<&'static str> {
    (0..count).map(|n| world.hold(n).state.name()).collect()
}

#[test]
fn answers_that_come_together_all_count_and_the_run_resumes_once() {
    let mut world = asked(3);
    let answers = [(0, approve()), (1, deny("no")), (2, approve())];
    let reply = answer_all(&mut world, "ana", &answers).unwrap();
    assert_eq!(states(&world, 3), ["approved", "denied", "approved"]);
    let SessionReply::Holds(holds) = reply else { panic!("{reply:?}") };
    let told: Vec<_> = holds.iter().map(|hold| (hold.id, hold.state.name())).collect();
    let stored: Vec<_> = (0..3).map(|n| (world.hold(n).id, world.hold(n).state.name())).collect();
    assert_eq!(told, stored, "in the order of the answers, as they are afterwards");
    assert_eq!(world.running(), [r#"wipe {"n":0}"#, r#"wipe {"n":2}"#]);
    assert_eq!(world.count("run.resumed"), 1);
    world.finish();
    assert_eq!(world.results(), ["did wipe", "! Denied by Ana: no", "did wipe"]);
    assert_eq!(world.session.pending_work(), [PendingWork::Think]);
}

#[test]
fn one_answer_that_does_not_count_takes_the_others_with_it() {
    for stale in 0..3 {
        let mut world = asked(3);
        world.deny("bob", stale, "no");
        let before = world.events.len();
        let answers = [(0, approve()), (1, approve()), (2, approve())];
        let refused = answer_all(&mut world, "ana", &answers).unwrap_err();
        let Refusal::OneOfSeveral { hold, answers: 3, why } = &refused else {
            panic!("{refused:?}")
        };
        assert_eq!(*hold, world.hold(stale).id, "the one that is refused");
        assert!(matches!(**why, Refusal::AlreadyDecided { .. }), "{why:?}");
        assert_eq!(world.events.len(), before, "nothing was stored");
        let mut expected = ["pending"; 3];
        expected[stale] = "denied";
        assert_eq!(states(&world, 3), expected);
        assert!(world.running().is_empty());
    }
}

#[test]
fn an_answer_that_comes_too_late_makes_the_expiry_happen_and_no_other_counts() {
    let mut world = asked(1);
    let expires = world.hold(0).expires_at.expect("a deadline");
    world.now = expires;
    let refused = answer_all(&mut world, "ana", &[(0, approve()), (0, approve())]).unwrap_err();
    let Refusal::OneOfSeveral { why, .. } = &refused else { panic!("{refused:?}") };
    assert!(matches!(**why, Refusal::Expired { .. }), "{why:?}");
    assert!(matches!(world.hold(0).state, HoldState::Expired { .. }));
    assert!(world.running().is_empty());
}

#[test]
fn a_refusal_of_one_answer_alone_is_in_its_own_words() {
    let mut world = asked(1);
    world.deny("bob", 0, "no");
    let refused = answer_all(&mut world, "ana", &[(0, approve())]).unwrap_err();
    assert!(matches!(refused, Refusal::AlreadyDecided { .. }), "{refused:?}");
}

#[test]
fn the_same_answers_again_change_nothing() {
    let mut world = asked(3);
    let answers = [(0, approve()), (1, deny("no")), (2, approve())];
    answer_all(&mut world, "ana", &answers).unwrap();
    let before = world.events.len();
    let again = answer_all(&mut world, "ana", &answers).unwrap();
    assert_eq!(world.events.len(), before);
    let SessionReply::Holds(holds) = again else { panic!("{again:?}") };
    assert_eq!(holds.len(), 3);
    // Another person's same words are not a repeat, and neither is another answer.
    answer_all(&mut world, "bob", &answers).unwrap_err();
    answer_all(&mut world, "ana", &[(0, approve()), (1, approve()), (2, approve())]).unwrap_err();
    assert_eq!(world.events.len(), before);
}

#[test]
fn what_was_answered_before_goes_along_with_what_is_new() {
    let mut world = asked(2);
    world.approve("ana", 0);
    answer_all(&mut world, "ana", &[(0, approve()), (1, approve())]).unwrap();
    assert_eq!(states(&world, 2), ["approved", "approved"]);
}

#[test]
fn each_answer_is_judged_on_what_those_before_it_led_to() {
    let mut world = asked(2);
    let both = [(0, approve()), (1, approve()), (0, deny("no"))];
    answer_all(&mut world, "ana", &both).unwrap_err();
    assert_eq!(states(&world, 2), ["pending", "pending"], "a yes and a no are neither");
    // Whoever ends the run has no other answer to give in it.
    let stop = Answer::Deny { reason: None, stop: true };
    answer_all(&mut world, "ana", &[(0, stop.clone()), (1, approve())]).unwrap_err();
    assert_eq!(states(&world, 2), ["pending", "pending"]);
    answer_all(&mut world, "ana", &[(1, approve()), (0, stop)]).unwrap();
    assert_eq!(states(&world, 2), ["denied", "approved"]);
    assert!(world.running().is_empty(), "the run was ended in the same decision");
}
