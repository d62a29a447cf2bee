//! What comes with Holdpoint, set up by a program: commands, MCP servers, channels, doors and an own store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdpoint::axum::{Json, Router, extract::State, routing::post};
use holdpoint::prelude::*;
use holdpoint::settings::webhook::{ChannelSettings, Secret};
use holdpoint::settings::{
    AiSdk, CommandConfig, DoorSetup, HttpConfig, McpConfig, McpEndpoint, NamedAgent, Ui, Wire,
};
use holdpoint::store::MemoryStore;
use holdpoint::{ChannelSetup, PersonId};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::world::{GRACE, one};

const SCRIPT: &str = r#"
    [[turn]]
    when = { says = "Repeat." }
    calls = [{ tool = "repeat", arguments = { word = "seven" } }]

    [[turn]]
    when = { says = "Note." }
    calls = [{ tool = "notes__note", arguments = {} }]

    [[turn]]
    when = { result_regex = '(?s).*' }
    text = "{result}"
"#;

fn script() -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::parse(SCRIPT).unwrap())
}

/// An MCP server with one tool, as a script for `sh`.
const NOTES: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) reply '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
  *'"tools/list"'*) reply '"result":{"tools":[{"name":"note","description":"Takes a note.","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*) reply '"result":{"content":[{"type":"text","text":"noted"}]}' ;;
  *) [ -z "$id" ] || reply '"error":{"code":-32601,"message":"no such method"}' ;;
  esac
done
"#;

fn words(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|&word| word.into()).collect()
}

fn repeat() -> Tool {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    Tool::command(CommandConfig::new("repeat", "Says it again.", schema, words(&["/bin/cat"])))
}

fn notes(folder: &Path) -> McpConfig {
    let script = folder.join("notes.sh");
    std::fs::write(&script, NOTES).unwrap();
    let reach = McpEndpoint::Program {
        argv: words(&["/bin/sh", script.to_str().unwrap()]),
        cwd: folder.to_owned(),
        environment: Default::default(),
        run_as: None,
    };
    McpConfig::new("notes", reach)
}

#[tokio::test]
async fn commands_and_mcp_servers_run_on_a_store_of_the_programs_own() {
    let folder = tempfile::tempdir().unwrap();
    let kept = MemoryStore::new(holdpoint::store::NodeId::new(0, 0));
    let store = kept.clone();
    let holdpoint = Holdpoint::builder()
        .data(folder.path())
        .store(move |node| Arc::new(store.again(node)))
        .person(Person::new("ana").admin())
        .mcp(notes(folder.path()))
        .agent(Agent::new("ops", script()).tool(repeat()).uses("notes__note"))
        .build()
        .await
        .unwrap();
    let ana = holdpoint.vouch("ana", "a test").unwrap();
    let session = holdpoint.open(&ana, "ops").await.unwrap();
    let hold = one(&session.ask("Repeat.").await.unwrap());
    holdpoint.answer(&ana, &hold, Answer::approve()).await.unwrap();
    let rest = session.wait().await.unwrap();
    assert!(rest.text().unwrap().contains("seven"), "{rest:?}");

    let hold = one(&session.ask("Note.").await.unwrap());
    holdpoint.answer(&ana, &hold, Answer::approve()).await.unwrap();
    let rest = session.wait().await.unwrap();
    assert!(rest.text().unwrap().contains("noted"), "{rest:?}");
    holdpoint.close(GRACE).await;
    assert!(folder.path().join("mcp").is_dir(), "what it said is pinned");
    assert!(!folder.path().join("holdpoint.db").exists(), "the store is the program's own");
}

