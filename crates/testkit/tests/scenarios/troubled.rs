//! A platform that does not do what it is asked. What is decided elsewhere is decided while it is in
//! trouble, and it shows it as soon as it can.

use crate::scenarios::chat::{Button, Chat, Room, Trouble, Who};
use crate::scenarios::world::{End, World, until};

pub(crate) async fn i35_too_many_requests_neither_lose_nor_delay_a_decision(chat: Box<dyn Chat>) {
    in_trouble(chat, Trouble::TooMany).await;
}

pub(crate) async fn i35_errors_neither_lose_nor_delay_a_decision(chat: Box<dyn Chat>) {
    in_trouble(chat, Trouble::Error).await;
}

pub(crate) async fn i35_garbage_neither_loses_nor_delays_a_decision(chat: Box<dyn Chat>) {
    in_trouble(chat, Trouble::Garbage).await;
}

pub(crate) async fn i35_silence_neither_loses_nor_delays_a_decision(chat: Box<dyn Chat>) {
    in_trouble(chat, Trouble::Silence).await;
}

async fn in_trouble(chat: Box<dyn Chat>, trouble: Trouble) {
    let world = World::start(chat).await;
    let cat = world.served.person("cat").await;

    // The cards stand, and cannot be repainted.
    let alpha = world.ask("alpha").await;
    world.chat.trouble(Some(trouble));
    cat.approve(&alpha.hold).await;
    world.decided("alpha", End::Approved(Who::Cat)).await;
    // Its buttons look alive for as long as that, and are not.
    world.press(Who::Ana, &alpha.home, Button::Deny).await;
    world.decided("alpha", End::Approved(Who::Cat)).await;
    world.chat.trouble(None);
    world.ended(&alpha, End::Approved(Who::Cat)).await;

    // The cards cannot be shown.
    world.chat.trouble(Some(trouble));
    world.write(Who::Ana, "note bravo").await;
    let bravo = world.hold_about("bravo").await;
    cat.approve(&bravo).await;
    world.decided("bravo", End::Approved(Who::Cat)).await;
    for room in Room::ALL {
        assert!(world.card_of(&bravo, room).is_none(), "the platform was in trouble all the time");
    }
    world.chat.trouble(None);
    until("what the agent said", || world.times("Noted.") == 2).await;
    // Whatever came to stand there is not alive.
    until("no card is alive", || world.chat.cards().iter().all(|card| !card.is_alive())).await;

    // And it is as before.
    let charlie = world.ask("charlie").await;
    world.press(Who::Ana, &charlie.home, Button::Deny).await;
    world.ended(&charlie, End::Denied(Who::Ana)).await;
    world.decided("bravo", End::Approved(Who::Cat)).await;
}
