//! What a standing grant covers, when it is given a call and again right before that call starts.

use holdpoint_domain::answer::{Answer, ApprovalScope, GrantTerms};
use holdpoint_domain::hold::HoldCommand;
use holdpoint_domain::person::{AuthenticatedPerson, Credential, People, Person};
use holdpoint_domain::policy::{AskSpec, ConditionSpec, Conditions, Op, Policy, Then};
use holdpoint_domain::refusal::Refusal;
use holdpoint_domain::session::Command;
use holdpoint_domain::tool::{Effects, Place, Tool};
use serde_json::json;

use crate::world::{HOUR_MS, World, approve_for_session, ask, logged_in, person, policy, rule};

/// Ana approved `wipe` for the session, and it ran.
fn granted(terms: GrantTerms) -> World {
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({}))]);
    let answer =
        Answer::Approve { scope: ApprovalScope::Session(terms), arguments: None, note: None };
    world.answer_as("ana", 0, answer).expect("the approval counts");
    world.finish();
    world
}

fn for_an_hour() -> GrantTerms {
    GrantTerms { expires_in_ms: Some(HOUR_MS), ..GrantTerms::default() }
}

/// The same call again, cleared by the grant while all is frozen, so that it has not started.
fn cleared() -> World {
    let mut world = granted(for_an_hour());
    world.frozen = Some("wait".into());
    world.think("", &[("wipe", json!({}))]);
    assert_eq!((world.count("hold.opened"), world.count("grant.used")), (1, 1));
    world
}

fn thaw(world: &mut World) {
    world.frozen = None;
    world.tell(&Command::Wake).expect("woken");
}

fn asks(roles: &[&str], quorum: u32) -> Policy {
    policy(vec![rule("wiping, by now", "wipe", Then::Ask, ask(roles, quorum))])
}

#[test]
fn i08_a_grant_is_used_up_by_as_many_calls_as_it_has_uses() {
    let mut world = granted(GrantTerms { uses: Some(1), ..GrantTerms::default() });
    world.think("", &[("wipe", json!({}))]);
    assert_eq!(world.running().len(), 1, "the one use");
    world.finish().think("", &[("wipe", json!({}))]);
    assert!(world.running().is_empty());
    assert_eq!(world.hold(1).state.name(), "pending");
}

#[test]
fn i03_a_grant_does_not_cover_a_tool_that_changed_since() {
    let mut world = granted(for_an_hour());
    let changed = Tool::new(
        "wipe",
        "now it wipes more",
        json!({"type": "object"}),
        Effects::AtMostOnce,
        Place::Server,
        "test",
    );
    world.tools.insert("wipe".into(), changed.expect("a sound schema"));
    world.think("", &[("wipe", json!({}))]);
    assert!(world.running().is_empty(), "the grant is for the tool as it was");
    assert_eq!(world.hold(1).state.name(), "pending");
}

#[test]
fn i08_a_grant_that_ends_before_the_start_lets_nothing_start() {
    for (left_ms, starts) in [(1, 1), (0, 0)] {
        let mut world = cleared();
        let grant = world.session.grants.values().next().expect("a grant");
        world.now = grant.expires_at.plus_ms(0);
        // One millisecond before its end it stands.
        if left_ms > 0 {
            let made_at = grant.made_at;
            world.now = made_at.plus_ms(HOUR_MS - left_ms);
        }
        thaw(&mut world);
        assert_eq!(world.running().len(), starts, "{left_ms} ms are left");
        assert_eq!(world.count("hold.opened"), 2 - starts);
    }
}

#[test]
fn i07_a_grant_counts_at_the_start_only_if_the_rule_of_now_would_take_it() {
    for (by_now, starts) in [
        (asks(&["dba"], 1), 1),
        (policy(vec![rule("free by now", "wipe", Then::Allow, None)]), 1),
        (asks(&["guest"], 1), 0),
        (asks(&["dba"], 2), 0),
        (asks(&["guest"], 2), 0),
    ] {
        let mut world = cleared();
        world.policy = by_now;
        thaw(&mut world);
        assert_eq!(world.running().len(), starts, "{:?}", world.policy);
        assert_eq!(world.count("hold.opened"), 2 - starts, "otherwise people are asked again");
    }
}

