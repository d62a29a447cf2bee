//! Time, freezing, and a world that changes between the approval and the start.

use crate::world::{HOUR_MS, World, approve, ask, deny, logged_in, person, policy, rule};
use holdpoint_domain::answer::{Answer, ApprovalScope, Settlement};
use holdpoint_domain::digest::Digest;
use holdpoint_domain::event::{HoldEvent, SessionEvent};
use holdpoint_domain::external_hold::{ExternalHold, ExternalHoldCommand};
use holdpoint_domain::grant::ClearedBy;
use holdpoint_domain::hold::{
    Decision, Hold, HoldChange, HoldCommand, HoldOrigin, HoldOutcome, HoldState, Risk, Vote,
};
use holdpoint_domain::json::Arguments;
use holdpoint_domain::person::{Audience, Credential, People, Person, PersonId};
use holdpoint_domain::policy::{AskSpec, RuleSpec, SqlCondition, Then};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::{Command, Recovered};
use holdpoint_domain::sql_facts::{SqlFacts, SqlKind};
use holdpoint_domain::tool::{Effects, Place, Tool};
use serde_json::json;

fn held() -> World {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    world
}

#[test]
fn i27_expiry_denies_and_is_told_apart_from_a_denial() {
    let mut world = held();
    world.later(24 * HOUR_MS - 1);
    assert_eq!(world.hold(0).state.name(), "pending");
    world.later(1);
    assert_eq!(world.hold(0).state.name(), "expired");
    assert_eq!(world.results(), ["! Expired: nobody decided in time. The call was not run."]);
    assert!(world.running().is_empty());
}

#[test]
fn i29_an_answer_at_or_after_the_deadline_makes_the_expiry_happen_first() {
    for late_ms in [0, 1, HOUR_MS] {
        let mut world = held();
        // No timer fired: the answer itself finds the hold overdue.
        world.now = world.now.plus_ms(24 * HOUR_MS + late_ms);
        assert!(matches!(world.answer_as("ana", 0, approve()), Err(Refusal::Expired { .. })));
        assert!(matches!(world.hold(0).state, HoldState::Expired { .. }));
        assert_eq!(world.count("hold.decided"), 1);
        assert!(world.running().is_empty());
    }
    let mut world = held();
    world.now = world.now.plus_ms(24 * HOUR_MS - 1);
    world.approve("ana", 0);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i27_an_approved_call_that_cannot_start_in_time_is_not_started_late() {
    let mut world = held();
    world.frozen = Some("incident".into());
    world.approve("ana", 0);
    assert!(world.running().is_empty(), "frozen: nothing starts");
    world.now = world.now.plus_ms(25 * HOUR_MS);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty());
    assert!(
        world.results()[0].starts_with("! Expired: the call was approved"),
        "{:?}",
        world.results()
    );
}

#[test]
fn a_freeze_takes_answers_and_starts_nothing_until_it_thaws() {
    let mut world = held();
    world.frozen = Some("incident".into());
    assert!(matches!(world.say_with("y", None), Err(Refusal::Frozen { .. })));
    world.approve("ana", 0);
    assert_eq!((world.hold(0).state.name(), world.status()), ("approved", "paused"));
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i52_a_turn_with_a_call_for_a_client_is_not_taken_while_all_is_frozen() {
    let mut world = World::new();
    world.say("go");
    world.frozen = Some("incident".into());
    let seen = world.session.transcript.len();
    let calls = [("wipe", json!({"n": 1})), ("confirm", json!({"n": 1}))];
    assert!(matches!(world.try_think("", &calls), Err(Refusal::Frozen { .. })));
    assert_eq!((world.session.transcript.len(), world.session.holds.len()), (seen, 0));
    assert!(world.session.needs_model_call(), "it is taken anew");
    // A turn that only asks, or only speaks, is.
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    world.try_think("", &calls).unwrap();
    assert_eq!((world.session.holds.len(), world.status()), (2, "paused"));

    let mut world = World::new();
    world.say("go");
    world.frozen = Some("incident".into());
    world.think("", &[("wipe", json!({"n": 1}))]);
    assert_eq!(world.hold(0).state.name(), "pending");
}

#[test]
fn i03_a_tool_that_changed_is_asked_about_again() {
    let mut world = held();
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    let changed = Tool::new(
        "wipe",
        "now it wipes more",
        json!({}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    );
    world.tools.insert("wipe".into(), changed.unwrap());
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty(), "nobody approved this tool");
    assert_ne!(world.hold(1).digest(), world.hold(0).digest());
    assert!(world.hold(1).preview.warnings[0].text().contains("tool has changed"));
    world.approve("ana", 1);
    assert_eq!(world.running().len(), 1);
}

/// The last look believes nothing: an approval on record that is of another call lets nothing start.
#[test]
fn i01_an_approval_of_another_call_starts_nothing() {
    let mut world = held();
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    let hold = world.hold(0).clone();
    let HoldState::Approved(Decision::People { vote, voters }) = &hold.state else {
        panic!("people approved it: {:?}", hold.state)
    };
    let vote = Vote { digest: Digest::of(b"another call"), ..(**vote).clone() };
    let decision = Decision::People { vote: vote.into(), voters: voters.clone() };
    let forged = SessionEvent::Hold(HoldEvent::Decided {
        hold: hold.id,
        state: HoldState::Approved(decision),
    });
    world.session.apply(&forged, world.now);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty(), "nobody approved this call");
    assert!(
        world.hold(1).preview.warnings[0].text().contains("what was approved is not this call")
    );
}

