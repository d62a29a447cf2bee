//! Many chats and many holds at once.

use std::sync::Arc;
use std::time::Duration;

use ports::channel::{ButtonAction, Inbox as _, PressReply};
use serde_json::json;
use stores::SqliteStore;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::world::{Things, node};

const CHATS: usize = 40;
const HOLDS_EACH: usize = 10;

/// Platforms want to hear within two seconds that a press counts. How long that takes is measured by
/// the benchmark of chats; here, that no acknowledgement waits for the platform itself, which may be
/// slower than that by far.
#[tokio::test(flavor = "multi_thread")]
async fn i41_hundreds_of_presses_are_answered_while_nothing_can_be_painted() {
    let folder = tempfile::tempdir().unwrap();
    let node = node();
    let store = SqliteStore::open(folder.path(), node).unwrap();
    let world = Arc::new(Things { alone: true, ..Things::new() }.start(store.clone(), node).await);
    for chat in 0..CHATS {
        let calls: Vec<_> = (0..HOLDS_EACH).map(|n| ("wipe", json!({"n": n}))).collect();
        world.model.will("", &calls);
        let mut wrote = world.wrote("ana", "wipe");
        wrote.chat = format!("C{chat}");
        world.board.wrote("slack", wrote).await.unwrap();
    }
    let cards = world.chat.until("all are asked", |screen| {
        (screen.cards.len() == CHATS * HOLDS_EACH)
            .then(|| screen.cards.values().cloned().collect::<Vec<_>>())
    });
    let cards = cards.await;
    let gate = Arc::new(Semaphore::new(0));
    *world.chat.gate.lock().unwrap() = Some(gate.clone());
    let mut presses = JoinSet::new();
    for chat in 0..CHATS {
        let (world, chat) = (world.clone(), format!("C{chat}"));
        let here: Vec<_> = cards.iter().filter(|card| card.posted.chat == chat).cloned().collect();
        presses.spawn(async move {
            for card in here {
                let press = world.press_of("bob", &card, ButtonAction::Allow);
                let told = world.board.pressed("slack", press).await.unwrap();
                assert!(matches!(told, PressReply::Taken(_)), "{told:?}");
            }
        });
    }
    let answered = tokio::time::timeout(Duration::from_secs(60), presses.join_all());
    answered.await.expect("no acknowledgement waits for the platform");
    gate.add_permits(Semaphore::MAX_PERMITS);
    let settled = world.chat.until("every card is settled", |screen| {
        screen.cards.values().all(|card| card.state() == "approved+succeeded").then_some(())
    });
    settled.await;
    assert_eq!(world.done().len(), CHATS * HOLDS_EACH);
    world.board.close(Duration::from_secs(1)).await;
    world.engine.close(Duration::from_secs(5)).await;
    store.close().await;
}
