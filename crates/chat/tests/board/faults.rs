//! Platforms that are slow, confused, or dead.

use std::time::Duration;

use ports::channel::{ButtonAction, Inbox as _, PressReply, WebhookRequest};
use ports::clock::Clock as _;

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
            matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)),
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

/// Nobody waits for a prompt that will not come for long.
#[tokio::test]
async fn what_is_written_where_a_prompt_is_stuck_is_heard_at_once() {
    let world = World::memory().await;
    world.chat.will([Fault::UnknownNotDone, Fault::Again(Some(Duration::from_secs(3_000)))]);
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.write("ana", "please wipe").await;
    let tried = world.chat.until("tried twice", |screen| (screen.shows == 2).then_some(()));
    world.in_time(tried).await;
    // At most one is written while the second attempt is still being noted.
    world.write("ana", "hello").await;
    let began = world.clock.now();
    for _ in 0..3 {
        world.write("ana", "hello").await;
    }
    let took = world.clock.now().ms_since(began);
    assert!(took < 1_500, "{took} ms");
}

#[tokio::test]
async fn i35_a_chat_that_is_gone_loses_no_hold() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Never]);
    world.write("ana", "wipe").await;
    let card = world.other.card("pending").await;
    assert!(world.hold(card.hold).await.is_pending());
    let mut press = world.press_of("bob", &card, ButtonAction::Allow);
    press.operator.as_mut().unwrap().identity = "U-bob".into();
    let told = world.board.pressed("lark", press).await.unwrap();
    assert!(matches!(told, PressReply::Taken(_)), "{told:?}");
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
    let press = world.press_of("bob", &card, ButtonAction::Allow);
    let told = world.board.pressed("lark", press).await.unwrap();
    // Whoever is asked directly sees their own card, and bob may see another first.
    assert!(matches!(told, PressReply::Taken(_)), "{told:?}");
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
    assert!(matches!(world.press("bob", &card, ButtonAction::Deny).await, PressReply::Taken(_)));
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
    let press = world.press_of("bob", &card, ButtonAction::Allow);
    let (told, ()) = tokio::join!(world.board.pressed("slack", press), async {
        // The second try finds the first message.
        world.clock.advance(Duration::from_millis(1_100));
    });
    // In time, or the platform is asked to deliver it again; never lost as a yes to nothing.
    match told {
        Ok(PressReply::Taken(_)) => {}
        Err(_) => {
            world.chat.until("found", |screen| (screen.shows >= 2).then_some(())).await;
            assert!(matches!(
                world.press("bob", &card, ButtonAction::Allow).await,
                PressReply::Taken(_)
            ));
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
    let told = world.press("ana", &card, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::Changed(_)), "{told:?}");
    world.write("ana", "confirm").await;
    assert!(world.hold(card.hold).await.is_pending(), "words say yes to what is seen");
    world.chat.text("changed").await;
    let card = world.in_time(world.chat.painted_times(2)).await;
    assert!(matches!(world.press("ana", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done(), [r#"bury {"n": 2}"#]);
}

#[tokio::test]
async fn i35_a_card_that_could_not_be_drawn_again_still_asks_and_is_drawn_later() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    world.chat.text("I will.").await;
    world.chat.will([Fault::Never]);
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Counted(_)));
    let tried =
        |_: &crate::chat::Screen| world.chat.faults.lock().unwrap().is_empty().then_some(());
    world.chat.until("tried", tried).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.write("ana", "confirm").await;
    assert_eq!(world.hold(card.hold).await.votes.len(), 2, "the second word counts");
    world.chat.card("approved+succeeded").await;
}

#[tokio::test]
async fn after_an_outage_no_button_looks_alive_for_long() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.chat.text("I will.").await;
    let began = world.clock.now();
    world.chat.will((0..26).map(|_| Fault::Again(None)));
    assert!(matches!(world.press("bob", &card, ButtonAction::Deny).await, PressReply::Taken(_)));
    world.in_time(world.chat.card("denied")).await;
    let minutes = world.clock.now().ms_since(began) / 60_000;
    assert!(minutes < 20, "{minutes}");
}

#[tokio::test]
async fn a_press_of_what_was_given_up_is_answered_at_once() {
    let world = World::memory().await;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::UnknownDone, Fault::Never]);
    world.write("ana", "wipe").await;
    let card = world.chat.card("pending").await;
    world.clock.advance(Duration::from_millis(1_100));
    world.chat.until("given up", |screen| (screen.shows >= 2).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let told =
        world.board.pressed("slack", world.press_of("bob", &card, ButtonAction::Allow)).await;
    assert!(matches!(told, Ok(PressReply::NotHere)), "{told:?}");
    assert!(world.hold(card.hold).await.is_pending());
}

#[tokio::test]
async fn the_answer_to_a_press_is_not_painted_over_at_once() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    tokio::time::sleep(Duration::from_millis(250)).await;
    let states = world.chat.painted_times(1).await.states;
    assert_eq!(states, ["pending"], "the platform draws it with the answer");
    world.chat.card("approved+succeeded").await;
}

#[tokio::test]
async fn i34_what_a_platform_said_counts_though_it_hung_up() {
    let world = World::memory().await;
    let request = WebhookRequest {
        method: "POST".into(),
        path: "events".into(),
        query: None,
        headers: Vec::new(),
        body: Vec::new(),
        at: world.clock.now(),
    };
    let hung_up =
        tokio::time::timeout(Duration::from_millis(50), world.board.hook("slack", request)).await;
    assert!(hung_up.is_err());
    world.chat.leave.add_permits(1);
    world.chat.text("dealt with").await;
}

#[tokio::test]
async fn a_channel_says_itself_how_long_it_may_take() {
    let world = World::memory().await;
    *world.chat.patience.lock().unwrap() = Some(Duration::from_secs(85));
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Slow(Duration::from_secs(80))]);
    world.write("ana", "wipe").await;
    let card = world.chat.card("pending").await;
    for _ in 0..9 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        world.clock.advance(Duration::from_secs(9));
    }
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1);
}

#[tokio::test]
async fn where_nobody_talks_the_end_is_not_said_beside_the_prompt() {
    let world = World::memory().await;
    *world.chat.talks.lock().unwrap() = false;
    world.held("wipe").await;
    world.clock.advance(Duration::from_secs(301));
    world.chat.card("expired").await;
    world.chat.text("Finished.").await;
    let farewells = world.engine.store().notes("chat.slack.said", "s/expired", None, 10).await;
    assert!(farewells.unwrap().is_empty());
}
