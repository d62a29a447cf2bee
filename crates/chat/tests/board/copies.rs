//! A platform that cannot tell that the same prompt is sent twice: both copies stand there, and both are
//! worth the same.

use std::sync::Arc;
use std::time::Duration;

use domain::time::Timestamp;
use ports::channel::{ButtonAction, Inbox as _, PressReply};
use stores::SqliteStore;

use crate::chat::{Card, Fault, Screen};
use crate::restart::{Disk, restarted};
use crate::world::{Things, World};

/// The process ended before it heard where the first copy stands, and has sent another one.
async fn twice(disk: &Disk) -> (World, Arc<SqliteStore>, [Card; 2]) {
    let (world, store) = disk.start(Things::new()).await;
    *world.chat.forgetful.lock().unwrap() = true;
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.chat.will([Fault::Hangs]);
    world.write("ana", "wipe").await;
    world.chat.card("pending").await;
    let (world, store) = restarted(disk, world, store).await;
    let both = world.chat.until("two copies", |screen| {
        let cards: Vec<Card> = screen.cards.values().cloned().collect();
        cards.try_into().ok()
    });
    let both = both.await;
    (world, store, both)
}

async fn both_are(world: &World, state: &str) {
    let both =
        |screen: &Screen| screen.cards.values().all(|card| card.state() == state).then_some(());
    world.chat.until(state, both).await;
}

#[tokio::test]
async fn i35_either_copy_of_a_prompt_is_answered_and_both_show_how_it_ended() {
    for pressed in [0, 1] {
        let disk = Disk::new();
        let (world, _store, both) = twice(&disk).await;
        let told = world.press("bob", &both[pressed], ButtonAction::Allow).await;
        assert!(matches!(told, PressReply::Taken(_)), "{told:?}");
        // Where the other one stands is known when it is pressed, and not before.
        let told = world.press("bob", &both[1 - pressed], ButtonAction::Allow).await;
        assert!(matches!(told, PressReply::Already(_)), "{told:?}");
        both_are(&world, "approved+succeeded").await;
        assert_eq!(world.done().len(), 1);
    }
}

#[tokio::test]
async fn a_copy_that_is_found_late_is_drawn_and_nothing_is_said_again() {
    let disk = Disk::new();
    let (world, _store, [lost, known]) = twice(&disk).await;
    world.clock.advance(Duration::from_secs(100 * 3600));
    world.chat.text("the time ran out").await;
    let is_over = |screen: &Screen| {
        let card = screen.cards.get(&known.posted.message)?;
        (card.state() == "expired").then_some(())
    };
    world.chat.until("over", is_over).await;
    // As it is when nothing is to be sent any more.
    let farewell = async || {
        let resting = async {
            loop {
                let store = world.engine.store();
                let whenever = Timestamp::from_ms(i64::MAX);
                if store.outbox_items("chat.slack", whenever, 1).await.unwrap().is_empty() {
                    let said = store.notes("chat.slack.said", "s/expired", None, 100).await;
                    return said.unwrap().into_iter().next();
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), resting).await.expect("all is sent")
    };
    let before = farewell().await;
    assert!(before.is_some());
    for _ in 0..2 {
        let told = world.press("bob", &lost, ButtonAction::Allow).await;
        assert!(matches!(told, PressReply::Already(_)), "{told:?}");
        both_are(&world, "expired").await;
    }
    assert_eq!(farewell().await, before);
    assert_eq!(world.done().len(), 0);
}

#[tokio::test]
async fn i31_whoever_names_another_message_than_the_one_they_pressed_makes_no_copy_of_it() {
    let disk = Disk::new();
    let (world, _store, [lost, known]) = twice(&disk).await;
    // A client can name any message and any button; the platform says what stands on it.
    let mut forged = world.press_of("bob", &lost, ButtonAction::Allow);
    forged.is_on_it = false;
    let told = world.board.pressed("slack", forged).await;
    assert!(matches!(told, Ok(PressReply::NotHere)), "{told:?}");
    // And whoever may not even look at it changes nothing by pressing.
    let told = world.press("gus", &lost, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::NotEntitled), "{told:?}");
    assert!(matches!(world.press("bob", &known, ButtonAction::Allow).await, PressReply::Taken(_)));
    let is_over = |screen: &Screen| {
        let card = screen.cards.get(&known.posted.message)?;
        (card.state() == "approved+succeeded").then_some(())
    };
    world.chat.until("over", is_over).await;
    assert_eq!(world.chat.screen.lock().unwrap().cards[&lost.posted.message].states, ["pending"]);
}

/// Somebody may have forwarded it.
async fn is_refused_beside(world: &World, card: &Card) {
    let mut press = world.press_of("bob", card, ButtonAction::Allow);
    press.message = "m9".into();
    let told = world.board.pressed("slack", press).await;
    assert!(matches!(told, Ok(PressReply::NotHere)), "{told:?}");
    assert!(world.hold(card.hold).await.is_pending());
}

#[tokio::test]
async fn a_message_beside_a_prompt_that_can_stand_only_once_is_no_copy_of_it() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    is_refused_beside(&world, &card).await;
    *world.chat.forgetful.lock().unwrap() = true;
    is_refused_beside(&world, &card).await;
    // Sent twice, to a platform that can tell.
    let world = World::memory().await;
    world.chat.will([Fault::Nothing, Fault::UnknownDone]);
    let card = world.held("wipe").await;
    world.chat.until("asked for again", |screen| (screen.shows >= 2).then_some(())).await;
    is_refused_beside(&world, &card).await;
}
