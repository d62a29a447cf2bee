//! Decided by the clock, or elsewhere.

use serde_json::json;

use crate::scenarios::chat::{Button, Chat, Who};
use crate::scenarios::world::{End, World};

pub(crate) async fn i27_the_time_runs_out_and_that_is_no_denial(chat: Box<dyn Chat>) {
    let world = World::start_with(chat, "expires = \"3s\"").await;
    let asked = world.ask("alpha").await;
    world.ended(&asked, End::Expired).await;
    world.said(None, &format!("#{}: the time ran out. Nobody decided", asked.tag())).await;
    assert_eq!(world.times("denied"), 0, "nobody denied anything");
    for card in world.chat.cards() {
        assert!(!card.text.contains("denied"), "{card:#?}");
    }
    let late = world.press(Who::Ana, &asked.home, Button::Allow).await;
    let told = world.told(&late).await;
    assert!(told.contains("The time ran out"), "{told}");
    world.ended(&asked, End::Expired).await;
}

pub(crate) async fn i37_answered_on_the_page_while_the_cards_are_open(chat: Box<dyn Chat>) {
    let world = World::start(chat).await;
    let asked = world.ask("alpha").await;
    let cat = world.served.person("cat").await;
    cat.answer(&asked.hold, json!({"verdict": "approve"})).await.must(200);
    world.ended(&asked, End::Approved(Who::Cat)).await;
    let late = world.press(Who::Ana, &asked.home, Button::Deny).await;
    let told = world.told(&late).await;
    assert!(told.contains("approved by Cat"), "the truth: {told}");
    let second = world.ask("bravo").await;
    let answer = json!({"verdict": "deny", "reason": "not today"});
    cat.answer(&second.hold, answer).await.must(200);
    world.ended(&second, End::Denied(Who::Cat)).await;
    world.ended(&asked, End::Approved(Who::Cat)).await;
}
