//! How things stand, as Prometheus sees it.

use std::time::Duration;

use serde_json::json;

use crate::world::{World, world};

/// Scrapes until a line is there.
async fn says(world: &World, line: &str) -> String {
    let mut text = String::new();
    for _ in 0..2_000 {
        let reply = world.client.get(world.url("/metrics")).send().await.expect("a reply");
        text = reply.text().await.expect("text");
        if text.lines().any(|found| found == line) {
            return text;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never said {line}: {text}");
}

fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {text}")).parse().expect("a number")
}

#[tokio::test]
async fn metrics_say_what_waits_for_how_long_and_whether_all_is_frozen() {
    let world = world().await;
    let before = says(&world, "holdpoint_holds_pending{risk=\"high\"} 0").await;
    assert!(value(&before, "holdpoint_holds_oldest_pending_age_seconds") == 0.0);
    assert_eq!(value(&before, "holdpoint_frozen"), 0.0);
    assert_eq!(value(&before, "holdpoint_deliveries_pending"), 0.0);
    for kind in ["callback", "prompt", "repaint", "text"] {
        assert_eq!(value(&before, &format!("holdpoint_outbox_pending{{kind=\"{kind}\"}}")), 0.0);
    }
    let version = format!("holdpoint_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&before, &version), 1.0);

    let body = json!({"kind": "choose", "title": "Which?", "options": ["a", "b"], "risk": "high"});
    let hold = world.open_hold("gate", body).await;
    let waits = says(&world, "holdpoint_holds_pending{risk=\"high\"} 1").await;
    assert!(value(&waits, "holdpoint_holds_oldest_pending_age_seconds") >= 0.0);
    let (status, _) = world.post("ana", "/v1/freeze", json!({"reason": "smoke"})).await;
    assert_eq!(status, 200);
    says(&world, "holdpoint_frozen 1").await;
    let path = format!("/v1/holds/{}/cancel", hold["id"].as_str().expect("an id"));
    assert_eq!(world.post("ana", &path, json!({})).await.0, 200);
    says(&world, "holdpoint_holds_pending{risk=\"high\"} 0").await;
}