#[tokio::test]
async fn parts_that_do_not_fit_are_refused_together() {
    let act_as = DoorSetup {
        act_as: Some(PersonId::new("ann")),
        origins: Vec::new(),
        wire: Wire::AiSdk(AiSdk {
            prefix: "/api".into(),
            agents: vec![NamedAgent { name: "ops".into(), agent: "opps".into() }],
            ui: Ui::default(),
        }),
    };
    let folder = tempfile::tempdir().unwrap();
    let fetch = HttpConfig::new(
        "notes__fetch",
        "Fetches.",
        json!({"type": "object", "properties": {}}),
        "https://example.com/",
    );
    let builder = Holdpoint::builder()
        .person(Person::new("ana").admin().account("slack", "U1"))
        .person(Person::new("bob").account("slack", "U1").account("email", " "))
        .mcp(notes(folder.path()))
        .tool(Tool::http(fetch))
        .agent(Agent::new("ops", VendorModel::anthropic("claude-sonnet-4-5")).uses("notes__note"))
        .agent(Agent::new("far", VendorModel::openai("gpt-5").base_url("nowhere")))
        .channel(ChannelSetup::new(hook("ai_sdk", "http://127.0.0.1:1")).agent("op"))
        .door(act_as);
    let Err(BuildError::Mistakes(mistakes)) = builder.build().await else { panic!("it was built") };
    assert_eq!(
        mistakes,
        [
            "commands, shell lines and MCP servers leave traces in a folder: name one with `data`",
            "the account of `bob` on `email` is empty",
            "`ana` and `bob` have the same account on `slack`",
            "`notes__fetch` would look like a tool of the MCP server `notes`; rename one",
            "agent `ops`: model `claude-sonnet-4-5`: it has no key; name the variable that holds it with `key_env`",
            "agent `far`: model `gpt-5`: its base URL is not one; write it like `https://models.example.com`",
            "channel `ai_sdk`: this is the name of a door; call the channel something else",
            "door `ai_sdk`: there is no agent `opps`; did you mean `ops`?",
            "door `ai_sdk`: there is no person `ann`; did you mean `ana`?",
            "door `ai_sdk`: the tools `notes__fetch` and `notes` could call it and approve their own calls as `ann`; \
             take `act_as` out, and let clients send a token",
        ]
    );
}

fn hook(name: &str, url: &str) -> ChannelSettings {
    ChannelSettings {
        name: name.into(),
        url: url.into(),
        secret: Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap(),
        inbound_secret: None,
        speaks_for: ["ana-1".to_owned()].into(),
        allow_private_addresses: true,
    }
}

async fn told(State(heard): State<mpsc::UnboundedSender<Value>>, Json(body): Json<Value>) {
    let _ = heard.send(body);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test ends what it starts")]
async fn a_channel_asks_and_a_door_is_open() {
    let (tell, mut heard) = mpsc::unbounded_channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/holds", listener.local_addr().unwrap());
    let routes = Router::new().route("/holds", post(told)).with_state(tell);
    let receiving = tokio::spawn(async { holdpoint::axum::serve(listener, routes).await });

    let agents = vec![NamedAgent { name: "ops".into(), agent: "ops".into() }];
    let wire = Wire::AiSdk(AiSdk { prefix: "/api".into(), agents, ui: Ui::default() });
    let holdpoint = Holdpoint::builder()
        .person(Person::new("ana").admin().account("webhook", "ana-1"))
        .agent(Agent::new("ops", script()).tool(Tool::human()))
        .channel(ChannelSetup::new(hook("audit", &url)).ask("all"))
        .door(DoorSetup { act_as: None, origins: Vec::new(), wire })
        .build()
        .await
        .unwrap();
    let serving = holdpoint.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let origin = serving.url().to_owned();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(serving.run(async { drop(stopped.await) }));

    let job = holdpoint.program("nightly").await.unwrap();
    let hold = holdpoint.ask(&job, Ask::approve("Deploy?")).await.unwrap();
    let body = tokio::time::timeout(Duration::from_secs(30), heard.recv()).await.unwrap().unwrap();
    assert!(body.to_string().contains(&hold.id.to_string()), "{body}");

    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let reply = client.post(format!("{origin}/api/chat")).json(&json!({})).send().await.unwrap();
    assert_eq!(reply.status(), 401, "the door is open, and wants a token");
    let reply = client.post(format!("{origin}/other/chat")).json(&json!({})).send().await.unwrap();
    assert_eq!(reply.status(), 404);
    let _ = stop.send(());
    serving.await.unwrap();
    holdpoint.close(GRACE).await;
    receiving.abort();
}
