//! The client against servers that are honest, broken or hostile.

mod hostile;
mod pinned;
mod questions;
mod world;

use domain::outcome::Outcome;
use serde_json::json;

use crate::cleared::clear_call;
use crate::conformance::{ConformanceCase, check_host};
use world::{World, succeeded};

#[tokio::test]
async fn both_eras_and_both_wires_carry_a_call() {
    for habits in [&[][..], &["modern"], &["http"], &["modern", "http"], &["banner", "pages"]] {
        let world = World::start(habits).await;
        let host = world.host("note");
        assert_eq!(host.tool().description, "Does note.", "{habits:?}");
        // Spread over lines, as a model may write it.
        let outcome = world.run_text("note", "{\n  \"a\": 1.50\n}").await;
        assert_eq!(succeeded(outcome), "noted", "{habits:?}");
        assert_eq!(world.notes(), ["note {\"a\": 1.5}"], "{habits:?}");
        assert_eq!(world.server.boxed_len(), 16, "{habits:?}");
        world.close().await;
    }
}

#[tokio::test]
async fn it_is_a_tool_host_like_any_other() {
    for habits in [&[][..], &["modern"]] {
        let world = World::start(habits).await;
        let host = world.host("work");
        let effects =
            || world.notes().iter().filter(|note| note.starts_with("work")).count() as u64;
        check_host(ConformanceCase {
            host: &*host,
            works: json!({}),
            effects: &effects,
            effects_each: 1,
            unsound: None,
            endless: Some(json!({"endless": true})),
            noisy: Some(json!({"noisy": true})),
            clear: &clear_call,
        })
        .await;
        world.close().await;
    }
}

#[tokio::test]
async fn what_a_server_calls_an_error_is_one() {
    let world = World::start(&[]).await;
    match world.run("error", json!({})).await {
        Outcome::Failed(output) => assert_eq!(output.text, "it did not work"),
        other => panic!("{other:?}"),
    }
    let missing = world.run("lie", json!({})).await;
    assert!(succeeded(missing).contains("seven"));
    world.close().await;
}

#[tokio::test]
async fn a_server_sees_only_what_it_is_given_and_its_words_are_no_secret_of_ours() {
    let world = World::start(&["complains"]).await;
    let seen = succeeded(world.run("env", json!({})).await);
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen["STUB_KEY"], "stub-key-value");
    // Whoever runs this test has these, and the server has not.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME"] {
        assert!(std::env::var_os(name).is_some() && seen[name].is_null(), "{name}");
    }
    assert_eq!(
        crate::mcp::stdio::without_secrets("the key is stub-key-value", &["stub-key-value".into()]),
        "the key is [hidden]"
    );
    world.close().await;
}

#[tokio::test]
async fn only_what_is_let_through_is_offered_and_effects_are_the_operators() {
    let world = World::with(&[], |config| {
        config.only = Some(vec!["note".into(), "env".into()]);
        config.effects_of.insert("env".into(), domain::tool::Effects::ReadOnly);
    })
    .await;
    world.show(json!([
        {"name": "note", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
        {"name": "env", "inputSchema": {"type": "object"}},
        {"name": "die", "inputSchema": {"type": "object"}},
    ]));
    assert_eq!(world.offered(), ["mcp__note", "mcp__env"]);
    assert_eq!(world.host("note").tool().effects, domain::tool::Effects::AtMostOnce);
    assert_eq!(world.host("env").tool().effects, domain::tool::Effects::ReadOnly);
    world.close().await;
}
