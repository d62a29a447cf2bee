//! SIGKILL, where it hurts.

use crate::chat::{Button, Card, Chat, Room, Trouble, Who};
use crate::world::{End, World, until};

/// The platform has shown the cards, and we have died before we heard of it.
pub(crate) async fn i35_killed_between_sending_and_writing_it_down(chat: Box<dyn Chat>) {
    let mut world = World::start(chat).await;
    world.chat.trouble(Some(Trouble::Mute));
    world.write(Who::Ana, "note alpha").await;
    let hold = world.hold_about("alpha").await;
    let rooms = [Room::Home, Room::Watch];
    until("both cards", || rooms.iter().all(|room| world.card_of(&hold, *room).is_some())).await;
    let orphans: Vec<Card> = world.chat.cards();
    world.served.kill().await;
    world.chat.trouble(None);
    world.up().await;
    if world.chat.doubles() {
        until("the cards once more", || world.chat.cards().len() == 4).await;
    }
    let asked = world.asked("alpha").await;
    let cards = world.chat.cards();
    if world.chat.doubles() {
        // Nobody can know of the first one. It stands beside the second, and is dead.
        assert_eq!((orphans.len(), cards.len()), (2, 4), "{cards:#?}");
        for orphan in &orphans {
            for button in [Button::Allow, Button::Deny] {
                let event = world.press(Who::Ana, orphan, button).await;
                let told = world.told(&event).await;
                assert!(told.contains("here"), "it does not work here: {told}");
            }
        }
    } else {
        assert_eq!((orphans.len(), cards.len()), (2, 2), "one card in each room: {cards:#?}");
    }
    world.waits(&asked).await;
    world.press(Who::Ana, &asked.home, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    assert_eq!(world.holds().await.len(), 1);
}

pub(crate) async fn i35_killed_between_question_and_answer(chat: Box<dyn Chat>) {
    let mut world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    world.killed_and_started().await;
    world.waits(&asked).await;
    world.press(Who::Cat, &asked.watch, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Cat)).await;
    world.killed_and_started().await;
    world.ended(&asked, End::Approved(Who::Cat)).await;
    assert_eq!(world.chat.cards().len(), 2, "one card in each room");
}
