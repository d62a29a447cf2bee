//! Servers that die, hang, lie, babble and flood.

use std::time::Duration;

use domain::outcome::Outcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{World, failed, is_alive, run, succeeded, unknown, until};
use crate::limits::OUTPUT_BYTES_KEPT;

#[tokio::test]
async fn i16_a_server_that_dies_in_a_call_leaves_it_in_doubt_and_comes_back() {
    for habits in [&[][..], &["modern"], &["http"]] {
        let world = World::start(habits).await;
        let evidence = unknown(world.run("die", json!({})).await);
        assert!(evidence.contains("may have been carried out"), "{evidence}");
        assert_eq!(world.notes().len(), 1, "once, and never again by itself");
        assert_eq!(succeeded(world.run("note", json!({})).await), "noted", "{habits:?}");
        world.close().await;
    }
}

#[tokio::test]
async fn a_call_that_only_reads_may_simply_be_made_again() {
    let read_only = domain::tool::Effects::ReadOnly;
    let world = World::with(&[], |config| config.effects = read_only).await;
    let told = failed(world.run("die", json!({})).await);
    assert!(told.contains("may be called again"), "{told}");
    world.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_cancelled_and_then_ended() {
    let world = World::with(&[], |config| config.time_limit = Duration::from_millis(500)).await;
    let evidence = unknown(world.run("hang", json!({})).await);
    assert!(evidence.contains("longer than 500ms"), "{evidence}");
    assert!(evidence.contains("was ended"), "{evidence}");
    let notes = world.notes();
    assert!(notes.contains(&"cancelled".to_owned()), "{notes:?}");
    assert_eq!(succeeded(world.run("note", json!({})).await), "noted");
    world.close().await;
}

#[tokio::test]
async fn stopping_a_call_ends_it_and_leaves_others_alone() {
    let world = World::start(&[]).await;
    let stop = CancellationToken::new();
    let (slow, hang) = (world.host("slow"), world.host("hang"));
    let others = run(&slow, "{\"seconds\": 3}", None, CancellationToken::new());
    let stopped = async {
        let hanging = run(&hang, "{}", None, stop.clone());
        let then = async {
            until(|| (world.notes().len() == 2).then_some(())).await;
            stop.cancel();
        };
        tokio::join!(hanging, then).0
    };
    let (other, stopped) = tokio::join!(others, stopped);
    assert_eq!(succeeded(other), "noted");
    assert!(unknown(stopped).contains("was asked to cancel"));
    world.close().await;
}

#[tokio::test]
async fn garbage_is_forgiven_a_little_and_then_not() {
    let world = World::start(&[]).await;
    assert_eq!(succeeded(world.run("garbage", json!({"lines": 20})).await), "noted");
    let evidence = unknown(world.run("garbage", json!({"lines": 200})).await);
    assert!(evidence.contains("no protocol"), "{evidence}");
    assert_eq!(succeeded(world.run("note", json!({})).await), "noted");
    world.close().await;

    let world = World::start(&["babbles"]).await;
    assert_eq!(world.server.boxed_len(), 0);
    world.close().await;
}

#[tokio::test]
async fn i41_too_much_is_cut_or_cut_off() {
    for habits in [&[][..], &["http"]] {
        let world = World::start(habits).await;
        match world.run("flood", json!({})).await {
            Outcome::Succeeded(output) => {
                assert!(output.text.len() <= OUTPUT_BYTES_KEPT);
                assert_eq!(output.cut.unwrap().total_bytes, 1_000_000);
            }
            other => panic!("{other:?}"),
        }
        let evidence = unknown(world.run("huge", json!({})).await);
        assert!(evidence.contains("more than"), "{evidence}");
        assert_eq!(succeeded(world.run("note", json!({})).await), "noted");
        world.close().await;
    }
    for habit in ["endless", "circle", "crowd"] {
        let world = World::start(&[habit]).await;
        assert_eq!(world.server.boxed_len(), 0, "{habit}");
        world.close().await;
    }
}

#[tokio::test]
async fn a_lie_about_the_own_schema_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tools = json!([
        {"name": "lie", "inputSchema": {"type": "object"}, "outputSchema": schema},
        {"name": "bad", "inputSchema": {"type": "object", "$ref": "https://x.example/s"}},
        {"name": "no object", "inputSchema": {"type": "object"}},
        {"name": "list", "inputSchema": {"type": "array"}},
    ]);
    std::fs::write(folder.path().join("tools.json"), tools.to_string()).unwrap();
    let world = World::within(folder, &[], |_| {}).await;
    assert_eq!(world.offered(), ["mcp__lie"], "what has no sound schema is not offered");
    let told = succeeded(world.run("lie", json!({})).await);
    assert!(told.contains("does not fit the tool's own schema"), "{told}");
    world.close().await;
}

#[tokio::test]
async fn i21_nothing_of_a_server_is_left_when_it_is_let_go_of() {
    let world = World::start(&[]).await;
    let child = succeeded(world.run("fork", json!({})).await);
    assert!(is_alive(&child), "a child in a session of its own");
    world.close().await;
    until(|| (!is_alive(&child)).then_some(())).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_of_and_nothing_waits_for_ever() {
    let folder = World::start(&[]).await.close().await;
    let world = World::within(folder, &[], |config| {
        config.reach = crate::mcp::McpEndpoint::Service {
            url: "http://127.0.0.1:9/mcp".into(),
            headers: Vec::new(),
        };
    })
    .await;
    assert_eq!(world.server.boxed_len(), 16, "what was pinned is known");
    let told = failed(world.run("note", json!({})).await);
    assert!(told.starts_with("Nothing was run: the MCP server `mcp` is not there: "), "{told}");
    world.close().await;
}

#[test]
fn i45_the_values_of_headers_are_not_printed() {
    let headers = vec![("Authorization".to_owned(), "Bearer stub-secret".to_owned())];
    let reach = crate::mcp::McpEndpoint::Service { url: "https://x.example/mcp".into(), headers };
    let printed = format!("{:?}", crate::mcp::McpConfig::new("mcp", reach.clone()));
    assert!(printed.contains("x.example") && !printed.contains("stub-secret"), "{printed}");
    assert!(
        !reach.tool_origin().contains("stub-secret") && !reach.describe().contains("stub-secret")
    );
}

#[tokio::test]
async fn redirects_are_not_followed_and_keys_are_asked_for() {
    // There would be a server where it sends us.
    let world = World::start(&["http", "redirects"]).await;
    assert_eq!(world.server.boxed_len(), 0);
    world.close().await;
    let world = World::start(&["http", "locked"]).await;
    assert_eq!(succeeded(world.run("note", json!({})).await), "noted");
    world.close().await;
}
