//! Platforms that are slow, confused, or dead.

use std::time::Duration;

use ports::channel::{Inbox as _, Said, Told};

use crate::chat::Fault;
use crate::world::World;

#[tokio::test]
async fn i35_a_prompt_is_tried_again_and_stands_once() {
    for fault in [Fault::Again(None), Fault::UnknownDone, Fault::UnknownNotDone] {
        let world = World::memory().await;
        world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
        world.chat.will([fault.clone()]);
        world.write("ana", "wipe").await;
        world.chat.until("tried", |screen| (screen.shows >= 1).then_some(())).await;
        world.clock.advance(Duration::from_secs(2));
        world.chat.until("tried again", |screen| (screen.shows >= 2).then_some(())).await;
        let card = world.chat.card("pending").await;
        assert_eq!(world.chat.screen.lock().unwrap().cards.len(), 1, "{fault:?}");
        assert!(
            matches!(world.press("bob", &card, Said::Allow).await, Told::Taken(_)),
            "{fault:?}"
        );
        world.chat.card("approved+succeeded").await;
    }
}

#[tokio::test]
async fn a_platform_says_when_to_come_again() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Again(Some(Duration::from_secs(40)))]);
    world.write("ana", "wipe").await;
    world.chat.until("tried", |screen| (screen.shows >= 1).then_some(())).await;
    world.clock.advance(Duration::from_secs(30));
    // Other chats of the platform go on meanwhile.
    for number in 0..3 {
        world.model.will(&format!("Hello {number}."), &[]);
        let mut wrote = world.wrote("ana", "hello");
        wrote.chat = format!("C-other-{number}");
        world.board.wrote("slack", wrote).await.unwrap();
        world.chat.text(&format!("Hello {number}.")).await;
    }
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1, "not before");
    world.clock.advance(Duration::from_secs(11));
    world.chat.card("pending").await;
}

#[tokio::test]
async fn i35_a_chat_that_is_gone_loses_no_hold() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Never]);
    world.write("ana", "wipe").await;
    let card = world.other.card("pending").await;
    assert!(world.hold(card.hold).await.is_pending());
    let mut press = world.press_of("bob", &card, Said::Allow);
    press.operator.as_mut().unwrap().identity = "U-bob".into();
    let told = world.board.pressed("lark", press).await.unwrap();
    assert!(matches!(told, Told::Taken(_)), "{told:?}");
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1);
}

#[tokio::test]
async fn i35_a_platform_that_hangs_delays_nobody_else() {
    let world = World::memory().await;
    // Everything that is sent there hangs, and there is more of it than fits.
    world.chat.will((0..100).map(|_| Fault::Hangs));
    for number in 0..40 {
        let mut wrote = world.wrote("ana", "hello");
        wrote.chat = format!("C{number}");
        world.board.wrote("slack", wrote).await.unwrap();
    }
    let hold = world.open_outside("Deploy?").await;
    let card = world.other.card("pending").await;
    assert_eq!(card.hold, hold);
    let press = world.press_of("bob", &card, Said::Allow);
    let told = world.board.pressed("lark", press).await.unwrap();
    // Whoever is asked directly sees their own card, and bob may see another first.
    assert!(matches!(told, Told::Taken(_)), "{told:?}");
    world
        .other
        .until("settled", |screen| {
            screen.cards.values().all(|card| card.state() != "pending").then_some(())
        })
        .await;
}

#[tokio::test]
async fn a_repaint_that_fails_is_tried_again_until_no_button_is_alive() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.chat.text("I will.").await;
    world.chat.will([Fault::Again(None), Fault::UnknownNotDone, Fault::Again(None)]);
    assert!(matches!(world.press("bob", &card, Said::Deny).await, Told::Taken(_)));
    world.in_time(world.chat.card("denied")).await;
    world.chat.text("Finished.").await;
}

#[tokio::test]
async fn who_presses_before_we_know_where_it_stands_is_heard() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::UnknownDone]);
    world.write("ana", "wipe").await;
    // It stands there, and nobody has told us.
    let card = world.chat.card("pending").await;
    let press = world.press_of("bob", &card, Said::Allow);
    let (told, ()) = tokio::join!(world.board.pressed("slack", press), async {
        // The second try finds the first message.
        world.clock.advance(Duration::from_millis(1_100));
    });
    // In time, or the platform is asked to deliver it again; never lost as a yes to nothing.
    match told {
        Ok(Told::Taken(_)) => {}
        Err(_) => {
            world.chat.until("found", |screen| (screen.shows >= 2).then_some(())).await;
            assert!(matches!(world.press("bob", &card, Said::Allow).await, Told::Taken(_)));
        }
        other => panic!("{other:?}"),
    }
    world.chat.card("approved+succeeded").await;
}

#[tokio::test]
async fn i02_a_card_of_an_earlier_attempt_does_not_count_for_what_is_asked_now() {
    let world = World::memory().await;
    world.model.will("", &[("bury", serde_json::json!({"n": 1}))]);
    // It is shown and nobody says so; later it is found, and cannot be drawn again yet.
    let slow = Fault::Again(Some(Duration::from_secs(60)));
    world.chat.will([Fault::UnknownDone, Fault::Nothing, slow]);
    world.write("ana", "bury").await;
    let card = world.chat.card("pending").await;
    world.revised_by_bob(card.hold, r#"{"n": 2}"#).await;
    world.clock.advance(Duration::from_millis(1_100));
    world
        .chat
        .until("found", |screen| {
            (screen.shows >= 2 && world.chat.faults.lock().unwrap().is_empty()).then_some(())
        })
        .await;
    let told = world.press("ana", &card, Said::Allow).await;
    assert!(matches!(told, Told::Changed(_)), "{told:?}");
    world.write("ana", "confirm").await;
    assert!(world.hold(card.hold).await.is_pending(), "words say yes to what is seen");
    world.chat.text("changed").await;
    let card = world.in_time(world.chat.painted_times(2)).await;
    assert!(matches!(world.press("ana", &card, Said::Allow).await, Told::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done(), [r#"bury {"n": 2}"#]);
}
