//! Replies under idempotency keys are kept for a week, and not for ever.

use std::sync::Arc;
use std::time::Duration;

use domain::digest::Digest;
use domain::id::StreamId;
use domain::session::Session;
use holdpoint_engine::{Keep, NewMessage, NewSession, REPLIES_ON_DISK_MS};
use ports::file_store::FileStore as _;
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

#[tokio::test(flavor = "multi_thread")]
async fn files_that_nothing_has_go_after_a_day_and_those_of_a_message_stay() {
    const DAY_MS: u64 = 24 * 3_600_000;
    let node = node();
    let store = Arc::new(MemoryStore::new(node));
    let files = store.files().unwrap();
    let first = Options::new(store.clone(), node).start().await;
    let mut ids = Vec::new();
    for name in ["said", "forgotten", "failed", "certain"] {
        let mut upload = first.engine.begin_upload(&first.ana, name, None).await.unwrap();
        upload.write(name.as_bytes()).await.unwrap();
        ids.push(upload.finish().await.unwrap().file.id);
    }
    let [said, forgotten, failed, certain] = ids[..] else { panic!("four") };
    let session = first.session().await;
    for id in [said, certain] {
        let saying =
            NewMessage { texts: vec!["look".into()], files: vec![id], while_pending: None };
        first.engine.say(&first.ana, session, saying, None).await.unwrap();
    }
    // As if the server had died after the note: before the commit, and before the note was certain.
    let stream = StreamId::Session(session);
    assert!(store.use_files(&[failed], stream).await.unwrap());
    assert!(files.uses_of(said).await.unwrap()[0].is_certain);
    first.engine.close(Duration::from_secs(5)).await;

    for (ahead_ms, is_there) in [(DAY_MS / 2, true), (DAY_MS, false)] {
        let mut later = Options::new(store.clone(), node);
        later.ahead_ms = Arc::new(ahead_ms.into());
        later.start().await.engine.close(Duration::from_secs(5)).await;
        for id in [forgotten, failed] {
            assert_eq!(files.file(id).await.unwrap().is_some(), is_there, "{ahead_ms}");
        }
        for id in [said, certain] {
            assert!(files.file(id).await.unwrap().is_some());
        }
    }
}
