//! Rules and code that rule together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use holdpoint::prelude::*;
use holdpoint::testing::TestClock;

use crate::world::{Till, one, people, script, shop};

#[tokio::test]
async fn rules_in_code_rule_like_those_in_the_file() {
    let till = Till::default();
    let holdpoint = people(Holdpoint::builder())
        .agent(Agent::new("shop", script()).tool(till.tool()))
        .rule(Rule::deny("never that much").tool("refund").when("/amount", Is::more_than(10_000)))
        .rule(
            Rule::ask("much needs two", Whom::role("finance").quorum(2).not_the_requester())
                .tool("ref*")
                .when("/amount", Is::at_least(1_000))
                .risk(Risk::High),
        )
        .rule(Rule::allow("small change").when("/amount", Is::at_most(100)))
        .build()
        .await
        .unwrap();
    let bob = holdpoint.vouch("bob", "a test").unwrap();
    let session = holdpoint.open(&bob, "shop").await.unwrap();
    let text = |rest: &Rest| rest.text().unwrap().to_owned();
    assert_eq!(text(&session.ask("Refund 1: 100").await.unwrap()), "paid 100 for 1");
    let denied = text(&session.ask("Refund 2: 10001").await.unwrap());
    assert_eq!(denied, "Denied by rule \"never that much\". The call was not run.");
    // Bob asked for it and does not count; only Eva is left of the two who are needed.
    let unsatisfiable = text(&session.ask("Refund 3: 1000").await.unwrap());
    assert!(unsatisfiable.contains("nobody who may give it"), "{unsatisfiable}");
    let hold = one(&session.ask("Refund 4: 500").await.unwrap());
    assert_eq!((hold.rule.as_deref(), hold.risk), (None, Risk::Medium));
    assert_eq!(till.paid(), [(1, 100)]);
}

/// What the program's code thinks at present.
#[derive(Clone, Default)]
struct Mood(Arc<AtomicU8>);

impl Mood {
    fn set(&self, mood: u8) {
        self.0.store(mood, Ordering::SeqCst);
    }

    fn judge(&self) -> Result<Opinion, &'static str> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(Opinion::Fine),
            1 => Ok(Opinion::Deny),
            2 => Ok(Opinion::ask(Whom::person("eva"))),
            3 => Err("the list of holidays is gone"),
            _ => panic!("a bug"),
        }
    }
}

async fn moody(till: &Till, mood: &Mood, otherwise: Then) -> Holdpoint {
    let mood = mood.clone();
    people(Holdpoint::builder())
        .agent(Agent::new("shop", script()).tool(till.tool()))
        .otherwise(otherwise)
        .decider("mood", move |facts| {
            assert_eq!((facts.tool, facts.agent), ("refund", "shop"));
            mood.judge()
        })
        .build()
        .await
        .unwrap()
}

#[tokio::test]
async fn i06_code_that_decides_alone_decides_and_in_trouble_asks() {
    let (till, mood) = (Till::default(), Mood::default());
    let holdpoint = moody(&till, &mood, Then::Allow).await;
    let joe = holdpoint.vouch("joe", "a test").unwrap();
    let says = async |number: u8| {
        mood.set(number);
        let session = holdpoint.open(&joe, "shop").await.unwrap();
        session.ask("Refund 7: 5").await.unwrap()
    };
    assert_eq!(says(0).await.text(), Some("paid 5 for 7"));
    assert!(says(1).await.text().unwrap().starts_with("Denied by rule \"mood\""));
    let hold = one(&says(2).await);
    assert_eq!((hold.rule.as_deref(), hold.audience.roles.len()), (Some("mood"), 0));
    for trouble in [3, 4] {
        let hold = one(&says(trouble).await);
        assert!(hold.audience.roles.contains("admin"), "{:?}", hold.audience);
        assert_eq!(hold.risk, Risk::High);
    }
    assert_eq!(till.paid().len(), 1);
}

#[tokio::test]
async fn i07_code_that_changed_its_mind_is_heard_before_the_start() {
    let (till, mood) = (Till::default(), Mood::default());
    let holdpoint = moody(&till, &mood, Then::Ask).await;
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    mood.set(1);
    holdpoint.answer(&vouch("ana"), &hold, Answer::approve()).await.unwrap();
    let rest = session.wait().await.unwrap();
    assert!(rest.text().unwrap().starts_with("Denied by rule \"mood\""), "{rest:?}");

    mood.set(0);
    let hold = one(&session.ask("Refund 8: 5").await.unwrap());
    mood.set(2);
    holdpoint.answer(&vouch("ana"), &hold, Answer::approve()).await.unwrap();
    let again = one(&session.wait().await.unwrap());
    assert_ne!(again.id, hold.id, "Ana's word is not Eva's: it is asked again");
    assert_eq!(till.paid(), []);
    holdpoint.answer(&vouch("eva"), &again, Answer::approve()).await.unwrap();
    assert_eq!(session.wait().await.unwrap().text(), Some("paid 5 for 8"));
    assert_eq!(till.paid(), [(8, 5)]);
}

#[tokio::test]
async fn i27_silence_means_no_by_the_clock_of_a_test() {
    let (till, clock) = (Till::default(), TestClock::new());
    let rule = Whom::role("finance").expires(Duration::from_secs(60));
    let holdpoint = people(Holdpoint::builder())
        .agent(Agent::new("shop", script()).tool(till.tool()))
        .rule(Rule::ask("quickly", rule))
        .clock(clock.clone())
        .build()
        .await
        .unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    clock.advance(Duration::from_secs(59));
    assert_eq!(one(&session.wait().await.unwrap()).id, hold.id);
    clock.advance(Duration::from_secs(1));
    let late = holdpoint.answer(&vouch("bob"), &hold, Answer::approve()).await.unwrap_err();
    assert!(matches!(late, Error::Refused(Refusal::Expired { .. })), "{late}");
    assert!(session.wait().await.unwrap().text().unwrap().starts_with("Expired"));
    assert_eq!(till.paid(), []);
}

#[tokio::test]
async fn i08_a_grant_covers_the_very_same_call_so_often() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let vouch = |who| holdpoint.vouch(who, "a test").unwrap();
    let session = holdpoint.open(&vouch("joe"), "shop").await.unwrap();
    let hold = one(&session.ask("Refund 7: 5").await.unwrap());
    let answer = Answer::approve().also_in_this_session(1, Duration::from_secs(60));
    holdpoint.answer(&vouch("bob"), &hold, answer).await.unwrap();
    session.wait().await.unwrap();
    assert_eq!(session.ask("Refund 7: 5").await.unwrap().text(), Some("paid 5 for 7"));
    assert_eq!(session.ask("Refund 7: 5").await.unwrap().holds().len(), 1, "it is used up");
    assert_eq!(till.paid().len(), 2);
}
