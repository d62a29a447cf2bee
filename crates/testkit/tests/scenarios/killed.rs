//! SIGKILL, where it hurts.

use crate::scenarios::chat::{Button, Card, Chat, Room, Trouble, Who};
use crate::scenarios::world::{End, World, until};

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
    let doubles = world.chat.doubles();
    let each = if doubles { 4 } else { 2 };
    assert_eq!((orphans.len(), cards.len()), (2, each), "one card in each room: {cards:#?}");
    world.waits(&asked).await;
    // Where nobody could know of the first one, it stands beside the second and is worth the same.
    let answered = if doubles { &orphans[0] } else { &asked.home };
    world.press(Who::Ana, answered, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    if doubles {
        // Where the other stands is known when it is pressed.
        let event = world.press(Who::Cat, &orphans[1], Button::Deny).await;
        let told = world.told(&event).await;
        assert!(told.contains("Already decided"), "{told}");
        let approved = End::Approved(Who::Ana).words();
        let over = |card: &Card| !card.is_alive() && card.text.contains(&approved);
        until("every copy is over", || world.chat.cards().iter().all(over)).await;
    }
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