/// Ana by her own account in a chat: nobody else could have made this login.
fn ana_herself(world: &World) -> AuthenticatedPerson {
    let identities = [("slack".to_owned(), "U1".to_owned())].into();
    let linked = Person { identities, ..person("ana", &[]) };
    let (channel, identity, message) = ("slack", "U1", "m1");
    let shown = Credential::Account { channel, platform: channel, identity, message };
    shown.verify(&People::new([linked]), world.now, channel).expect("the account is linked")
}

#[test]
fn i53_a_grant_by_a_login_that_another_may_have_made_does_not_satisfy_a_rule_that_refuses_those() {
    let own_logins = || {
        let refusing = ask(&["dba"], 1).map(|ask| AskSpec { refuse_made_logins: true, ..ask });
        policy(vec![rule("own logins", "wipe", Then::Ask, refusing)])
    };
    for (herself, covered) in [(true, 1), (false, 0)] {
        let mut world = World::new();
        world.say("x").think("", &[("wipe", json!({}))]);
        let by = if herself { ana_herself(&world) } else { logged_in("ana") };
        let (hold, digest) = (world.hold(0).id, Some(world.hold(0).digest()));
        let answer = approve_for_session();
        let command = HoldCommand::Answer { digest, answer, by, edited: None };
        world.tell(&Command::Hold { id: hold, command }).unwrap();
        world.finish();
        world.policy = own_logins();
        world.think("", &[("wipe", json!({}))]);
        assert_eq!(world.running().len(), covered, "herself: {herself}");
        assert_eq!(world.count("hold.opened"), 2 - covered);
    }
}

#[test]
fn i08_a_grant_covers_nothing_from_its_end_on() {
    for (after_ms, covered) in [(HOUR_MS - 1, 1), (HOUR_MS, 0), (HOUR_MS + 1, 0)] {
        let mut world = granted(for_an_hour());
        world.now =
            world.session.grants.values().next().expect("a grant").made_at.plus_ms(after_ms);
        world.think("", &[("wipe", json!({}))]);
        assert_eq!((world.count("grant.used"), world.running().len()), (covered, covered));
    }
}

#[test]
fn i08_there_is_no_grant_where_several_must_agree() {
    let mut world = World::new();
    world.say("x").think("", &[("launch", json!({}))]);
    for who in ["ana", "bob"] {
        let refused = world.answer_as(who, 0, approve_for_session());
        assert!(
            matches!(refused, Err(Refusal::AnswerInvalid { ref field, .. }) if field == "scope")
        );
    }
    assert_eq!((world.count("grant.made"), world.hold(0).votes.len()), (0, 0));
}

#[test]
fn i08_stated_conditions_cover_at_least_the_call_on_the_table() {
    let at_most = |amount: i32| {
        let op = Op::AtMost(amount.into());
        Conditions::compile(vec![ConditionSpec { pointer: "/n".into(), op }]).expect("sound")
    };
    assert_eq!(at_most(5), at_most(5));
    assert_ne!(at_most(5), at_most(6));
    let mut world = World::new();
    world.say("x").think("", &[("wipe", json!({"n": 5}))]);
    let approve_if = |conditions| Answer::Approve {
        scope: ApprovalScope::Session(GrantTerms {
            conditions: Some(conditions),
            ..GrantTerms::default()
        }),
        arguments: None,
        note: None,
    };
    let refused = world.answer_as("ana", 0, approve_if(at_most(4)));
    assert!(matches!(refused, Err(Refusal::AnswerInvalid { ref field, .. }) if field == "grant"));
    world.answer_as("ana", 0, approve_if(at_most(5))).unwrap();
    world.finish().think("", &[("wipe", json!({"n": 4}))]);
    assert_eq!((world.count("grant.used"), world.running().len()), (1, 1));
    world.finish().think("", &[("wipe", json!({"n": 6}))]);
    assert_eq!(world.running().len(), 0, "more than was stated");
}
