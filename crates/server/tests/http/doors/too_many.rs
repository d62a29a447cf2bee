//! A caller for whom no event stream is left hears "too many" before anything is stored: they may say it again.

use holdpoint_server::{
    AgentType, DoorSetup, Format, FrontendTools, HttpLimits, NamedAgent, Wire, World as OneWorld,
    Worlds,
};
use serde_json::{Value, json};

use super::{ai_sdk, user};
use crate::world::{Plan, World, list, planned};

async fn full(door: DoorSetup) -> World {
    let limits = HttpLimits { streams_per_caller: 0, ..HttpLimits::default() };
    planned(Plan { doors: vec![door], limits, ..Plan::default() }).await
}

async fn refused(door: DoorSetup, path: &str, body: Value) {
    let world = full(door).await;
    let (status, told) = world.post("bob", path, body).await;
    assert_eq!(status, 429, "{path}: {told}");
    let (_, sessions) = world.get("bob", "/v1/sessions").await;
    for session in list(&sessions, "items") {
        assert!(session["run"].is_null(), "{path}: nothing was said: {session}");
    }
    let (_, holds) = world.get("ana", "/v1/holds").await;
    assert!(list(&holds, "items").is_empty(), "{path}: {holds}");
}

fn door(wire: Wire) -> DoorSetup {
    DoorSetup { act_as: None, origins: Vec::new(), wire }
}

#[tokio::test]
async fn i41_who_has_no_place_for_a_stream_has_said_nothing() {
    refused(ai_sdk(None), "/api/chat?ui=6", user("c1", "m1", "call wipe {}")).await;
    let clerk = NamedAgent { name: "clerk".into(), agent: "ops".into() };
    let home = OneWorld { name: "home".into(), agents: vec![clerk] };
    let worlds = Wire::Worlds(Worlds { worlds: vec![home], files: None });
    let said = json!({"message": "call wipe {}", "sender": "human", "stream": true});
    refused(door(worlds), "/api/worlds/home/messages", said).await;
    let agent = AgentType {
        name: "default".into(),
        agent: "ops".into(),
        format: Format::Json,
        history: false,
    };
    let tools = FrontendTools { agents: vec![agent], bridge_approvals: false };
    let said = json!({"user_prompt": "call wipe {}"});
    refused(door(Wire::FrontendTools(tools)), "/agent/run", said).await;
}
