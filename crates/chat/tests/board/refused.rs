//! Who tried to answer what was not theirs, and who could not be asked, is in the log.

use std::sync::Arc;

use domain::event::{Event, GlobalEvent, RefusedAnswer};
use domain::id::{HoldId, StreamId};
use ports::channel::{ButtonAction, Inbox as _, Nonce, Operator, PressReply};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::chat::Fault;
use crate::world::{Things, World};

async fn global_events(world: &World) -> Vec<Event> {
    let entries = world.engine.store().entries(Some(StreamId::Global), 0, 1_000).await.unwrap();
    entries.iter().flat_map(|entry| entry.events.iter().cloned()).collect()
}

async fn listed(world: &World) -> Vec<RefusedAnswer> {
    let refused = |event| match event {
        Event::Global(GlobalEvent::AnswerRefused { refused }) => Some(*refused),
        _ => None,
    };
    global_events(world).await.into_iter().filter_map(refused).collect()
}

/// `U-gus gus it is not for them`
fn told(refused: &RefusedAnswer, hold: HoldId) -> String {
    assert!(refused.hold.is_none_or(|about| about == hold));
    assert_eq!((refused.channel.as_str(), refused.unlisted), ("slack", 0));
    let person = refused.person.as_ref().map_or("nobody", |person| person.as_str());
    format!("{} {person}: {}", refused.identity.as_deref().unwrap_or("-"), refused.why)
}

#[tokio::test]
async fn i31_whoever_tried_to_answer_is_in_the_log_once() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    for _ in 0..20 {
        let mut forged = world.press_of("bob", &card, ButtonAction::Allow);
        forged.pointer.nonce = Nonce::new("000000").unwrap();
        let mut elsewhere = world.press_of("ana", &card, ButtonAction::Allow);
        elsewhere.chat = "C9".into();
        let mut nobody = world.press_of("ana", &card, ButtonAction::Allow);
        nobody.operator = None;
        let others = ["gus", "zoe"].map(|who| world.press_of(who, &card, ButtonAction::Allow));
        for press in [forged, elsewhere, nobody].into_iter().chain(others) {
            let told = world.board.pressed("slack", press).await.unwrap();
            assert!(matches!(told, PressReply::NotHere | PressReply::NotEntitled), "{told:?}");
        }
        world.write("gus", "confirm").await;
        world.write("eve", "confirm").await;
    }
    assert!(world.hold(card.hold).await.is_pending());
    let listed = listed(&world).await;
    let listed: Vec<String> = listed.iter().map(|refused| told(refused, card.hold)).collect();
    assert_eq!(
        listed,
        [
            "U-bob bob: it points to no prompt of ours",
            "U-ana ana: its prompt stands elsewhere",
            "- nobody: the platform names nobody",
            "U-gus gus: it is not for them",
            "U-zoe nobody: nobody is linked to them",
            "U-eve nobody: nobody is linked to them",
        ]
    );
}

#[tokio::test]
async fn i31_the_log_names_whoever_is_known_by_the_account_of_this_channel_or_by_another_name() {
    let links = &[["gus", "lark", "L-gus"]];
    let world = World::of(Things { links, ..Things::new() }).await;
    let card = world.held("wipe").await;
    let of = |names: &[&str]| {
        let also = names[1..].iter().map(|name| (*name).to_owned()).collect();
        Some(Operator { also, ..Operator::named(names[0]) })
    };
    // In `lark` his name of the platform is not his.
    for (channel, names) in [
        ("lark", &["L-gus"][..]),
        ("lark", &["U-gus"]),
        ("lark", &["L-1", "L-gus"]),
        ("slack", &["ou_1", "u1", "U-gus"]),
        ("slack", &["ou_2", "U-gus", "U-bob"]),
    ] {
        let mut press = world.press_of("gus", &card, ButtonAction::Allow);
        press.operator = of(names);
        let told = world.board.pressed(channel, press).await.unwrap();
        assert!(
            matches!(told, PressReply::NotHere | PressReply::NotEntitled),
            "{names:?} {told:?}"
        );
    }
    let mut wrote = world.wrote("gus", "confirm");
    wrote.operator = of(&["ou_3", "U-gus"]);
    world.board.wrote("slack", wrote).await.unwrap();
    let told = |refused: &RefusedAnswer| {
        let person = refused.person.as_ref().map_or("nobody", |person| person.as_str());
        let identity = refused.identity.as_deref().unwrap_or("-");
        format!("{} {identity} {person}", refused.channel)
    };
    let listed = listed(&world).await;
    assert_eq!(
        listed.iter().map(told).collect::<Vec<_>>(),
        [
            "lark L-gus gus",
            "lark U-gus nobody",
            "lark L-1 gus",
            "slack ou_1 gus",
            "slack ou_2 nobody",
            "slack ou_3 gus",
        ]
    );
}

