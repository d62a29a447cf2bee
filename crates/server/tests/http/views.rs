//! Views of the inbox under names of a person's own.

use serde_json::{Value, json};

use crate::world::{World, list, text, world};

async fn names(world: &World, who: &str) -> Vec<String> {
    let (_, kept) = world.get(who, "/v1/me/views").await;
    list(&kept, "items").iter().map(|one| text(one, "name")).collect()
}

async fn save(world: &World, who: &str, body: Value) -> (u16, Value) {
    world.post(who, "/v1/me/views", body).await
}

#[tokio::test]
async fn views_are_a_persons_own_and_have_their_names() {
    let world = world().await;
    let before = world.state().await;
    for (name, query) in [("night", "?risk=high"), (" mine ", "?for=me"), ("夜班", "?q=%E5%88%A0")]
    {
        let (status, kept) = save(&world, "dan", json!({"name": name, "query": query})).await;
        assert_eq!((status, &kept["name"]), (200, &json!(name.trim())), "{kept}");
    }
    assert_eq!(names(&world, "dan").await, ["mine", "night", "夜班"]);
    assert_eq!(names(&world, "bob").await, Vec::<String>::new());
    let renamed = json!({"name": "shift", "query": "?risk=high", "was": "night"});
    assert_eq!(save(&world, "dan", renamed).await.0, 200);
    assert_eq!(names(&world, "dan").await, ["mine", "shift", "夜班"]);
    assert_eq!(world.delete("bob", "/v1/me/views?name=shift").await.0, 204, "he has none");
    assert_eq!(names(&world, "dan").await.len(), 3);
    for _ in 0..2 {
        assert_eq!(world.delete("dan", "/v1/me/views?name=shift").await.0, 204);
    }
    assert_eq!(names(&world, "dan").await, ["mine", "夜班"]);
    assert_eq!(world.state().await, before, "no hold and no log knows of it");
}

#[tokio::test]
async fn what_is_no_view_or_one_too_many_is_refused() {
    let world = world().await;
    let long = "x".repeat(61);
    let far = format!("?q={}", "x".repeat(500));
    for (name, query, field) in [
        ("", "?for=me", "name"),
        (&*long, "?for=me", "name"),
        ("a\u{202e}b", "?for=me", "name"),
        ("a\nb", "?for=me", "name"),
        ("x", "", "query"),
        ("x", "https://evil.example/", "query"),
        ("x", "?a b", "query"),
        ("x", "?a#b", "query"),
        ("x", &*far, "query"),
    ] {
        let (status, told) = save(&world, "dan", json!({"name": name, "query": query})).await;
        assert_eq!((status, &told["field"]), (422, &json!(field)), "{name} {query}: {told}");
    }
    for n in 0..20 {
        let kept = json!({"name": format!("{n}"), "query": "?for=me"});
        assert_eq!(save(&world, "dan", kept).await.0, 200);
    }
    assert_eq!(save(&world, "dan", json!({"name": "more", "query": "?for=me"})).await.0, 429);
    let (status, _) = save(&world, "dan", json!({"name": "19", "query": "?for=you"})).await;
    assert_eq!(status, 200, "one of the same name takes its place");
    for who in ["gate", "bot"] {
        assert_eq!(world.get(who, "/v1/me/views").await.0, 403, "{who}");
    }
}
