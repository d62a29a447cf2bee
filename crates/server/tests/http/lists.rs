//! Lists, filters, pages; the audit log.

use serde_json::{Value, json};

use crate::world::{World, list, text, world};

/// Every page, and all ids in their order.
async fn walk(world: &World, who: &str, path: &str, limit: usize) -> Vec<String> {
    let mut ids = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = world.get(who, &format!("{path}limit={limit}{cursor}")).await;
        assert_eq!(status, 200, "{page}");
        let items = list(&page, "items");
        assert!(items.len() <= limit);
        ids.extend(items.iter().map(|item| text(item, "id")));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return ids,
        }
    }
}

#[tokio::test]
async fn pages_fit_together_whatever_their_size() {
    let world = world().await;
    let mut opened = Vec::new();
    for number in 0..7 {
        let body =
            json!({"kind": "choose", "title": format!("question {number}"), "options": ["a"]});
        opened.push(text(&world.open_hold("gate", body).await, "id"));
        world.session("bob").await;
    }
    for limit in 1..=8 {
        let mut ids = walk(&world, "gate", "/v1/holds?", limit).await;
        let sorted = {
            let mut sorted = ids.clone();
            sorted.sort_by(|a, b| b.cmp(a));
            sorted
        };
        assert_eq!(ids, sorted, "newest first");
        ids.sort();
        let mut all = opened.clone();
        all.sort();
        assert_eq!(ids, all, "with pages of {limit}");
        assert_eq!(walk(&world, "bob", "/v1/sessions?", limit).await.len(), 7);
        assert_eq!(walk(&world, "ana", "/v1/tokens?", limit).await.len(), 6);
        assert_eq!(walk(&world, "bob", "/v1/holds?mine=true&", limit).await.len(), 7);
        assert_eq!(walk(&world, "eve", "/v1/holds?mine=true&", limit).await.len(), 0);
    }
}

#[tokio::test]
async fn the_inbox_is_filtered() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    world
        .open_hold(
            "gate",
            json!({"kind": "choose", "title": "Which colour?", "options": ["a"], "risk": "high"}),
        )
        .await;
    let found = |query: String| {
        let world = &world;
        async move {
            let (status, page) = world.get("bob", &format!("/v1/holds?{query}")).await;
            (status, page["items"].as_array().map_or(0, Vec::len))
        }
    };
    for (query, count) in [
        ("state=pending".to_owned(), 2),
        ("state=approved".to_owned(), 0),
        ("kind=choose".to_owned(), 1),
        ("kind=approve".to_owned(), 1),
        ("risk=high".to_owned(), 1),
        ("agent=ops".to_owned(), 1),
        ("q=colour".to_owned(), 1),
        ("q=wipe".to_owned(), 1),
        ("q=".to_owned(), 2),
        ("mine=true".to_owned(), 2),
        (format!("session={session}"), 1),
    ] {
        assert_eq!(found(query.clone()).await, (200, count), "{query}");
    }
    for query in [
        "state=open",
        "kind=x",
        "risk=x",
        "mine=yes",
        "session=x",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=x",
    ] {
        let (status, problem) = world.get("bob", &format!("/v1/holds?{query}")).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{query}");
    }
    assert_eq!(world.answer("bob", &hold, json!({"verdict": "deny"})).await.0, 200);
    assert_eq!(found("state=denied".into()).await, (200, 1));
}

#[tokio::test]
async fn agents_are_listed_with_their_tools() {
    let world = world().await;
    let (_, agents) = world.get("eve", "/v1/agents").await;
    let agent = &list(&agents, "items")[0];
    assert_eq!(agent["id"], "ops");
    assert_eq!(agent["tools"][0]["name"], "wipe");
    assert_eq!(agent["tools"][0]["effects"], "at_most_once");
}

#[tokio::test]
async fn i43_the_audit_log_is_read_and_its_export_verifies() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    world.until_over("bob", &session).await;
    for who in ["bob", "gate", "eve"] {
        assert_eq!(world.get(who, "/v1/audit").await.0, 403);
        assert_eq!(world.get(who, "/v1/audit/export").await.0, 403);
    }
    let (entries, head) = world.state().await;
    let mut after = 0;
    let mut read: Vec<Value> = Vec::new();
    loop {
        let (_, page) = world.get("ana", &format!("/v1/audit?after={after}&limit=3")).await;
        read.extend(list(&page, "items").iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = next.parse().expect("a number"),
            None => break,
        }
    }
    let numbers: Vec<u64> = read.iter().filter_map(|entry| entry["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=entries).collect::<Vec<_>>());
    assert!(read.iter().all(|entry| entry["entry"].is_object()));
    let export = world
        .request("ana", reqwest::Method::GET, "/v1/audit/export")
        .send()
        .await
        .expect("a reply");
    let text = export.text().await.expect("text");
    let report = audit::verify(text.as_bytes(), None, None).expect("a sound log");
    assert_eq!(report.entries, entries);
    assert_eq!(Some(*report.head.as_bytes()), head);
    let cut = &text[..text.trim_end().rfind('\n').expect("lines") + 1];
    assert!(audit::verify(cut.as_bytes(), None, None).is_err(), "without its end");
}
