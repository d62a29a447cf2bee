//! Replies under idempotency keys are kept for a week, and not for ever.

use std::sync::Arc;
use std::time::Duration;

use domain::digest::Digest;
use domain::session::Session;
use holdpoint_engine::{Keep, NewSession, REPLIES_ON_DISK_MS};
use ports::store::Store;
use serde_json::Value;
use stores::MemoryStore;

use crate::world::{Options, World, node};

async fn keeps_a_reply(world: &World, key: &str) {
    let new = NewSession { agent: "ops".into(), title: None, metadata: Value::Null, home: None };
    let render = |_: &Session| (201, b"{}".to_vec());
    let keep = Keep {
        caller: "ana".into(),
        key: key.into(),
        request: Digest::of(b"POST /v1/sessions"),
        render: &render,
    };
    world.engine.open_session(&world.ana, new, Some(keep)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_of_last_week_go_and_those_of_this_week_stay() {
    let node = node();
    let store = Arc::new(MemoryStore::new(node));
    let first = Options::new(store.clone(), node).start().await;
    keeps_a_reply(&first, "first").await;
    first.engine.close(Duration::from_secs(5)).await;
    assert!(store.reply("ana", "first").await.unwrap().is_some());

    let mut later = Options::new(store.clone(), node);
    later.ahead_ms = Arc::new((REPLIES_ON_DISK_MS / 2).into());
    let later = later.start().await;
    keeps_a_reply(&later, "second").await;
    later.engine.close(Duration::from_secs(5)).await;
    assert!(store.reply("ana", "first").await.unwrap().is_some(), "half a week is no week");

    let mut next_week = Options::new(store.clone(), node);
    // On top of the time of the last commit, which no clock goes behind.
    next_week.ahead_ms = Arc::new((REPLIES_ON_DISK_MS / 2 + 60_000).into());
    // What was begun is ended before an engine closes, this too.
    next_week.start().await.engine.close(Duration::from_secs(5)).await;
    assert_eq!(store.reply("ana", "first").await.unwrap(), None);
    assert!(store.reply("ana", "second").await.unwrap().is_some());
}
