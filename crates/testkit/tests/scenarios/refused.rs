//! What must decide nothing. Each story ends with an answer that counts, so that it is seen that one could.

use testkit::served::words;

use crate::scenarios::chat::{Button, Card, Chat, How, Room, Who};
use crate::scenarios::world::{End, World};

pub(crate) async fn i31_the_wrong_person_decides_nothing(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    let cards = world.chat.cards();
    for who in [Who::Bob, Who::Eve] {
        for (card, button) in [(&asked.home, Button::Allow), (&asked.watch, Button::Deny)] {
            let told = world.press(who, card, button).await;
            let told = world.told(&told).await;
            assert!(told.contains("You may not answer this"), "{who:?}: {told}");
        }
        world.write(who, "confirm").await;
    }
    world.said(Some(Who::Bob), &format!("#{} is not for you to answer", asked.tag())).await;
    world.said(Some(Who::Eve), "I do not know who you are").await;
    world.waits(&asked).await;
    let look = |cards: Vec<Card>| cards.into_iter().map(|card| card.text).collect::<Vec<_>>();
    assert_eq!(look(world.chat.cards()), look(cards), "nothing public changes");
    world.press(Who::Cat, &asked.home, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Cat)).await;
}

pub(crate) async fn i31_words_in_another_chat_decide_nothing(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    for text in ["confirm", &format!("confirm #{}", asked.tag()), "cancel"] {
        let event = world.chat.wrote(Who::Ana, Room::Elsewhere, text, How::Plain);
        world.chat.deliver(&event).await;
    }
    world.said(None, "I see.").await;
    world.waits(&asked).await;
    world.write(Who::Ana, "confirm").await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
}

pub(crate) async fn i31_a_forwarded_card_is_dead(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    let other = Card { message: elsewhere(&*world.chat), ..asked.home.clone() };
    let mut forwarded = vec![
        Card { room: Room::Elsewhere, ..other.clone() },
        other,
        // The button of one card on another that is as true.
        Card { message: asked.watch.message.clone(), ..asked.home.clone() },
    ];
    if world.chat.names_chats() {
        forwarded.push(Card { room: Room::Elsewhere, ..asked.home.clone() });
    }
    for card in forwarded {
        for button in [Button::Allow, Button::Deny] {
            let event = world.press(Who::Ana, &card, button).await;
            let told = world.told(&event).await;
            assert!(told.contains("here"), "it does not work here: {told} {card:?}");
        }
    }
    // Somebody's yes, handed on.
    let event = world.chat.wrote(Who::Ana, Room::Home, "confirm", How::Forwarded);
    world.chat.deliver(&event).await;
    world.waits(&asked).await;
    world.press(Who::Ana, &asked.home, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
}

/// A message that we never sent, named as the platform names them.
fn elsewhere(chat: &dyn Chat) -> String {
    match chat.platform() {
        "telegram" => "987654".to_owned(),
        _ => "1700000000.000001".to_owned(),
    }
}

pub(crate) async fn i31_an_edited_message_decides_nothing(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    if world.chat.tells_edits() {
        for text in ["confirm", "cancel"] {
            let event = world.chat.wrote(Who::Ana, Room::Home, text, How::Edited);
            world.chat.deliver(&event).await;
        }
    }
    world.waits(&asked).await;
    world.write(Who::Ana, "cancel").await;
    world.ended(&asked, End::Denied(Who::Ana)).await;
    let session = world.session().await;
    assert_eq!(words(&session, "user"), ["note alpha"], "nor does it reach the agent");
}

pub(crate) async fn i31_words_from_before_the_question_decide_nothing(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    let early = world.chat.wrote(Who::Ana, Room::Home, "confirm", How::Before);
    world.chat.deliver(&early).await;
    world.waits(&asked).await;
    world.press(Who::Cat, &asked.home, Button::Deny).await;
    world.ended(&asked, End::Denied(Who::Cat)).await;
    // They were meant for the agent, and it heard them when it was free.
    world.said(None, "I see.").await;
    let session = world.session().await;
    assert_eq!(words(&session, "user"), ["note alpha", "confirm"]);
}
