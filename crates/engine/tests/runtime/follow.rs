//! Following from a position: nothing lost, nothing twice.

use std::time::Duration;

use domain::event::{Event, SessionEvent};
use holdpoint_engine::{Follow, Followed};
use serde_json::json;

use crate::world::{World, approve};

async fn positions(follow: &mut Follow, until: u64) -> Vec<u64> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|last| *last < until) {
        let next =
            tokio::time::timeout(Duration::from_secs(10), follow.next()).await.expect("it goes on");
        if let Some(Followed::Event(happening)) = next.unwrap() {
            seen.push(happening.position);
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_whoever_joins_anywhere_gets_every_event_once_in_order() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    // One follows from the very beginning, live; others join at every position afterwards.
    let mut live = world.engine.follow_session(session, Some(0)).await.unwrap();
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let last = world.over(session).await.version;
    assert_eq!(positions(&mut live, last).await, (1..=last).collect::<Vec<_>>());
    for after in 0..last {
        let mut follow = world.engine.follow_session(session, Some(after)).await.unwrap();
        assert_eq!(positions(&mut follow, last).await, (after + 1..=last).collect::<Vec<_>>());
    }
    let mut beyond = world.engine.follow_session(session, Some(last + 50)).await.unwrap();
    assert!(
        matches!(beyond.next().await.unwrap(), Some(Followed::Reset { position }) if position == last)
    );
}

/// Two turns are over before the follower looks: each one's words stand before its message.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_a_message_comes_before_it_and_after_the_one_before() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("One.", &[("look", json!({}))]);
    world.model.will("Two.", &[]);
    let mut follow = world.engine.follow_session(session, None).await.unwrap();
    world.say(session, "x").await;
    let last = world.over(session).await.version;
    let mut order = Vec::new();
    loop {
        match follow.next().await.unwrap() {
            Some(Followed::Spoken(spoken)) => order.push(("said", spoken.message())),
            Some(Followed::Event(happening)) => {
                if let Event::Session(SessionEvent::MessageAdded { message }) = happening.event()
                    && message.role == domain::message::Role::Assistant
                {
                    order.push(("whole", message.id));
                }
                if happening.position == last {
                    break;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    order.dedup();
    let (one, two) = (order[0].1, order[order.len() - 1].1);
    assert_eq!(order, [("said", one), ("whole", one), ("said", two), ("whole", two)]);
}

/// More is said than is kept for those who are slow: they hear a beginning, and then the whole.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_slow_follower_hears_of_a_message_is_its_beginning() {
    let world = World::memory().await;
    let session = world.session().await;
    let text: String = (0..2_000).map(|number| format!("{number} ")).collect();
    world.model.will(&text, &[]);
    let mut follow = world.engine.follow_session(session, None).await.unwrap();
    world.say(session, "x").await;
    world.over(session).await;
    let mut heard = String::new();
    loop {
        match follow.next().await.unwrap() {
            Some(Followed::Spoken(holdpoint_engine::Spoken::Text { text, .. })) => {
                heard.push_str(&text)
            }
            Some(Followed::Event(happening)) => {
                if let Event::Session(SessionEvent::RunCompleted { .. }) = happening.event() {
                    break;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(text.starts_with(&heard), "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_a_slow_follower_of_everything_misses_nothing() {
    let world = World::memory().await;
    let root = crate::world::person(&world.engine, "root").await;
    let mut follow = world.engine.follow_all(&root, Some(0)).await.unwrap();
    // Far more commits than the bus keeps, before the follower looks even once.
    for _ in 0..1_500 {
        world.session().await;
    }
    let (last, _) = world.engine.store().last().await.unwrap();
    assert_eq!(positions(&mut follow, last).await, (1..=last).collect::<Vec<_>>());
}

/// Those who commit at once tell of it in any order.
#[tokio::test(flavor = "multi_thread")]
async fn i36_what_happens_at_once_is_followed_in_order() {
    let world = World::memory().await;
    let root = crate::world::person(&world.engine, "root").await;
    let (before, _) = world.engine.store().last().await.unwrap();
    let mut follow = world.engine.follow_all(&root, None).await.unwrap();
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..300 {
        let (engine, ana) = (world.engine.clone(), world.ana.clone());
        opening.spawn(async move {
            let new = holdpoint_engine::NewSession {
                agent: "ops".into(),
                title: None,
                metadata: json!(null),
                home: None,
            };
            engine.open_session(&ana, new, None).await.expect("it opens");
        });
    }
    let seen = positions(&mut follow, before + 300).await;
    assert_eq!(seen, (before + 1..=before + 300).collect::<Vec<_>>());
    opening.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_whoever_comes_after_everything_happened_gets_it_all_the_same() {
    let world = World::memory().await;
    let root = crate::world::person(&world.engine, "root").await;
    world.session().await;
    let (last, _) = world.engine.store().last().await.unwrap();
    let mut follow = world.engine.follow_all(&root, Some(0)).await.unwrap();
    assert_eq!(positions(&mut follow, last).await, (1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_follows_only_what_they_may_see() {
    let world = World::memory().await;
    let eve = crate::world::person(&world.engine, "eve").await;
    let mut follow = world.engine.follow_all(&eve, Some(0)).await.unwrap();
    world.session().await;
    let mine = world
        .engine
        .open_session(
            &eve,
            holdpoint_engine::NewSession {
                agent: "ops".into(),
                title: None,
                metadata: json!(null),
                home: None,
            },
            None,
        )
        .await
        .unwrap();
    match follow.next().await.unwrap() {
        Some(Followed::Event(happening)) => {
            assert_eq!(happening.stream, domain::id::StreamId::Session(mine.id))
        }
        other => panic!("{other:?}"),
    }
}

/// One session or everything; also who comes only when it has closed.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_is_told_that_the_engine_closes() {
    let world = World::memory().await;
    let root = crate::world::person(&world.engine, "root").await;
    let session = world.session().await;
    let one = world.engine.follow_session(session, None).await.unwrap();
    let all = world.engine.follow_all(&root, None).await.unwrap();
    world.say(session, "hello").await;
    world.engine.close(Duration::from_secs(5)).await;
    let late = world.engine.follow_session(session, None).await.unwrap();
    let late_of_all = world.engine.follow_all(&root, None).await.unwrap();
    // What happened before that is told first.
    for (mut follow, hears) in [(one, true), (all, true), (late, false), (late_of_all, false)] {
        let heard = async {
            let mut heard = 0;
            while follow.next().await.unwrap().is_some() {
                heard += 1;
            }
            heard
        };
        let heard = tokio::time::timeout(Duration::from_secs(20), heard).await;
        assert_eq!(heard.expect("it ends") > 0, hears);
    }
}
