//! What an earlier version had still to send, in notes whose keys sort as the messages were to leave.

use std::sync::Arc;
use std::time::Duration;

use domain::time::Timestamp;
use ports::clock::Clock as _;
use ports::store::{OutboxItem, PutNote, Store};
use serde_json::{Value, json};

use crate::chat::Fault;
use crate::restart::{Disk, things_of};
use crate::world::Things;

const WHENEVER: Timestamp = Timestamp::from_ms(i64::MAX);

fn put(shelf: &str, key: &str, value: Option<Vec<u8>>) -> PutNote {
    let (shelf, key) = (shelf.to_owned(), key.to_owned());
    PutNote { shelf, key, value, expected: None, due_at: None, forget_at: None }
}

async fn record_of(store: &dyn Store, item: &OutboxItem) -> Vec<u8> {
    match item.payload.is_empty() {
        true => store.note("chat.slack.out", &item.key).await.unwrap().unwrap().value,
        false => item.payload.clone(),
    }
}

/// Writes all that is to be sent as versions before the outbox did, and takes it out of the outbox.
async fn as_before(store: &dyn Store, now: Timestamp) -> usize {
    let items = store.outbox_items("chat.slack", WHENEVER, 100).await.unwrap();
    for item in &items {
        let record = record_of(store, item).await;
        let read: Value = serde_json::from_slice(&record).unwrap();
        let (due, lane) = (item.ready_at(), &item.lane);
        let entry = format!("{}/{}", read["ticket"].as_str().unwrap(), item.key);
        let due_ms = due.as_ms().to_string().into_bytes();
        let null = Some(b"null".to_vec());
        let notes = vec![
            PutNote { due_at: Some(due), ..put("chat.slack.out", &item.key, Some(record)) },
            put(&format!("chat.slack.news.{lane}"), &entry, Some(due_ms)),
            PutNote { due_at: Some(due), ..put("chat.slack.news", lane, null) },
        ];
        assert!(store.put_notes(notes).await.unwrap());
        assert!(store.write_outbox(item.remove().into(), now).await.unwrap());
    }
    let said = store.notes("chat.slack.said", "", None, 100).await.unwrap();
    for mark in &said {
        let mut notes = vec![put("chat.slack.said", &mark.key, None)];
        if !items.iter().any(|item| item.key == mark.key) {
            // It was said; the record stayed for a day.
            let value = json!({"said": "earlier"}).to_string().into_bytes();
            notes.push(PutNote {
                forget_at: Some(now.plus_ms(60_000)),
                ..put("chat.slack.out", &mark.key, Some(value))
            });
        }
        assert!(store.put_notes(notes).await.unwrap());
    }
    items.len()
}

#[tokio::test]
async fn what_an_earlier_version_had_to_send_is_sent_once() {
    let disk = Disk::new();
    let (world, store) = disk.start(Things::new()).await;
    world.model.will("said before", &[]);
    world.write("ana", "hello").await;
    world.chat.text("said before").await;
    let away = || Fault::Again(Some(Duration::from_secs(100)));
    world.chat.will([away(), away()]);
    world.model.will("not said yet", &[("wipe", json!({"n": 1}))]);
    world.write("ana", "please wipe").await;
    let waits = async || {
        let items = store.outbox_items("chat.slack", WHENEVER, 100).await.unwrap();
        items.len() == 2 && items.iter().all(|item| item.attempts == 1 && item.lease.is_none())
    };
    while !waits().await {
        tokio::task::yield_now().await;
    }
    let things = things_of(&world);
    let clock = world.clock.clone();
    world.close().await;
    assert_eq!(as_before(&*store, clock.now()).await, 2);
    store.close().await;

    let (world, store) = disk.start(things).await;
    world.in_time(world.chat.text("not said yet")).await;
    world.in_time(world.chat.card("pending")).await;
    let store: Arc<dyn Store> = store;
    for shelf in ["chat.slack.news", "chat.slack.paints"] {
        assert_eq!(store.notes(shelf, "", None, 9).await.unwrap(), [], "{shelf}");
    }
    let records = store.notes("chat.slack.out", "", None, 9).await.unwrap();
    let keys: Vec<&str> = records.iter().map(|note| note.key.as_str()).collect();
    assert!(keys.len() == 1 && keys[0].starts_with("d/"), "{keys:?}");
    assert_eq!(records[0].due_at, None);
    assert_eq!(store.notes("chat.slack.said", "s/", None, 9).await.unwrap().len(), 2);
    assert_eq!(world.chat.texts(), ["said before", "not said yet"]);
    assert_eq!(world.chat.screen.lock().unwrap().cards.len(), 1);
}