#[test]
fn a_tool_that_is_gone_leaves_the_call_parked_until_it_is_back() {
    let mut world = held();
    let wipe = world.tools.remove("wipe").unwrap();
    world.approve("ana", 0);
    assert_eq!((world.running().len(), world.status()), (0, "paused"));
    world.tools.insert("wipe".into(), wipe);
    world.tell(&Command::Wake).unwrap();
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i07_the_stricter_of_policy_then_and_policy_now_holds() {
    // Denied by now: it does not run, whatever was approved.
    let mut world = held();
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    world.policy = policy(vec![rule("no more", "wipe", Then::Deny, None)]);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert_eq!(world.results(), ["! Denied by rule \"no more\". The call was not run."]);

    // More people are needed by now: ask again.
    let mut world = held();
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    world.policy = policy(vec![rule("two by now", "wipe", Then::Ask, ask(&["dba"], 2))]);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty());
    assert_eq!(world.hold(1).audience.quorum, 2);

    // A person who approves after the change is told at once, with the reply.
    let mut world = held();
    world.policy = policy(vec![rule("two by now", "wipe", Then::Ask, ask(&["dba"], 2))]);
    world.approve("ana", 0);
    let told = format!("{:?}", world.hold(0).outcome());
    assert!(told.contains("ask 2 of role `dba` by rule `two by now`"), "{told}");
    assert_eq!(world.hold(1).state.name(), "pending");
    assert!(world.running().is_empty());

    // Allowed by now: the approval that was given still is what lets it run.
    let mut world = held();
    world.policy = policy(vec![rule("free", "wipe", Then::Allow, None)]);
    world.tell(&Command::Wake).unwrap();
    assert_eq!(world.hold(0).state.name(), "pending", "a looser policy does not answer for people");
}

#[test]
fn i53_a_rule_that_refuses_made_logins_by_now_does_not_count_an_earlier_vote_of_one() {
    let mut world = held();
    world.frozen = Some("wait".into());
    // Nothing says who made this login.
    world.approve("ana", 0);
    let refusing = ask(&["dba"], 1).map(|ask| AskSpec { refuse_made_logins: true, ..ask });
    world.policy = policy(vec![rule("own logins", "wipe", Then::Ask, refusing)]);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty());
    assert!(world.hold(1).audience.refuse_made_logins);
    let refused = world.answer_as("ana", 1, approve());
    assert!(matches!(refused, Err(Refusal::NotEntitled { .. })), "{refused:?}");
    let linked =
        Person { identities: [("slack".to_owned(), "U1".to_owned())].into(), ..person("ana", &[]) };
    let (channel, identity, message) = ("slack", "U1", "m1");
    let shown = Credential::Account { channel, platform: channel, identity, message };
    let by = shown.verify(&People::new([linked]), world.now, channel).unwrap();
    let (hold, digest) = (world.hold(1).id, Some(world.hold(1).digest()));
    let answer = Command::Hold {
        id: hold,
        command: HoldCommand::Answer { digest, answer: approve(), by, edited: None },
    };
    world.tell(&answer).unwrap();
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i07_what_the_sql_tool_knew_is_ruled_on_again_before_the_start() {
    let at_most = |rows| {
        let mut few = rule("few rows are free", "wipe", Then::Allow, None);
        few.matcher.sql =
            vec![SqlCondition::KindIn(vec![SqlKind::Delete]), SqlCondition::RowsAtMost(rows)];
        policy(vec![few])
    };
    for (rows, now, starts) in [(Some(3), 10, true), (Some(3), 2, false), (None, 10, false)] {
        let mut world = World::new();
        world.policy = at_most(10);
        world.sql = Some(SqlFacts { kind: SqlKind::Delete, rows, ..SqlFacts::default() });
        world.say("x");
        world.frozen = Some("wait".into());
        world.think("", &[("wipe", json!({}))]);
        world.policy = at_most(now);
        world.frozen = None;
        world.tell(&Command::Wake).unwrap();
        assert_eq!(world.running().len(), usize::from(starts), "{rows:?} {now}");
        assert_eq!(world.session.open_holds().count(), usize::from(!starts), "{rows:?} {now}");
    }
}

