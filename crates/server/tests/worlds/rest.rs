//! Worlds and agents as they can be looked at, who is let in, and other surfaces.

use reqwest::Method;
use serde_json::{Value, json};

use crate::prompts::STRATEGY;
use crate::stage::{Stage, choice, stage, text};

/// A request to our own API, by somebody with a token.
pub(crate) async fn native(
    stage: &Stage,
    who: &str,
    method: Method,
    path: &str,
    body: Value,
) -> Value {
    let token = stage.request(who, Method::GET, "/health").build().expect("a request");
    let url = format!("http://{}{path}", stage.address);
    let request = reqwest::Client::new().request(method, url).headers(token.headers().clone());
    let reply = request.body(body.to_string()).send().await.expect("a reply");
    assert_eq!(reply.status(), 200, "{path}");
    reply.json().await.expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_and_agents_are_shown_by_their_kebab_names() {
    let stage = stage().await;
    let worlds = stage.get("/worlds").await;
    assert_eq!(worlds[0]["id"], "my-world");
    assert_eq!((&worlds[0]["name"], &worlds[0]["agentCount"]), (&json!("My World"), &json!(2)));
    for name in ["my-world", "My%20World", "MY-world"] {
        assert_eq!(stage.get(&format!("/worlds/{name}")).await["mainAgent"], "a1", "{name}");
    }
    assert_eq!(stage.get("/worlds/my-world/agents").await.as_array().map(Vec::len), Some(2));
    assert_eq!(stage.get("/worlds/my-world/agents/A2").await["id"], "a2");
    assert_eq!(stage.get("/health").await["status"], "healthy");
    assert_eq!(stage.get("/mcp/servers").await["servers"], json!([]));
    for (path, code) in [
        ("/worlds/nowhere", "WORLD_NOT_FOUND"),
        ("/worlds/my-world/agents/nobody", "AGENT_NOT_FOUND"),
    ] {
        let reply = stage.ask("", Method::GET, path, Value::Null).await;
        assert_eq!(reply.code(), (404, code.into()));
    }
    let reply = stage.post("/worlds/my-world/setChat/chat-nowhere", json!({})).await;
    assert_eq!(reply.code(), (404, "CHAT_NOT_FOUND".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_the_configuration_is_read_only_and_says_where_to_change_it() {
    let stage = stage().await;
    let before = stage.state().await;
    for (method, path) in [
        (Method::POST, "/worlds"),
        (Method::PATCH, "/worlds/my-world"),
        (Method::DELETE, "/worlds/my-world"),
        (Method::POST, "/worlds/my-world/agents"),
        (Method::PATCH, "/worlds/my-world/agents/a1"),
        (Method::DELETE, "/worlds/my-world/agents/a1"),
        (Method::POST, "/mcp/servers/x/restart"),
    ] {
        let reply = stage.ask("", method.clone(), path, json!({"name": "x"})).await;
        assert_eq!(reply.code(), (403, "READ_ONLY".into()), "{method} {path}");
        assert!(text(&reply.body["error"]).contains("holdpoint.toml"), "{reply:?}");
    }
    assert_eq!(stage.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_shows_prompts_with_their_state_and_no_secrets() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let said = format!("{STRATEGY}\n---\ncall shell_cmd {{\"password\":\"hunter2\"}}");
    let dialog = stage.say(&chat, &said).await.dialog();
    let status = |memory: &Value, id: &str| -> Value {
        let messages = memory.as_array().expect("a list").iter();
        let found = messages.filter_map(|message| message["toolCallStatus"].get(id)).next();
        found.cloned().unwrap_or_else(|| panic!("{memory:#}"))
    };
    let memory = stage.get("/worlds/my-world/agents/a1").await["memory"].clone();
    assert_eq!(status(&memory, &dialog.id), json!({"complete": false}));
    let second = stage.submit(choice(&dialog, "Canary")).await.dialog();
    let memory = stage.get("/worlds/my-world/agents/a1").await["memory"].clone();
    let answered = status(&memory, &dialog.id);
    assert_eq!(
        (&answered["complete"], answered["result"]["timestamp"].is_string()),
        (&json!(true), true)
    );
    assert_eq!(answered["result"]["choice"], "Canary", "in words, and not by its id");
    assert_eq!(status(&memory, &second.id), json!({"complete": false}));
    let results: Vec<&Value> =
        memory.as_array().expect("a list").iter().filter(|it| it["role"] == "tool").collect();
    assert_eq!(
        (&results[0]["content"], &results[0]["tool_call_id"]),
        (&json!("Canary"), &json!("call_1_0"))
    );
    // What the person typed they typed; what the model made of it is shown without the secret.
    let calls: Vec<&Value> =
        memory.as_array().expect("a list").iter().filter(|it| it["role"] == "assistant").collect();
    assert!(!format!("{calls:?}").contains("hunter2"), "{calls:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_of_this_door_is_answered_on_another_surface_and_the_wire_hears_of_it() {
    let stage = stage().await;
    let chat = stage.chat().await;
    let dialog = stage.say(&chat, &format!("{STRATEGY}\n---\nSo be it.")).await.dialog();
    let hold = dialog.id.replace("hitl_", "hold_");
    let answer = json!({"answer": {"choose": ["Canary"]}});
    native(&stage, "bob", Method::POST, &format!("/v1/holds/{hold}/answer"), answer).await;
    // The same person saying the same over the wire re-attaches.
    let reply = stage.submit(choice(&dialog, "Canary")).await;
    assert_eq!(
        (reply.kinds()[0].as_str(), reply.said().as_str()),
        ("tool-result-submitted", "So be it.")
    );
    let other = stage.submit(choice(&dialog, "Blue-Green")).await;
    assert_eq!(other.code(), (409, "HOLD_ALREADY_DECIDED".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn i30_a_client_without_credentials_sees_nothing_but_this_door() {
    let stage = stage().await;
    let open = json!({"agent": "one"});
    let token = stage.request("bob", Method::GET, "/health").build().expect("a request");
    let base = format!("http://{}/v1/sessions", stage.address);
    let client = reqwest::Client::new();
    let send = |url: String, body: Value| {
        client.post(url).headers(token.headers().clone()).body(body.to_string()).send()
    };
    let session: Value =
        send(base.clone(), open).await.expect("a reply").json().await.expect("JSON");
    let id = text(&session["id"]);
    let said = json!({"text": r#"call shell_cmd {"command":"ls"}"#});
    send(format!("{base}/{id}/messages"), said).await.expect("a reply");
    let hold = loop {
        let shown =
            native(&stage, "bob", Method::GET, &format!("/v1/sessions/{id}"), Value::Null).await;
        if let Some(hold) = shown["pending"].get(0) {
            break text(&hold["id"]);
        }
    };
    let body = json!({
        "tool_call_id": hold.replace("hold_", "approval_"), "agentId": "a1", "decision": "approve",
        "toolName": "shell_cmd",
    });
    let before = stage.state().await;
    assert_eq!(stage.submit(body.clone()).await.code(), (404, "TOOL_CALL_NOT_FOUND".into()));
    assert_eq!((stage.state().await, stage.witness.ran().len()), (before, 0));
    // With a person's token, what was asked elsewhere can be answered here.
    let with_token = stage.ask("bob", Method::POST, "/worlds/my-world/tool-results", body).await;
    assert_eq!(with_token.code().0, 200);
    let decided = format!("/v1/holds/{hold}/wait?until=settled&timeout_s=30");
    native(&stage, "bob", Method::GET, &decided, Value::Null).await;
    assert_eq!(stage.witness.ran().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_let_in_without_credentials_and_who_is_not() {
    let stage = stage().await;
    let post = || reqwest::Client::new().post(stage.url("/worlds/my-world/chats")).body("{}");
    let json = ("content-type", "application/json");
    for (name, value) in [
        ("content-type", "text/plain"),
        ("origin", "http://evil.example"),
        ("host", "evil.example"),
        ("x-forwarded-for", "10.0.0.1"),
        ("authorization", "Bearer wrong"),
    ] {
        let request = post().header(name, value);
        let request = if name == "content-type" { request } else { request.header(json.0, json.1) };
        let reply = request.send().await.expect("a reply");
        let status = if name == "authorization" { 401 } else { 403 };
        assert_eq!(reply.status(), status, "{name}: {value}");
        assert!(reply.headers().get("access-control-allow-origin").is_none());
        let body: Value = reply.json().await.expect("JSON");
        let code = if status == 401 { "UNAUTHENTICATED" } else { "NOT_ENTITLED" };
        assert_eq!(body["code"], code, "{name}: {body}");
    }
    let known = post().header(json.0, json.1).header("origin", "http://localhost:5173");
    let reply = known.send().await.expect("a reply");
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.headers()["access-control-allow-origin"], "http://localhost:5173");
}

/// The page is built for the root of its own origin, and finds its way by the address.
#[tokio::test(flavor = "multi_thread")]
async fn a_clients_page_has_an_address_of_its_own() {
    let stage = stage().await;
    let get = async |path: &str| {
        let url = format!("http://{}{path}", stage.page);
        let reply = reqwest::get(url).await.expect("a reply");
        let kind = reply.headers().get("content-type").map(|kind| kind.to_str().expect("text"));
        let kind = kind.unwrap_or_default().to_owned();
        (reply.status().as_u16(), kind, reply.text().await.expect("a text"))
    };
    for address in ["/", "/index.html", "/World/my-world", "/World/My%20World/chat", "/settings"] {
        let (status, kind, page) = get(address).await;
        assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"), "{address}");
        assert!(page.contains("A page of worlds"), "{address}: {page}");
    }
    let (status, kind, script) = get("/assets/worlds.js").await;
    assert_eq!((status, kind.as_str()), (200, "text/javascript; charset=utf-8"), "{script}");
    for (address, status) in [
        ("/assets/other.js", 404),
        ("/api/nothing", 404),
        ("/api/worlds", 200),
        ("/v1/nothing.json", 404),
    ] {
        assert_eq!(get(address).await.0, status, "{address}");
    }
    // Nothing of ours is there, and nothing of it is on our own origin.
    assert!(get("/v1/sessions").await.2.contains("A page of worlds"));
    let ours = format!("http://{}/assets/worlds.js", stage.address);
    assert_eq!(reqwest::get(ours).await.expect("a reply").status(), 404);
    // What the page calls is there, from its own origin.
    let origin = format!("http://{}", stage.page);
    let request = reqwest::Client::new().post(format!("{origin}/api/worlds/my-world/chats"));
    let request = request.header("content-type", "application/json").header("origin", &origin);
    let opened = request.body("{}").send().await.expect("a reply");
    assert_eq!(opened.status(), 200);
}
