//! Whom a hold asks, and where.

use ports::channel::{Inbox as _, Place, Said, Told};

use crate::world::World;

#[tokio::test]
async fn a_hold_of_no_chat_goes_to_those_who_may_answer() {
    let world = World::memory().await;
    let hold = world.open_outside("Deploy?").await;
    let screen = world
        .chat
        .until("both dbas", |screen| {
            (screen.cards.len() == 2).then(|| screen.cards.values().cloned().collect::<Vec<_>>())
        })
        .await;
    let mut asked: Vec<_> = screen.iter().map(|card| card.place.clone()).collect();
    asked.sort_by_key(|place| format!("{place:?}"));
    assert_eq!(asked, [Place::Person("U-ana".into()), Place::Person("U-bob".into())]);
    // The other channel also has a chat that sees everything.
    world.other.until("three", |screen| (screen.cards.len() == 3).then_some(())).await;
    let bobs = screen.iter().find(|card| card.posted.chat == "D-U-bob").unwrap();
    // What stands in Bob's chat is not pressed from Ana's.
    let mut stolen = world.press_of("ana", bobs, Said::Allow);
    stolen.chat = "D-U-ana".into();
    assert!(matches!(world.board.pressed("slack", stolen).await, Ok(Told::NotHere)));
    // A direct message answers in words.
    let mut wrote = world.wrote("bob", "confirm");
    (wrote.chat, wrote.direct, wrote.mentions_us) = ("D-U-bob".into(), true, false);
    wrote.text = "confirm".into();
    world.board.wrote("slack", wrote).await.unwrap();
    world
        .chat
        .until("settled", |screen| {
            screen.cards.values().all(|card| card.state() != "pending").then_some(())
        })
        .await;
    world
        .other
        .until("settled", |screen| {
            screen.cards.values().all(|card| card.state() != "pending").then_some(())
        })
        .await;
    assert_eq!(world.hold(hold).await.votes[0].by.as_str(), "bob");
}
