//! What is said while more than one question waits, and what is said by a person who may not answer.

use domain::event::{Event, GlobalEvent};
use domain::id::{SessionId, StreamId};
use engine::{NewMessage, NewSession};
use ports::channel::{ButtonAction, Inbox as _, PressReply};
use serde_json::json;

use crate::chat::Card;
use crate::world::World;

/// Two calls of one agent wait in the group.
async fn two_cards(world: &World) -> Vec<Card> {
    world.model.will("", &[("wipe", json!({"n": 1})), ("wipe", json!({"n": 2}))]);
    world.write("ana", "wipe both").await;
    let two = |screen: &crate::chat::Screen| {
        let cards: Vec<_> = screen.cards.values().cloned().collect();
        (cards.len() == 2).then_some(cards)
    };
    world.chat.until("two", two).await
}

async fn refused(world: &World) -> Vec<String> {
    let entries = world.engine.store().entries(Some(StreamId::Global), 0, 1_000).await.unwrap();
    let events = entries.iter().flat_map(|entry| entry.events.iter());
    let why = |event: &Event| match event {
        Event::Global(GlobalEvent::AnswerRefused { refused }) => {
            Some(format!("{}: {}", refused.identity.as_deref().unwrap_or("-"), refused.why))
        }
        _ => None,
    };
    events.filter_map(why).collect()
}

#[tokio::test]
async fn i31_a_tagged_answer_of_somebody_who_may_not_is_refused_and_listed() {
    let world = World::memory().await;
    let cards = two_cards(&world).await;
    let tag = &cards[0].tag;
    world.write("gus", &format!("confirm #{tag}")).await;
    let told = world.chat.text("not for you").await;
    assert_eq!(told.whisper_to.as_deref(), Some("U-gus"));
    assert!(told.text.contains(tag), "{told:?}");
    world.write("eve", &format!("confirm #{tag}")).await;
    assert_eq!(
        refused(&world).await,
        ["U-gus: it is not for them", "U-eve: nobody is linked to them"]
    );
    assert!(world.hold(cards[0].hold).await.votes.is_empty());
}

#[tokio::test]
async fn a_clear_word_among_several_questions_always_gets_a_sign() {
    let world = World::memory().await;
    two_cards(&world).await;
    for count in 1..=3 {
        world.write("bob", "confirm").await;
        let asked = |screen: &crate::chat::Screen| {
            let which = screen.texts.iter().filter(|(_, text)| text.text.contains("Several"));
            (which.count() == count).then_some(())
        };
        world.chat.until("told which wait", asked).await;
    }
    assert!(world.done().is_empty());
}

async fn session_that_asks(world: &World) -> SessionId {
    let new = NewSession { agent: "ops".into(), title: None, metadata: json!({}), home: None };
    let session = world.engine.open_session(&world.root, new, None).await.unwrap().id;
    world.model.will("I will.", &[("wipe", json!({"n": 1}))]);
    let saying =
        NewMessage { texts: vec!["wipe it".into()], files: Vec::new(), while_pending: None };
    world.engine.say(&world.root, session, saying, None).await.unwrap();
    session
}

#[tokio::test]
async fn i55_unclear_words_among_questions_of_two_agents_reach_neither() {
    let world = World::memory().await;
    let first = session_that_asks(&world).await;
    let bobs = |count: usize| {
        move |screen: &crate::chat::Screen| {
            let here = screen.cards.values().filter(|card| card.posted.chat == "D-U-bob");
            (here.count() == count).then_some(())
        }
    };
    world.chat.until("Bob is asked", bobs(1)).await;
    let second = session_that_asks(&world).await;
    world.chat.until("Bob is asked again", bobs(2)).await;
    let mut wrote = world.wrote("bob", "only the old ones, said Ana");
    (wrote.chat, wrote.direct) = ("D-U-bob".into(), true);
    world.board.wrote("slack", wrote).await.unwrap();
    world.chat.text("Several questions").await;
    for session in [first, second] {
        let session = world.engine.session(&world.root, session).await.unwrap();
        let heard = session.queue.iter().any(|queued| queued.message.text().contains("old ones"));
        assert!(!heard, "an agent hears what was perhaps said to another");
    }
    let chats = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert_eq!(chats.len(), 1, "the agent of this chat has it");
}

#[tokio::test]
async fn a_second_vote_of_another_kind_is_told_of_in_words_of_its_own() {
    let world = World::memory().await;
    let card = world.held("bury").await;
    assert!(matches!(world.press("bob", &card, ButtonAction::Allow).await, PressReply::Counted(_)));
    let told = world.press("bob", &card, ButtonAction::Deny).await;
    match told {
        PressReply::Invalid(text) => assert!(text.contains("that answer counts"), "{text}"),
        told => panic!("{told:?}"),
    }
    world.write("bob", "deny").await;
    let said = world.chat.text("that answer counts").await;
    assert!(said.text.contains(&card.tag), "{said:?}");
    assert!(world.hold(card.hold).await.is_pending());
}