#[tokio::test]
async fn whoever_could_not_be_asked_is_named_by_the_account_of_this_channel() {
    let links = &[["ana", "lark", "L-ana"]];
    let world = World::of(Things { links, ..Things::new() }).await;
    world.other.will([Fault::Never, Fault::Never, Fault::Never]);
    let card = world.held("wipe").await;
    let hold = world.hold(card.hold).await;
    let told = async {
        loop {
            let undelivered = world.engine.undelivered(&hold).await.unwrap();
            if undelivered.len() == 3 {
                return undelivered;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(std::time::Duration::from_secs(20), told).await.unwrap();
    let mut whom: Vec<&str> = told.iter().map(|told| told.to.as_str()).collect();
    whom.sort_unstable();
    assert_eq!(whom, ["C-all", "ana", "bob"]);
}

#[tokio::test]
async fn what_was_pressed_too_late_is_in_the_log() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    world.revised_by_bob(card.hold, r#"{"n": 2}"#).await;
    let told_now = world.press("ana", &card, ButtonAction::Allow).await;
    assert!(matches!(told_now, PressReply::Changed(_)), "{told_now:?}");
    let listed = listed(&world).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(told(&listed[0], card.hold), "U-ana ana: it has changed since it was shown there");
}

#[tokio::test]
async fn an_answer_that_counts_is_no_refusal() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    assert!(matches!(world.press("ana", &card, ButtonAction::Allow).await, PressReply::Already(_)));
    world.write("ana", "confirm").await;
    world.chat.card("approved+succeeded").await;
    assert!(listed(&world).await.is_empty());
}

#[tokio::test]
async fn i35_whoever_could_not_be_asked_is_told_with_the_hold() {
    let world = World::memory().await;
    world.chat.will([Fault::Never]);
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.write("ana", "wipe").await;
    let card = world.other.card("pending").await;
    let hold = world.hold(card.hold).await;
    let told = async {
        loop {
            let undelivered = world.engine.undelivered(&hold).await.unwrap();
            if !undelivered.is_empty() {
                return undelivered;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(std::time::Duration::from_secs(20), told).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].channel.as_str(), told[0].to.as_str()), ("slack", "C1"));
    assert!(told[0].why.contains("no such chat"), "{}", told[0].why);
    let failed = global_events(&world).await;
    let failed = failed
        .iter()
        .filter(|event| matches!(event, Event::Global(GlobalEvent::DeliveryFailed { .. })));
    assert_eq!(failed.count(), 1);
    assert!(world.hold(card.hold).await.is_pending(), "it can be answered elsewhere");
    let elsewhere =
        world.board.pressed("lark", world.press_of("bob", &card, ButtonAction::Allow)).await;
    assert!(matches!(elsewhere, Ok(PressReply::Taken(_))), "{elsewhere:?}");
}

#[tokio::test]
async fn i35_whoever_could_not_be_asked_in_time_is_told_with_the_hold() {
    let world = World::memory().await;
    let slowly = Fault::Again(Some(std::time::Duration::from_secs(3_000)));
    world.chat.will([slowly]);
    world.model.will("", &[("wipe", json!({"n": 1}))]);
    world.write("ana", "wipe").await;
    let card = world.other.card("pending").await;
    world.chat.until("tried", |screen| (screen.shows == 1).then_some(())).await;
    world.clock.advance(std::time::Duration::from_secs(301));
    world
        .other
        .until("expired", |screen| {
            (screen.cards[card.key.as_str()].state() != "pending").then_some(())
        })
        .await;
    let hold = world.hold(card.hold).await;
    let told = async {
        loop {
            let undelivered = world.engine.undelivered(&hold).await.unwrap();
            if !undelivered.is_empty() {
                return undelivered;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(std::time::Duration::from_secs(20), world.in_time(told));
    let told = told.await.unwrap();
    assert_eq!((told[0].channel.as_str(), told[0].to.as_str()), ("slack", "C1"));
    assert!(told[0].why.contains("expired"), "{}", told[0].why);
}

#[tokio::test]
async fn i37_a_card_says_that_its_call_runs_and_then_what_came_of_it() {
    let world = World::memory().await;
    let patience = Arc::new(Semaphore::new(0));
    *world.tools_wait.lock().unwrap() = Some(patience.clone());
    let card = world.held("wipe").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+executing").await;
    patience.add_permits(1);
    let card = world.chat.card("approved+succeeded").await;
    assert_eq!(card.states, ["pending", "approved+executing", "approved+succeeded"]);
}
