//! A dangerous yes takes two presses, and a no may have a reason.

use std::time::Duration;

use domain::answer::Answer;
use ports::channel::{ButtonAction, Inbox as _, Opened, PressReply};
use serde_json::json;

use crate::chat::Card;
use crate::world::World;

/// Longer than a second press that belongs to the first.
const READ: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_dangerous_yes_is_asked_once_more_before_it_counts() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    let told = world.press("bob", &card, ButtonAction::Arm).await;
    let PressReply::AskAgain(redraw) = told else { panic!("{told:?}") };
    assert!(redraw.armed && redraw.hold.is_pending() && redraw.hold.votes.is_empty());
    world.clock.advance(READ);
    let card = world.chat.card("pending?").await;
    assert!(world.done().is_empty());
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done(), [r#"burn {"n":1}"#]);
}

/// Two people must agree on something dangerous; its prompt.
async fn held_for_two(world: &World) -> Card {
    world.model.will("I will.", &[("bury", json!({"n": 9}))]);
    world.model.will("Finished.", &[]);
    world.write("ana", "please bury").await;
    world.chat.card("pending").await
}

#[tokio::test]
async fn i31_each_of_two_people_presses_twice() {
    let world = World::memory().await;
    let card = held_for_two(&world).await;
    assert!(matches!(world.press("ana", &card, ButtonAction::Arm).await, PressReply::AskAgain(_)));
    world.clock.advance(READ);
    world.chat.card("pending?").await;
    let told = world.press("ana", &card, ButtonAction::Allow).await;
    assert!(matches!(&told, PressReply::Counted(redraw) if !redraw.armed), "{told:?}");
    world.clock.advance(READ);
    let card = world.chat.card("pending").await;
    // As if the card still asked Bob once more.
    let told = world.press("bob", &card, ButtonAction::Allow).await;
    assert!(
        matches!(&told, PressReply::AskAgain(redraw) if redraw.hold.votes.len() == 1),
        "{told:?}"
    );
    assert!(world.done().is_empty());
    world.clock.advance(READ);
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.done(), [r#"bury {"n":9}"#]);
}

#[tokio::test]
async fn i31_a_first_press_is_good_for_a_minute_and_for_whoever_made_it() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Arm).await, PressReply::AskAgain(_)));
    world.clock.advance(READ);
    world.chat.card("pending?").await;
    let told = world.press("ana", &card, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::AskAgain(_)), "her first: {told:?}");
    let told = world.press("bob", &card, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::AskAgain(_)), "hers took the place of his: {told:?}");
    // The card does not wait for anybody to ask in its first form again.
    world.clock.advance(Duration::from_secs(61));
    let card = world.chat.card("pending").await;
    let told = world.press("bob", &card, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::AskAgain(_)), "hours later: {told:?}");
    assert!(world.hold(card.hold).await.votes.is_empty() && world.done().is_empty());
    world.clock.advance(READ);
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
}

#[tokio::test]
async fn a_card_that_asked_once_more_is_drawn_as_before_by_itself() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Arm).await, PressReply::AskAgain(_)));
    world.clock.advance(READ);
    world.chat.card("pending?").await;
    world.clock.advance(Duration::from_secs(61));
    let card = world.chat.card("pending").await;
    assert_eq!(card.states, ["pending", "pending?", "pending"]);
}

#[tokio::test]
async fn i31_without_a_first_press_a_dangerous_yes_is_the_first() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    let told = world.press("bob", &card, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::AskAgain(_)), "{told:?}");
    // Its platform asks for us.
    *world.chat.has_dialog.lock().unwrap() = true;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Taken(_)));
}

#[tokio::test]
async fn a_second_press_that_comes_with_the_first_does_not_count() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    // The second says when it was armed: on a slow machine it may come late, and then it counts.
    assert!(matches!(world.press("bob", &card, ButtonAction::Arm).await, PressReply::AskAgain(_)));
    let armed = world.hold(card.hold).await;
    let told = world.press("bob", &card, ButtonAction::Allow).await;
    match told {
        PressReply::AskAgain(_) => assert!(world.hold(card.hold).await.votes.is_empty()),
        PressReply::Taken(_) => assert!(armed.is_pending(), "more than half a second had passed"),
        told => panic!("{told:?}"),
    }
}

#[tokio::test]
async fn the_way_back_decides_nothing() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Arm).await, PressReply::AskAgain(_)));
    world.in_time(world.chat.card("pending?")).await;
    let told = world.press("bob", &card, ButtonAction::Back).await;
    assert!(matches!(&told, PressReply::AsItWas(redraw) if !redraw.armed), "{told:?}");
    world.in_time(world.chat.card("pending")).await;
    assert!(world.hold(card.hold).await.is_pending() && world.done().is_empty());
}

#[tokio::test]
async fn i31_whoever_may_not_answer_arms_nothing() {
    let world = World::memory().await;
    let card = world.held("burn").await;
    let told = world.press("gus", &card, ButtonAction::Arm).await;
    assert!(matches!(told, PressReply::NotEntitled), "{told:?}");
    let press = world.press_of("gus", &card, ButtonAction::Explain);
    let opened = world.board.opens("slack", &press).await.unwrap();
    assert!(matches!(opened, Opened::Refused(PressReply::NotEntitled)), "{opened:?}");
    assert!(matches!(world.press("bob", &card, ButtonAction::Deny).await, PressReply::Taken(_)));
    let card = world.chat.card("denied").await;
    assert!(!card.states.iter().any(|state| state == "pending?"), "{:?}", card.states);
}

#[tokio::test]
async fn a_form_for_the_reason_opens_also_where_a_yes_is_not_taken() {
    let world = World::memory().await;
    *world.chat.accepts_approval.lock().unwrap() = false;
    let card = world.held("wipe").await;
    let press = world.press_of("bob", &card, ButtonAction::Explain);
    let opened = world.board.opens("slack", &press).await.unwrap();
    assert!(matches!(opened, Opened::Form(_)), "{opened:?}");
    let told = world.press("bob", &card, ButtonAction::Arm).await;
    assert!(matches!(told, PressReply::NotHere), "what was not shown is not approved: {told:?}");
}

#[tokio::test]
async fn words_deny_with_a_reason_that_the_agent_is_told() {
    for text in ["deny: the wrong table", "No: the wrong table", "拒绝：the wrong table"] {
        let world = World::memory().await;
        let card = world.held("wipe").await;
        world.write("bob", text).await;
        world.chat.card("denied").await;
        let vote = world.hold(card.hold).await.votes[0].clone();
        let Answer::Deny { reason, .. } = &vote.answer else { panic!("{vote:?}") };
        assert_eq!(reason.as_deref(), Some("the wrong table"), "{text}");
        world.chat.text("Finished.").await;
        assert!(world.model_heard().contains("the wrong table"));
        assert!(world.done().is_empty());
    }
}

#[tokio::test]
async fn yes_but_offers_a_denial_with_these_words() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    world.write("bob", "yes but only on staging").await;
    let asked = world.chat.text("still waits").await;
    assert!(asked.text.contains("deny: your words"), "{asked:?}");
    assert!(world.hold(card.hold).await.is_pending());
}
