//! Answered as one should.

use testkit::served::words;

use crate::scenarios::chat::{Button, Chat, Who};
use crate::scenarios::world::{End, World};

pub(crate) async fn confirmed_with_a_button(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    world.waits(&asked).await;
    // In the room that only watches, by somebody else than who asked for it.
    world.press(Who::Cat, &asked.watch, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Cat)).await;
    let late = world.press(Who::Ana, &asked.home, Button::Deny).await;
    let told = world.told(&late).await;
    assert!(told.contains("approved by Cat"), "the truth: {told}");
    world.ended(&asked, End::Approved(Who::Cat)).await;
}

pub(crate) async fn denied_with_a_button(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    world.press(Who::Ana, &asked.home, Button::Deny).await;
    world.ended(&asked, End::Denied(Who::Ana)).await;
    let late = world.press(Who::Cat, &asked.home, Button::Allow).await;
    let told = world.told(&late).await;
    assert!(told.contains("denied by Ana"), "the truth: {told}");
    world.ended(&asked, End::Denied(Who::Ana)).await;
}

pub(crate) async fn confirmed_in_words(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    world.write(Who::Ana, "confirm").await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    world.said(None, &format!("#{}: approved by Ana", asked.tag())).await;
    // The answer was no message for the agent.
    let session = world.session().await;
    assert_eq!(words(&session, "user"), ["note alpha"]);
}

pub(crate) async fn cancelled_in_words(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    // A yes that is taken back within the sentence is none.
    world.write(Who::Cat, "do not confirm").await;
    world.ended(&asked, End::Denied(Who::Cat)).await;
    let second = world.ask("bravo").await;
    world.write(Who::Ana, "取消").await;
    world.ended(&second, End::Denied(Who::Ana)).await;
    let session = world.session().await;
    assert_eq!(words(&session, "user"), ["note alpha", "note bravo"]);
}

pub(crate) async fn a_question_is_no_answer(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    world.write(Who::Ana, "why is that needed?").await;
    // It is asked again, and nothing is lost: the agent hears it when it is free.
    world.said(None, &format!("#{} still waits", asked.tag())).await;
    world.waits(&asked).await;
    world.press(Who::Ana, &asked.home, Button::Allow).await;
    world.ended(&asked, End::Approved(Who::Ana)).await;
    world.said(None, "Because it was asked for.").await;
    let session = world.session().await;
    assert_eq!(words(&session, "user"), ["note alpha", "why is that needed?"]);
    assert_eq!(world.runs("alpha"), 1);
}

pub(crate) async fn two_at_once_are_answered_each_for_itself(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    world.write(Who::Ana, "note alpha and bravo").await;
    let (alpha, bravo) = (world.asked("alpha").await, world.asked("bravo").await);
    world.write(Who::Ana, "yes").await;
    world.said(None, "Several questions wait here").await;
    world.waits(&alpha).await;
    world.waits(&bravo).await;
    world.write(Who::Ana, &format!("confirm #{}", alpha.tag())).await;
    world.decided("alpha", End::Approved(Who::Ana)).await;
    world.waits(&bravo).await;
    world.press(Who::Cat, &bravo.home, Button::Deny).await;
    world.ended(&bravo, End::Denied(Who::Cat)).await;
    world.ended(&alpha, End::Approved(Who::Ana)).await;
    assert_eq!((world.runs("alpha"), world.runs("bravo")), (1, 0));
}