#[test]
fn i07_what_a_rule_allowed_is_asked_about_if_the_rule_is_gone() {
    let mut world = World::new();
    world.frozen = None;
    world.say("x");
    world.frozen = Some("wait".into());
    world.think("", &[("send", json!({}))]);
    world.policy = policy(vec![]);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty());
    assert_eq!(world.hold(0).state.name(), "pending");
}

/// "At high and critical a yes must be confirmed" would be gone with the risk.
#[test]
fn a_question_asked_again_or_after_a_crash_is_about_no_lesser_risk() {
    let grave = || {
        let critical = RuleSpec {
            risk: Some(Risk::Critical),
            ..rule("dbas", "wipe", Then::Ask, ask(&["dba"], 1))
        };
        let mut world = World::new();
        world.policy = policy(vec![critical]);
        world.say("x").think("", &[("wipe", json!({}))]);
        assert_eq!(world.hold(0).risk, Risk::Critical);
        world
    };
    let two = || policy(vec![rule("two by now", "wipe", Then::Ask, ask(&["dba"], 2))]);

    let mut world = grave();
    world.policy = two();
    world.approve("ana", 0);
    assert_eq!((world.hold(1).state.name(), world.hold(1).risk), ("pending", Risk::Critical));

    let mut world = grave();
    world.approve("ana", 0);
    world.crash(&Recovered::Unknown { evidence: String::new() });
    world.policy = two();
    world.answer_as("ana", 1, Answer::Settle { how: Settlement::Retry, content: None }).unwrap();
    assert_eq!((world.hold(2).state.name(), world.hold(2).risk), ("pending", Risk::Critical));
}

#[test]
fn i12_an_approver_who_is_not_entitled_any_more_when_it_would_start_does_not_count() {
    let mut world = held();
    world.frozen = Some("wait".into());
    world.approve("ana", 0);
    world.people =
        holdpoint_domain::person::People::new([person("ana", &["guest"]), person("bob", &["dba"])]);
    world.frozen = None;
    world.tell(&Command::Wake).unwrap();
    assert!(world.running().is_empty());
    world.approve("bob", 1);
    assert_eq!(world.running().len(), 1);
}

#[test]
fn i07_a_retry_after_a_crash_is_looked_at_like_a_first_start() {
    let mut world = World::new();
    world.say("x").think("", &[("look", json!({}))]);
    world.policy = policy(vec![rule("closed", "look", Then::Deny, None)]);
    world.crash(&Recovered::Again);
    assert!(world.running().is_empty());
    assert_eq!(world.results(), ["! Denied by rule \"closed\". The call was not run."]);
}

/// A hold of a program, asked about under a policy that is no longer the policy.
fn approved_outside(now: Vec<holdpoint_domain::policy::RuleSpec>) -> ExternalHold {
    let mut world = held();
    let mut hold = (*world.hold(0)).clone();
    hold.origin = HoldOrigin::Program { callback: None };
    let digest = Some(hold.digest());
    let mut outside = ExternalHold::begin(hold.into());
    world.policy = policy(now);
    let by = logged_in("ana");
    let command = ExternalHoldCommand::Hold(HoldCommand::Answer {
        digest,
        answer: approve(),
        by,
        edited: None,
    });
    let (events, reply) = world.within(|_, context| outside.decide(&command, context));
    reply.unwrap();
    events.iter().for_each(|event| outside.apply(event));
    outside
}

