//! Lists of holds by who decided them, when, and in which order.

use std::sync::Arc;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::{HoldEvent, SessionEvent};
use domain::hold::{Decision, Hold, HoldChange, HoldState, HoldStateName, Vote};
use domain::person::{Actor, PersonId, Proof};
use ports::store::{HoldFacts, HoldOrder, HoldQuery, Viewer};

use super::Opener;
use super::lists::{holds_of, numbers, roles, sees};
use super::stage::{Stage, at, audience, hold, hold_id, node, open_outside, person, session_id};

/// Decided in all the ways that there are, and found by that.
pub async fn decided_holds_are_found_by_who_and_when(open: &Opener) {
    let store = open(node(1));
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    for number in 1..=4 {
        store.commit(stage.ask(number, hold_id(number), audience(&[], &["dba"]))).await.unwrap();
    }
    let vote = |number: u128, by: &str| {
        Arc::new(Vote {
            answer: Answer::Deny { reason: None, stop: false },
            by: PersonId::new(by),
            at: at(1_000 + number as i64),
            via: "web".into(),
            proof: Proof::Login,
            digest: Digest::of(b"call"),
            view: Digest::of(b"view"),
        })
    };
    let voted = |hold, by| {
        let change = HoldChange::Voted(vote(hold, by));
        SessionEvent::Hold(HoldEvent::Updated { hold: hold_id(hold), change })
    };
    let denied = |hold, by: &[&str]| {
        let voters = by.iter().map(|id| PersonId::new(id)).collect();
        let decision = Decision::People { vote: vote(hold, by[0]), voters };
        SessionEvent::Hold(HoldEvent::Decided {
            hold: hold_id(hold),
            state: HoldState::Denied(decision),
        })
    };
    let expired = HoldState::Expired { at: at(2_000) };
    let events = vec![
        voted(1, "bob"),
        denied(2, &["bob"]),
        denied(3, &["dan", "a|b"]),
        SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(4), state: expired }),
    ];
    store.commit(stage.commit(events, Actor::Runtime)).await.unwrap();
    let all = || holds_of(Viewer::Everything);
    let asks = |name: &str| Some((PersonId::new(name), roles(&["dba"])));
    let pending = || HoldQuery { state: Some(HoldStateName::Pending), ..all() };
    let cases: Vec<(HoldQuery, &[u128])> = vec![
        (HoldQuery { decided: true, ..all() }, &[4, 3, 2]),
        (HoldQuery { decided_by: Some(PersonId::new("bob")), ..all() }, &[2]),
        (HoldQuery { decided_by: Some(PersonId::new("a|b")), ..all() }, &[3]),
        (HoldQuery { decided_by: Some(PersonId::new("a")), ..all() }, &[]),
        (HoldQuery { decided_since: Some(at(1_003)), ..all() }, &[4, 3]),
        (HoldQuery { decided_since: Some(at(2_001)), ..all() }, &[]),
        // He voted already, so it waits for others.
        (HoldQuery { audience: asks("bob"), ..pending() }, &[]),
        (HoldQuery { not_for: asks("bob"), ..pending() }, &[1]),
        (HoldQuery { audience: asks("dan"), ..pending() }, &[1]),
    ];
    for (query, expected) in cases {
        assert_eq!(numbers(&store.holds(query.clone()).await.unwrap()), expected, "{query:?}");
        assert_eq!(store.count_holds(query.clone()).await.unwrap(), expected.len(), "{query:?}");
    }
    let holds = store.holds(all()).await.unwrap();
    let facts: Vec<HoldFacts> = holds.iter().map(|hold| HoldFacts::of(hold)).collect();
    assert_eq!(store.hold_facts(all()).await.unwrap(), facts);
    assert_eq!(facts[1].decided_by, ["dan", "a|b"].map(PersonId::new));
    assert_eq!((facts[1].answered_at, facts[1].decided_at), (Some(at(1_003)), Some(at(1_003))));
    assert_eq!((facts[0].answered_at, facts[0].decided_at), (None, Some(at(2_000))));
    assert_eq!((facts[3].answered_at, facts[3].decided_at), (Some(at(1_001)), None));
    assert_eq!(facts[0].likeness, facts[1].likeness, "the same call");
}

pub async fn lists_have_their_order(open: &Opener) {
    let store = open(node(1));
    // Several expire together, and one never.
    let expiries = [Some(50), Some(10), None, Some(50), Some(70), Some(10)];
    for (number, expires) in (1..).zip(expiries) {
        let mut asked = hold(hold_id(number), None, person("eve"), audience(&["ana"], &[]));
        asked.expires_at = expires.map(at);
        store.commit(open_outside(asked)).await.unwrap();
    }
    let orders = [
        (HoldOrder::Newest, [6, 5, 4, 3, 2, 1]),
        (HoldOrder::Oldest, [1, 2, 3, 4, 5, 6]),
        (HoldOrder::Urgency, [2, 6, 1, 4, 5, 3]),
    ];
    for (order, expected) in orders {
        for limit in [1, 2, 4, 6] {
            let (mut found, mut last) = (Vec::new(), None::<Arc<Hold>>);
            loop {
                let query = HoldQuery {
                    state: Some(HoldStateName::Pending),
                    order,
                    after: last.as_ref().map(|hold| hold.id),
                    after_expires_at: last.as_ref().and_then(|hold| hold.expires_at),
                    limit,
                    ..holds_of(sees("ana", &[]))
                };
                let page = store.holds(query).await.unwrap();
                assert!(page.len() <= limit);
                found.extend(numbers(&page));
                match page.last() {
                    Some(hold) => last = Some(hold.clone()),
                    None => break,
                }
            }
            assert_eq!(found, expected, "{order:?}, {limit} at a time");
        }
    }
}
