//! Many chats and many holds at once.

use std::sync::Arc;
use std::time::Duration;

use ports::channel::{Inbox as _, Said, Told};
use ports::clock::Clock as _;
use serde_json::json;
use stores::SqliteStore;
use tokio::task::JoinSet;

use crate::world::{Things, node};

const CHATS: usize = 100;
const HOLDS_EACH: usize = 10;
/// DingTalk wants an answer within two seconds, and no platform wants it sooner.
const DEADLINE_MS: u64 = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn i41_a_thousand_holds_in_a_hundred_chats_are_answered_in_time() {
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
    let mut presses = JoinSet::new();
    for chat in 0..CHATS {
        let (world, chat) = (world.clone(), format!("C{chat}"));
        let here: Vec<_> = cards.iter().filter(|card| card.posted.chat == chat).cloned().collect();
        presses.spawn(async move {
            let mut took = Vec::new();
            for card in here {
                let press = world.press_of("bob", &card, Said::Allow);
                let began = world.clock.now();
                let told = world.board.pressed("slack", press).await.unwrap();
                took.push(world.clock.now().ms_since(began));
                assert!(matches!(told, Told::Taken(_)), "{told:?}");
            }
            took
        });
    }
    let mut took: Vec<u64> = presses.join_all().await.concat();
    took.sort_unstable();
    assert_eq!(took.len(), CHATS * HOLDS_EACH);
    let of_100 = |percent: usize| took[(took.len() - 1) * percent / 100];
    let (half, p99, worst) = (of_100(50), of_100(99), of_100(100));
    eprintln!("from a press to its acknowledgement: p50 {half} ms, p99 {p99} ms, worst {worst} ms");
    assert!(worst < DEADLINE_MS, "p50 {half} ms, p99 {p99} ms, worst {worst} ms");
    let settled = world.chat.until("every card is settled", |screen| {
        screen.cards.values().all(|card| card.state() == "approved+succeeded").then_some(())
    });
    tokio::time::timeout(Duration::from_secs(60), settled).await.unwrap();
    assert_eq!(world.done().len(), CHATS * HOLDS_EACH);
    world.board.close(Duration::from_secs(1)).await;
    world.engine.close(Duration::from_secs(5)).await;
    store.close().await;
}
