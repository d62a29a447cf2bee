//! A group gets another name, as those of Telegram's do, and is the same group.

use domain::hold::HoldState;
use holdpoint_chat::Limits;
use ports::channel::{ButtonAction, Inbox as _, PressReply};

use crate::chat::{Card, Fault};
use crate::restart::{Disk, restarted};
use crate::world::{Things, World};

async fn in_new_group(world: &World, state: &str) -> Card {
    let found = |card: &&Card| card.posted.chat == "C2" && card.state() == state;
    world.chat.until(state, |screen| screen.cards.values().find(found).cloned()).await
}

#[tokio::test]
async fn a_prompt_is_asked_again_where_its_chat_is_now_and_answered_there() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    let old = world.held("wipe").await;
    assert_eq!(old.posted.chat, "C1");
    world.board.moved("slack", "C1", "C2").await.unwrap();
    let new = in_new_group(&world, "pending").await;
    assert_eq!((new.hold, &new.key), (old.hold, &old.key), "the same question");
    assert_ne!(new.posted.message, old.posted.message);
    // The old message cannot be changed, so its buttons say that they are not the ones.
    let told = world.press("bob", &old, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::Changed(_)), "{told:?}");
    assert!(world.hold(old.hold).await.is_pending());
    // To be told of it again, and by a restart in between, makes no second prompt.
    let (world, _store) = restarted(&disk, world, store).await;
    world.board.moved("slack", "C1", "C2").await.unwrap();
    // What waited when the process began is asked about before what comes later.
    let later = world.open_outside("Deploy?").await;
    let found = |card: &&Card| card.hold == later;
    world.chat.until("later", |screen| screen.cards.values().find(found).cloned()).await;
    let new = in_new_group(&world, "pending").await;
    let told = world.press("bob", &new, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::Taken(_)), "{told:?}");
    in_new_group(&world, "approved+succeeded").await;
    assert_eq!(world.done().len(), 1);
    let cards = world.chat.screen.lock().unwrap().cards.clone();
    let asked: Vec<Card> = cards.into_values().filter(|card| card.hold == old.hold).collect();
    assert_eq!(asked.len(), 1, "under one name: {asked:?}");
    let told = world.press("bob", &old, ButtonAction::Allow).await;
    assert!(matches!(told, PressReply::Already(_)), "{told:?}");
}

#[tokio::test]
async fn words_in_the_new_chat_answer_and_the_conversation_goes_on() {
    let world = World::memory().await;
    world.held("wipe").await;
    world.board.moved("slack", "C1", "C2").await.unwrap();
    in_new_group(&world, "pending").await;
    let mut yes = world.wrote("bob", "confirm");
    yes.chat = "C2".into();
    world.board.wrote("slack", yes).await.unwrap();
    in_new_group(&world, "approved+succeeded").await;
    let said = world.chat.text("Finished.").await;
    assert_eq!(said.chat, "C2", "the agent speaks where people are");
    world.model.will("Still here.", &[]);
    let mut more = world.wrote("ana", "are you there");
    more.chat = "C2".into();
    world.board.wrote("slack", more).await.unwrap();
    assert_eq!(world.chat.text("Still here.").await.chat, "C2");
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert_eq!(sessions.len(), 1, "one conversation");
    // What it asks next is asked under the new name at once.
    let next = world.held("burn").await;
    assert_eq!(next.posted.chat, "C2");
}

#[tokio::test]
async fn a_platform_that_says_it_only_when_something_is_sent_is_believed() {
    let world = World::memory().await;
    let old = world.held("wipe").await;
    // The repaint of the answer is refused, and the outcome shown in the new group.
    world.chat.will([Fault::Moved("C2")]);
    world.press("bob", &old, ButtonAction::Deny).await;
    let new = in_new_group(&world, "denied").await;
    assert_eq!(new.hold, old.hold);
    assert!(matches!(world.hold(old.hold).await.state, HoldState::Denied(_)));
    let mut more = world.wrote("ana", "and now");
    more.chat = "C2".into();
    world.board.wrote("slack", more).await.unwrap();
    let sessions = world.engine.sessions_at(&world.root, "slack", None, None, 10).await.unwrap();
    assert_eq!(sessions.len(), 1, "one conversation");
}

#[tokio::test]
async fn what_is_said_and_asked_goes_to_the_new_chat_at_once() {
    let world = World::memory().await;
    world.chat.will([Fault::Moved("C2")]);
    world.model.will("Hello, Ana.", &[]);
    world.write("ana", "hello").await;
    assert_eq!(world.chat.text("Hello, Ana.").await.chat, "C2");
    let card = world.held("wipe").await;
    assert_eq!(card.posted.chat, "C2");
    assert_eq!(world.chat.screen.lock().unwrap().shows, 1, "the old name is not tried again");
}

#[tokio::test]
async fn a_chat_that_moves_in_a_circle_is_given_up() {
    let world = World::memory().await;
    let circle = ["C2", "C1"].into_iter().cycle().take(60).map(Fault::Moved);
    world.chat.will(circle);
    world.model.will("", &[("wipe", serde_json::json!({"n": 1}))]);
    world.write("ana", "please wipe").await;
    let attempts = Limits::default().attempts as usize;
    let given_up = |screen: &crate::chat::Screen| (screen.shows >= attempts).then_some(());
    world.in_time(world.chat.until("given up", given_up)).await;
    // That it was given up is written down, and then it is not taken up again.
    let hold = world.hold(world.other.card("pending").await.hold).await;
    let over = async {
        while world.engine.undelivered(&hold).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    world.in_time(over).await;
    assert_eq!(world.chat.screen.lock().unwrap().shows, attempts);
}
