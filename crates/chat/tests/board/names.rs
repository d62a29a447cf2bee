//! People whom a platform knows by several names.

use ports::channel::{ButtonAction, Inbox as _, Operator, PressReply};

use crate::world::World;

fn called(names: &[&str]) -> Option<Operator> {
    let (first, also) = names.split_first().expect("a name");
    let also = also.iter().map(|name| (*name).to_owned()).collect();
    Some(Operator { also, ..Operator::named(*first) })
}

#[tokio::test]
async fn whoever_is_linked_by_another_of_their_names_answers() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    let mut press = world.press_of("stranger", &card, ButtonAction::Allow);
    press.operator = called(&["ou_1", "on_1", "u1"]);
    assert!(matches!(world.board.pressed("slack", press).await, Ok(PressReply::NotEntitled)));
    let mut press = world.press_of("stranger", &card, ButtonAction::Allow);
    press.operator = called(&["ou_1", "U-bob", "u1"]);
    assert!(matches!(world.board.pressed("slack", press).await, Ok(PressReply::Taken(_))));
    world.chat.card("approved+succeeded").await;
    assert_eq!(world.hold(card.hold).await.votes[0].by.as_str(), "bob");

    let card = world.held("wipe").await;
    let mut wrote = world.wrote("stranger", "no");
    wrote.operator = called(&["ou_1", "U-bob"]);
    world.board.wrote("slack", wrote).await.expect("taken");
    world.chat.card("denied").await;
    assert_eq!(world.hold(card.hold).await.votes[0].by.as_str(), "bob");
}

#[tokio::test]
async fn i31_names_that_lead_to_two_people_are_nobodys() {
    let world = World::memory().await;
    let card = world.held("wipe").await;
    for names in [["U-bob", "U-ana"], ["U-bob", "U-gus"], ["U-gus", "U-bob"]] {
        let mut press = world.press_of("bob", &card, ButtonAction::Allow);
        press.operator = called(&names);
        let told = world.board.pressed("slack", press).await;
        assert!(matches!(told, Ok(PressReply::NotEntitled)), "{names:?}");
    }
    assert!(world.hold(card.hold).await.votes.is_empty());
    // The same person twice is one.
    let mut press = world.press_of("bob", &card, ButtonAction::Allow);
    press.operator = called(&["U-bob", "U-bob"]);
    assert!(matches!(world.board.pressed("slack", press).await, Ok(PressReply::Taken(_))));
}
