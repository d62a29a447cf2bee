//! Several answers that came together: one commit, or none.

use std::sync::Arc;

use domain::answer::Answer;
use domain::digest::Digest;
use domain::event::{Event, HoldEvent};
use domain::hold::Hold;
use domain::id::{SessionId, StreamId};
use domain::refusal::Refusal;
use domain::session::RunStatus;
use holdpoint_engine::{Answering, Caller, Error, Keep};
use ports::store::Entry;
use serde_json::json;

use crate::world::{World, approve, deny, results, status};

/// A session that waits for so many approvals, and their holds, oldest first.
async fn asked(world: &World, calls: usize) -> (SessionId, Vec<Arc<Hold>>) {
    let session = world.session().await;
    let calls: Vec<_> = (0..calls).map(|n| ("wipe", json!({"n": n}))).collect();
    world.model.will("", &calls);
    world.say(session, "x").await;
    let paused = world.paused(session).await;
    let holds: Vec<Arc<Hold>> = paused.open_holds().cloned().collect();
    assert_eq!(holds.len(), calls.len());
    (session, holds)
}

async fn answer_all(
    world: &World,
    who: &Caller,
    answers: &[(&Arc<Hold>, Answer)],
) -> Result<Vec<Arc<Hold>>, Error> {
    let answers = answers.iter().map(|(hold, answer)| {
        (hold.id, Answering { digest: Some(hold.digest()), answer: answer.clone() })
    });
    world.engine.answer_all(who, answers.collect(), None).await
}

async fn entries(world: &World, session: SessionId) -> Vec<Entry> {
    world.engine.store().load(StreamId::Session(session)).await.unwrap()
}

#[tokio::test]
async fn answers_that_come_together_are_one_entry_of_the_journal() {
    let world = World::memory().await;
    let (session, holds) = asked(&world, 3).await;
    let before = entries(&world, session).await.len();
    let answers = [(&holds[0], approve()), (&holds[1], deny()), (&holds[2], approve())];
    let told = answer_all(&world, &world.bob, &answers).await.unwrap();
    let told: Vec<_> = told.iter().map(|hold| (hold.id, hold.state.name())).collect();
    let names = ["approved", "denied", "approved"];
    assert_eq!(told, holds.iter().map(|hold| hold.id).zip(names).collect::<Vec<_>>());
    let over = world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Completed));
    assert_eq!(results(&over)[0], r#"did {"n":0}"#);
    let entries = entries(&world, session).await;
    let is_decided = |event: &Event| matches!(event.hold_event(), Some(HoldEvent::Decided { .. }));
    let decided: Vec<usize> = entries[before..]
        .iter()
        .map(|entry| entry.events.iter().filter(|event| is_decided(event)).count())
        .collect();
    assert_eq!(decided[0], 3, "one commit for all answers: {decided:?}");
    assert_eq!(decided.iter().sum::<usize>(), 3);
    let mut ran = world.witness.arguments();
    ran.sort();
    assert_eq!(ran, [r#"{"n":0}"#, r#"{"n":2}"#]);
}

#[tokio::test]
async fn one_answer_that_is_refused_leaves_no_entry_and_is_named() {
    let world = World::memory().await;
    let (session, holds) = asked(&world, 3).await;
    world.answer(&world.bob, &holds[2], deny()).await.unwrap();
    let before = entries(&world, session).await.len();
    let answers = [(&holds[0], approve()), (&holds[1], approve()), (&holds[2], approve())];
    let refused = answer_all(&world, &world.ana, &answers).await;
    match refused {
        Err(Error::Refused(Refusal::OneOfSeveral { hold, answers: 3, why })) => {
            assert_eq!(hold, holds[2].id);
            assert!(matches!(*why, Refusal::AlreadyDecided { .. }), "{why:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(entries(&world, session).await.len(), before);
    assert!(world.hold(holds[0].id).await.is_pending());
    assert!(world.witness.arguments().is_empty());
}

#[tokio::test]
async fn answers_of_two_sessions_are_not_given_together() {
    let world = World::memory().await;
    let (_, one) = asked(&world, 1).await;
    let (_, other) = asked(&world, 1).await;
    let refused =
        answer_all(&world, &world.bob, &[(&one[0], approve()), (&other[0], approve())]).await;
    assert!(
        matches!(&refused, Err(Error::Refused(Refusal::AnswerInvalid { field, .. })) if field == "answers"),
        "{refused:?}"
    );
    assert!(world.hold(one[0].id).await.is_pending() && world.hold(other[0].id).await.is_pending());
}

#[tokio::test]
async fn i30_who_does_not_see_one_of_the_holds_answers_none() {
    let world = World::memory().await;
    let (_, holds) = asked(&world, 2).await;
    let eve = crate::world::person(&world.engine, "eve").await;
    for who in [&eve, &world.program] {
        let refused =
            answer_all(&world, who, &[(&holds[0], approve()), (&holds[1], approve())]).await;
        match refused {
            Err(Error::Refused(Refusal::OneOfSeveral { why, .. })) => {
                assert!(matches!(*why, Refusal::NotFound { .. }), "{why:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(world.hold(holds[0].id).await.is_pending());
}

#[tokio::test]
async fn answers_under_a_key_are_kept_with_their_one_commit() {
    let world = World::memory().await;
    let (_, holds) = asked(&world, 2).await;
    let render = |holds: &[Arc<Hold>]| (200, holds.len().to_string().into_bytes());
    let request = holds[0].digest();
    let give = async || {
        let keep = Keep { caller: "bob".into(), key: "k".into(), request, render: &render };
        let answers = holds
            .iter()
            .map(|hold| (hold.id, Answering { digest: Some(hold.digest()), answer: approve() }));
        world.engine.answer_all(&world.bob, answers.collect(), Some(keep)).await
    };
    give().await.unwrap();
    let kept = world.engine.kept("bob", "k", request).await.unwrap().expect("a reply");
    assert_eq!(kept.body, b"2");
    give().await.unwrap();
}

#[tokio::test]
async fn i09_a_key_that_came_with_another_request_is_refused() {
    let world = World::memory().await;
    let (_, holds) = asked(&world, 1).await;
    let render = |holds: &[Arc<Hold>]| (200, holds.len().to_string().into_bytes());
    let request = holds[0].digest();
    let keep = Keep { caller: "bob".into(), key: "k".into(), request, render: &render };
    let answers = vec![(holds[0].id, Answering { digest: Some(request), answer: approve() })];
    world.engine.answer_all(&world.bob, answers, Some(keep)).await.unwrap();
    let kept = async |caller, request| world.engine.kept(caller, "k", request).await;
    assert!(kept("bob", request).await.unwrap().is_some());
    let refused = kept("bob", Digest::of(b"another request")).await;
    assert!(matches!(refused, Err(Error::KeyReused)), "{refused:?}");
    assert!(kept("eve", request).await.unwrap().is_none(), "everybody has keys of their own");
}
