//! Whom a hold asks, and where.

use domain::answer::Answer;
use domain::hold::{Choice, Question};
use ports::channel::{ButtonAction, Destination, Inbox as _, PressReply};

use crate::chat::Card;
use crate::world::{World, ask_outside};

/// A number of a reply counts places, as the card prints them, whatever the options are called.
#[tokio::test]
async fn i13_a_number_is_the_place_of_an_option_and_a_doubtful_one_is_none() {
    let option =
        |id: &str, label: &str| Choice { id: id.into(), label: label.into(), description: None };
    let ids = [("0", "Cancel"), ("1", "Staging"), ("2", "Production")];
    let labels = [("a", "3"), ("b", "5"), ("c", "7")];
    for (options, text, chosen) in [
        (ids, "1", Some("0")),
        (ids, "3", Some("2")),
        (ids, "Staging", Some("1")),
        (labels, "5", Some("b")),
        (labels, "1", Some("a")),
        (labels, "3", None),
        (labels, "３", None),
    ] {
        let world = World::memory().await;
        let options = options.map(|(id, label)| option(id, label)).to_vec();
        let question = Question::Choose { options, multiple: false, allow_other: false };
        let hold = ask_outside(&world.engine, "Which?", question).await;
        let bobs = |card: &&Card| card.posted.chat == "D-U-bob";
        world.chat.until("Bob is asked", |screen| screen.cards.values().find(bobs).cloned()).await;
        let mut wrote = world.wrote("bob", text);
        (wrote.chat, wrote.direct, wrote.text) = ("D-U-bob".into(), true, text.into());
        world.board.wrote("slack", wrote).await.unwrap();
        let votes = world.hold(hold).await.votes.clone();
        let answer = votes.first().map(|vote| vote.answer.clone());
        assert_eq!(answer, chosen.map(|id| Answer::Choose(vec![id.into()])), "{text}");
        if chosen.is_none() {
            let asked = world.chat.text("still waits").await;
            assert!(asked.text.contains("which option"), "{asked:?}");
        }
    }
}

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
    assert_eq!(asked, [Destination::Person("U-ana".into()), Destination::Person("U-bob".into())]);
    // The other channel also has a chat that sees everything.
    world.other.until("three", |screen| (screen.cards.len() == 3).then_some(())).await;
    let bobs = screen.iter().find(|card| card.posted.chat == "D-U-bob").unwrap();
    // What stands in Bob's chat is not pressed from Ana's.
    let mut stolen = world.press_of("ana", bobs, ButtonAction::Allow);
    stolen.chat = "D-U-ana".into();
    assert!(matches!(world.board.pressed("slack", stolen).await, Ok(PressReply::NotHere)));
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
