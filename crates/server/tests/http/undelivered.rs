//! Where people could not be asked, whoever looks at the hold sees it.

use std::time::Duration;

use engine::Undelivered;
use serde_json::{Value, json};

use crate::world::{list, text, world};

fn to(chat: &str) -> Undelivered {
    Undelivered {
        channel: "feishu".into(),
        to: chat.into(),
        why: "it cannot be done: the bot is not in the chat".into(),
        at: domain::time::Timestamp::from_ms(1_700_000_000_000),
    }
}

#[tokio::test]
async fn i35_a_hold_says_where_people_could_not_be_asked() {
    let world = world().await;
    let body = json!({"kind": "choose", "title": "Which?", "options": ["a", "b"]});
    let hold = world.open_hold("gate", body).await;
    let path = format!("/v1/holds/{}", text(&hold, "id"));
    let (_, shown) = world.get("gate", &path).await;
    assert!(shown.get("undelivered").is_none(), "{shown}");
    let undelivered = to("oc_1");
    let id = text(&hold, "id").parse().unwrap();
    for _ in 0..3 {
        world.engine.note_undelivered(id, "key", &undelivered).await.unwrap();
    }
    let told = json!([{
        "channel": "feishu",
        "to": "oc_1",
        "why": "it cannot be done: the bot is not in the chat",
        "at": "2023-11-14T22:13:20.000Z",
    }]);
    assert_eq!(world.get("gate", &path).await.1["undelivered"], told);
    let (_, holds) = world.get("gate", "/v1/holds").await;
    assert_eq!(list(&holds, "items")[0]["undelivered"], told);
    // Once in the log, and counted.
    let failed = r#"holdpoint_deliveries_failed_total{channel="feishu"} 1"#;
    for _ in 0..1_000 {
        let reply = world.client.get(world.url("/metrics")).send().await.expect("a reply");
        if reply.text().await.expect("text").contains(failed) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the metrics never said {failed}");
}

#[tokio::test]
async fn each_hold_of_a_page_says_its_own() {
    let world = world().await;
    let mut ids = Vec::new();
    for title in ["one", "two", "three"] {
        let body = json!({"kind": "choose", "title": title, "options": ["a", "b"]});
        ids.push(text(&world.open_hold("gate", body).await, "id").parse().unwrap());
    }
    // Of one millisecond, chance says which comes first.
    ids.sort();
    let counts = async || {
        let (_, page) = world.get("gate", "/v1/holds").await;
        let told = |hold: &Value| hold["undelivered"].as_array().map_or(0, Vec::len);
        list(&page, "items").iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [0, 0, 0]);
    // Newest first.
    for (hold, chats, expected) in
        [(ids[2], 1, [1, 0, 0]), (ids[0], 2, [1, 0, 2]), (ids[0], 150, [1, 0, 100])]
    {
        for chat in 0..chats {
            let key = chat.to_string();
            world.engine.note_undelivered(hold, &key, &to(&key)).await.unwrap();
        }
        assert_eq!(counts().await, expected);
    }
    // More than is read at once: those of the middle one come after all of the first one.
    for chat in 0..60 {
        let key = chat.to_string();
        world.engine.note_undelivered(ids[1], &key, &to(&key)).await.unwrap();
    }
    assert_eq!(counts().await, [1, 60, 100]);
}