#[test]
fn i07_a_program_is_told_at_once_what_the_policy_of_now_says() {
    let same = approved_outside(vec![rule("free", "wipe", Then::Allow, None)]);
    assert_eq!(same.hold.state.name(), "approved");
    let denied = approved_outside(vec![rule("no more", "wipe", Then::Deny, None)]);
    assert_eq!(denied.hold.state.name(), "denied");
    let two = approved_outside(vec![rule("two by now", "wipe", Then::Ask, ask(&["dba"], 2))]);
    assert_eq!((two.hold.state.name(), two.hold.votes.len()), ("pending", 0));
    assert_eq!(two.hold.audience.quorum, 2);
    let told = two.hold.preview.warnings[0].text();
    assert!(told.contains("now says: ask 2 of role `dba` by rule `two by now`"), "{told}");
}

#[test]
fn i07_i12_i27_a_program_begins_only_what_is_still_approved() {
    let begin = ExternalHoldCommand::Report { outcome: HoldOutcome::Executing };
    let approved = || {
        let world = held();
        let mut outside = opened_outside(&world, |_| {});
        answered(&world, &mut outside, &[("ana", approve())]).1.unwrap();
        assert_eq!(outside.hold.state.name(), "approved");
        (world, outside)
    };
    let begun = |world: &World, outside: &ExternalHold| {
        world.within(|_, context| outside.decide(&begin, context)).1
    };
    let refused = |told: Result<(), Refusal>, why: &str| match told {
        Err(Refusal::NotEntitled { why: told }) => assert!(told.contains(why), "{told}"),
        other => panic!("{why}: {other:?}"),
    };
    let (mut world, outside) = approved();
    begun(&world, &outside).unwrap();
    let later = |then, asks| policy(vec![rule("later", "wipe", then, asks)]);
    world.policy = later(Then::Allow, None);
    begun(&world, &outside).unwrap();
    world.policy = later(Then::Deny, None);
    refused(begun(&world, &outside), "denied by rule `later`");
    world.policy = later(Then::Ask, ask(&["dba"], 2));
    refused(begun(&world, &outside), "ask others, or more people");
    world.policy = later(Then::Ask, ask(&["dba"], 1));
    begun(&world, &outside).unwrap();

    let (mut world, outside) = approved();
    world.people = People::new([person("ana", &["lead"])]);
    refused(begun(&world, &outside), "may not approve it any more");

    let (mut world, outside) = approved();
    world.now = world.now.plus_ms(24 * HOUR_MS - 1);
    begun(&world, &outside).unwrap();
    world.now = world.now.plus_ms(1);
    refused(begun(&world, &outside), "too old");

    let mut world = held();
    let by = ClearedBy::Rule(Some("free".into()));
    let allowed = Decision::Automatic { allowed: true, by, at: world.now };
    let outside = opened_outside(&world, |hold| hold.state = HoldState::Approved(allowed));
    refused(begun(&world, &outside), "no rule allows it");
    world.policy = later(Then::Allow, None);
    begun(&world, &outside).unwrap();
}

/// What each of these people says about it, one after the other; the events, and what the last was told.
fn answered(
    world: &World,
    outside: &mut ExternalHold,
    answers: &[(&str, Answer)],
) -> (Vec<HoldEvent>, Result<(), Refusal>) {
    let (mut all, mut last) = (Vec::new(), Ok(()));
    for (who, answer) in answers {
        let by = logged_in(who);
        let digest = Some(outside.hold.digest());
        let answer = answer.clone();
        let command =
            ExternalHoldCommand::Hold(HoldCommand::Answer { digest, answer, by, edited: None });
        let (events, reply) = world.within(|_, context| outside.decide(&command, context));
        events.iter().for_each(|event| outside.apply(event));
        all.extend(events);
        last = reply;
    }
    (all, last)
}

fn opened_outside(world: &World, change: impl FnOnce(&mut Hold)) -> ExternalHold {
    let mut hold = (*world.hold(0)).clone();
    hold.origin = HoldOrigin::Program { callback: None };
    change(&mut hold);
    ExternalHold::begin(hold.into())
}

#[test]
fn i07_what_a_program_demanded_is_still_demanded_when_the_policy_asks_others() {
    let mut world = held();
    world.people = holdpoint_domain::person::People::new([
        person("ana", &["dba"]),
        person("bob", &["dba"]),
        person("eve", &["lead"]),
        person("fay", &["lead"]),
        person("gil", &["lead"]),
    ]);
    let mut outside = opened_outside(&world, |hold| {
        hold.requester = Some(PersonId::new("eve"));
        let audience = Audience { quorum: 2, exclude_requester: true, ..(*hold.audience).clone() };
        hold.audience = audience.into();
    });
    world.policy = policy(vec![rule("leads by now", "wipe", Then::Ask, ask(&["lead"], 1))]);
    let (events, told) = answered(&world, &mut outside, &[("ana", approve()), ("bob", approve())]);
    told.unwrap();
    let voters: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            HoldEvent::Updated { change: HoldChange::Voted(vote), .. } => Some(vote.by.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(voters, ["ana", "bob"], "every vote is on the record");
    assert_eq!((outside.hold.state.name(), outside.hold.votes.len()), ("pending", 0));
    let (_, told) = answered(&world, &mut outside, &[("eve", approve())]);
    assert!(matches!(told, Err(Refusal::NotEntitled { .. })), "{told:?}");
    answered(&world, &mut outside, &[("fay", approve())]).1.unwrap();
    assert_eq!(outside.hold.state.name(), "pending", "the program wanted two");
    answered(&world, &mut outside, &[("gil", approve())]).1.unwrap();
    assert_eq!(outside.hold.state.name(), "approved");
}

#[test]
fn i52_an_approval_that_waits_for_a_thaw_can_be_taken_back_by_whoever_gave_it() {
    let mut world = held();
    world.frozen = Some("incident".into());
    for (quorum, approving) in [(1, &["bob"][..]), (2, &["ana", "bob"])] {
        let mut outside = opened_outside(&world, |hold| {
            let audience = Audience { quorum, ..(*hold.audience).clone() };
            hold.audience = audience.into();
        });
        for who in approving {
            answered(&world, &mut outside, &[(who, approve())]).1.unwrap();
        }
        assert_eq!(outside.hold.state.name(), "pending", "it waits");
        let other = Answer::Respond { content: "something else".into() };
        let (_, told) = answered(&world, &mut outside, &[("bob", other)]);
        assert!(matches!(told, Err(Refusal::AlreadyVoted { .. })), "{told:?}");
        answered(&world, &mut outside, &[("bob", deny("there is an incident"))]).1.unwrap();
        assert_eq!(outside.hold.state.name(), "denied");
    }
    // Without all votes there is nothing to take back: the first answer stands, as ever.
    let mut outside = opened_outside(&world, |hold| {
        hold.audience = Audience { quorum: 2, ..(*hold.audience).clone() }.into();
    });
    let (_, told) =
        answered(&world, &mut outside, &[("bob", approve()), ("bob", deny("after all"))]);
    assert!(matches!(told, Err(Refusal::AlreadyVoted { .. })), "{told:?}");
}

#[test]
fn i52_an_approval_with_edits_decides_an_outside_hold_after_the_thaw_only() {
    let mut world = held();
    let mut outside = opened_outside(&world, |_| {});
    world.frozen = Some("incident".into());
    let arguments = Arguments::from_value(json!({"n": 2})).unwrap();
    let edited = Some(world.edited(0, arguments.clone()));
    let answer =
        Answer::Approve { scope: ApprovalScope::Once, arguments: Some(arguments), note: None };
    let by = logged_in("ana");
    let digest = Some(outside.hold.digest());
    let command = ExternalHoldCommand::Hold(HoldCommand::Answer { digest, answer, by, edited });
    let (events, told) = world.within(|_, context| outside.decide(&command, context));
    told.unwrap();
    events.iter().for_each(|event| outside.apply(event));
    let call = outside.hold.call().unwrap();
    assert_eq!(call.arguments.value(), &json!({"n": 2}), "the edit is taken");
    assert_eq!((outside.hold.state.name(), outside.hold.votes.len()), ("pending", 1));
    world.frozen = None;
    let (events, _) =
        world.within(|_, context| outside.decide(&ExternalHoldCommand::Wake, context));
    events.iter().for_each(|event| outside.apply(event));
    assert_eq!(outside.hold.state.name(), "approved");
}

#[test]
fn i50_a_start_that_was_taken_back_does_not_count_as_begun() {
    let mut world = World::new();
    world.say("x").think("", &[("look", json!({}))]);
    for attempt in 1..=3 {
        let (call, record) = world.session.calls.iter().next().unwrap();
        assert_eq!((record.attempts, record.begun), (attempt, 1));
        let call = *call;
        world.frozen = Some("incident".into());
        world.tell(&Command::NotBegun { call, attempt }).unwrap();
        assert_eq!(world.session.calls.values().next().unwrap().begun, 0);
        world.frozen = None;
        world.tell(&Command::Wake).unwrap();
    }
    world.crash(&Recovered::Again);
    let record = world.session.calls.values().next().unwrap();
    assert_eq!((record.attempts, record.begun), (5, 2), "the server ended once");
}
