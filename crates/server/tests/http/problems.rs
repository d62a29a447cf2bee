//! Every code of the contract, and what hostile requests get.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::world::{World, read, text, world};

async fn sent(world: &World, who: &str, path: &str, body: &str) -> (u16, Value) {
    let request = world.request(who, Method::POST, path).header("content-type", "application/json");
    read(request.body(body.to_owned()).send().await.expect("a reply")).await
}

fn check(reply: &(u16, Value), status: u16, code: &str) {
    let (got, problem) = reply;
    assert_eq!((*got, problem["code"].as_str()), (status, Some(code)), "{problem}");
    assert_eq!(problem["status"], status);
    for field in ["type", "title", "detail"] {
        assert!(
            problem[field].as_str().is_some_and(|text| !text.is_empty()),
            "{field} in {problem}"
        );
    }
}

#[tokio::test]
async fn bodies_that_make_no_sense_are_refused() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let messages = format!("/v1/sessions/{session}/messages");
    let answer = format!("/v1/holds/{}/answer", text(&hold, "id"));
    let before = world.state().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (path, body) in [
        ("/v1/sessions", "{"),
        ("/v1/sessions", ""),
        ("/v1/sessions", "[]"),
        ("/v1/sessions", "null"),
        ("/v1/sessions", "\"ops\""),
        ("/v1/sessions", "{\"agent\":7}"),
        ("/v1/sessions", "{\"agent\":\"ops\"} trailing"),
        ("/v1/sessions", "{\"agent\":\"ops\",\"agent\":\"ops\"}"),
        ("/v1/sessions", "{'agent':'ops'}"),
        ("/v1/sessions", deep.as_str()),
        (messages.as_str(), "{}"),
        (messages.as_str(), "{\"text\":1}"),
        (messages.as_str(), "{\"text\":\"a\",\"parts\":[]}"),
        (answer.as_str(), "{}"),
        (answer.as_str(), "{\"digest\":7,\"answer\":{}}"),
        (answer.as_str(), "{\"answer\":{},\"call\":{}}"),
        ("/v1/holds", "{\"kind\":\"approve\"}"),
        ("/v1/holds", "{\"kind\":\"approve\",\"title\":\"x\",\"audiance\":{}}"),
        ("/v1/holds", "{\"kind\":\"approve\",\"title\":\"x\",\"call\":{\"tool\":\"x\"}}"),
    ] {
        check(&sent(&world, "bob", path, body).await, 400, "bad_request");
    }
    let bytes = world.request("bob", Method::POST, "/v1/sessions").body(vec![b'{', 0xff, b'}']);
    check(&read(bytes.send().await.expect("a reply")).await, 400, "bad_request");
    assert_eq!(world.state().await, before);
}

#[tokio::test]
async fn what_does_not_fit_names_its_field() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let hold_path = format!("/v1/holds/{}/answer", text(&hold, "id"));
    let before = world.state().await;
    let approve = |more: Value| {
        let mut answer = json!({"verdict": "approve"});
        answer
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        json!({"digest": hold["digest"], "answer": answer})
    };
    let ask = |more: Value| {
        let mut body = json!({"kind": "choose", "title": "x"});
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        body
    };
    for (path, body, field) in [
        ("/v1/sessions", json!({"agent": "nobody"}), "agent"),
        ("/v1/sessions", json!({"agent": "ops", "title": "x".repeat(501)}), "title"),
        (&format!("/v1/sessions/{session}/messages"), json!({"text": "  "}), "text"),
        (
            &format!("/v1/sessions/{session}/messages"),
            json!({"text": "x", "while_pending": "x"}),
            "while_pending",
        ),
        (
            &format!("/v1/sessions/{session}/messages"),
            json!({"parts": [{"type": "tool-result"}]}),
            "parts",
        ),
        (&hold_path, approve(json!({"scope": "always"})), "scope"),
        (&hold_path, approve(json!({"arguments": [1]})), "arguments"),
        (&hold_path, approve(json!({"call": {"tool": "look"}})), "call"),
        (&hold_path, json!({"digest": hold["digest"], "answer": {"choose": ["1"]}}), "answer"),
        (&hold_path, json!({"digest": hold["digest"], "answer": {}}), "answer"),
        (&hold_path, json!({"answer": {"verdict": "approve"}}), "digest"),
        ("/v1/holds", ask(json!({})), "options"),
        ("/v1/holds", ask(json!({"options": ["a", "a"]})), "options"),
        ("/v1/holds", ask(json!({"options": ["a"], "schema": {}})), "schema"),
        ("/v1/holds", ask(json!({"kind": "perform"})), "kind"),
        ("/v1/holds", ask(json!({"kind": "fill", "schema": {"type": 7}})), "schema"),
        ("/v1/holds", ask(json!({"options": ["a"], "risk": "huge"})), "risk"),
        (
            "/v1/holds",
            ask(json!({"options": ["a"], "audience": {"people": ["nobody"]}})),
            "audience",
        ),
        (
            "/v1/holds",
            ask(json!({"options": ["a"], "callback": {"url": "x", "secret_env": "y"}})),
            "callback",
        ),
    ] {
        let reply = world.post("bob", path, body.clone()).await;
        check(&reply, 422, "answer_invalid");
        assert_eq!(reply.1["field"], field, "{body}");
    }
    assert_eq!((world.state().await, world.wiped()), (before, 0));
}

#[tokio::test]
async fn each_code_has_its_case() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let id = text(&hold, "id");
    let path = format!("/v1/holds/{id}/answer");
    check(&world.get("", "/v1/me").await, 401, "unauthenticated");
    check(&world.answer("eve", &hold, json!({"verdict": "approve"})).await, 404, "not_found");
    check(
        &world.post("bob", "/v1/tokens", json!({"program": "x", "scopes": ["ask"]})).await,
        403,
        "not_entitled",
    );
    let other =
        json!({"digest": format!("sha256:{}", "0".repeat(64)), "answer": {"verdict": "approve"}});
    check(&world.post("bob", &path, other).await, 409, "version_conflict");
    let no_digest = json!({"digest": "whatever", "answer": {"verdict": "approve"}});
    check(&world.post("bob", &path, no_digest).await, 409, "version_conflict");
    let refuse = json!({"text": "x", "while_pending": "refuse"});
    let reply = world.post("bob", &format!("/v1/sessions/{session}/messages"), refuse).await;
    check(&reply, 409, "holds_open");
    assert_eq!(reply.1["holds"], json!([id]));
    check(&world.get("bob", "/v1/nothing").await, 404, "not_found");
    check(&world.get("bob", "/nothing").await, 404, "not_found");
    check(&world.delete("bob", "/v1/me").await, 405, "bad_request");
    check(&world.post("bob", "/healthz", json!({})).await, 405, "bad_request");

    let brief = json!({"kind": "choose", "title": "x", "options": ["a"], "expires_in_s": 1});
    let brief = world.open_hold("gate", brief).await;
    let (status, expired) =
        world.get("gate", &format!("/v1/holds/{}/wait?timeout_s=10", text(&brief, "id"))).await;
    assert_eq!((status, &expired["state"]), (200, &json!("expired")));
    let late = world.answer("bob", &brief, json!({"choose": ["a"]})).await;
    check(&late, 410, "hold_expired");
    assert_eq!(late.1["hold"]["state"], "expired");

    check(&world.post("bob", "/v1/freeze", json!({"reason": "x"})).await, 403, "not_entitled");
    assert_eq!(world.post("ana", "/v1/freeze", json!({"reason": "it loops"})).await.0, 200);
    let (_, freeze) = world.get("bob", "/v1/freeze").await;
    assert_eq!(freeze, json!({"frozen": true, "by": "ana", "reason": "it loops"}));
    let reply =
        world.post("bob", &format!("/v1/sessions/{session}/messages"), json!({"text": "x"})).await;
    check(&reply, 423, "frozen");
    check(
        &world
            .post("gate", "/v1/holds", json!({"kind": "choose", "title": "x", "options": ["a"]}))
            .await,
        423,
        "frozen",
    );
    assert_eq!(
        world.answer("bob", &hold, json!({"verdict": "approve"})).await.0,
        200,
        "answers are taken"
    );
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(world.wiped(), 0, "and approved calls wait");
    assert_eq!(world.delete("ana", "/v1/freeze").await.1["frozen"], false);
    world.until_over("bob", &session).await;
    assert_eq!(world.wiped(), 1);
}

#[tokio::test]
async fn a_program_never_answers() {
    let world = world().await;
    let body = json!({"kind": "approve", "title": "x", "call": {"tool": "wipe", "arguments": {}}});
    let hold = world.open_hold("gate", body).await;
    check(&world.answer("gate", &hold, json!({"verdict": "approve"})).await, 403, "not_entitled");
    check(&world.answer("gate", &hold, json!({"verdict": "nonsense"})).await, 403, "not_entitled");
    check(&world.answer("bot", &hold, json!({"verdict": "approve"})).await, 404, "not_found");
    check(
        &world.post("gate", &format!("/v1/holds/{}/claim", text(&hold, "id")), json!({})).await,
        403,
        "not_entitled",
    );
    let (status, _) = world
        .post(
            "gate",
            &format!("/v1/holds/{}/cancel", text(&hold, "id")),
            json!({"reason": "no need"}),
        )
        .await;
    assert_eq!(status, 200, "its opener withdraws it");
}

#[tokio::test]
async fn hostile_paths_find_nothing() {
    let world = world().await;
    for path in [
        "/v1/holds/hold_x",
        "/v1/holds/%2e%2e%2fme",
        "/v1/holds/%ff%fe",
        "/v1/holds/hold_00000000000000000000000000",
        "/v1/holds/ses_00000000000000000000000000",
        "/v1/holds/HOLD_00000000000000000000000000",
        "/v1/holds/%00",
        "//v1/me",
        "/v1//me",
        "/v1/me/",
        "/V1/me",
        "/assets/../index.html",
        "/assets/%2e%2e/index.html",
        "/assets/",
        "/index.html.bak",
        "/.git/config",
        "/v1/holds/a/b/c",
    ] {
        // By hand: a client would tidy the path up.
        let mut stream = tokio::net::TcpStream::connect(world.address).await.expect("a connection");
        let token = world.token("ana");
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.expect("a reply");
        assert!(reply.starts_with("HTTP/1.1 404"), "{path}: {reply}");
        assert!(reply.contains("application/problem+json"), "{path}: {reply}");
    }
}

#[tokio::test]
async fn every_reply_says_how_it_may_be_used() {
    let world = world().await;
    for path in ["/healthz", "/v1/me", "/nothing", "/openapi.json", "/"] {
        let reply = world.request("ana", Method::GET, path).send().await.expect("a reply");
        assert_eq!(reply.headers()["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(reply.headers()["cache-control"], "no-store", "{path}");
    }
    let page = world.request("", Method::GET, "/holds/hold_x").send().await.expect("a reply");
    assert_eq!(page.status(), 200);
    assert_eq!(
        page.headers()["content-security-policy"],
        "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    );
    assert_eq!(page.headers()["x-frame-options"], "DENY");
    assert_eq!(page.headers()["referrer-policy"], "same-origin");
}

#[tokio::test]
async fn health_metrics_and_the_api_describe_themselves() {
    let world = world().await;
    assert_eq!(world.get("", "/healthz").await.0, 200);
    assert_eq!(world.get("", "/readyz").await.0, 200);
    let (_, document) = world.get("", "/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/v1/holds/{id}/answer"]["post"]["requestBody"].is_object());
    let (session, hold) = world.held("bob", "call wipe {}").await;
    world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    world.until_over("bob", &session).await;
    let reply = world.request("", Method::GET, "/metrics").send().await.expect("a reply");
    let said = &document["paths"]["/metrics"]["get"]["responses"]["200"]["content"];
    let kind = reply.headers()["content-type"].to_str().expect("text").split(';').next();
    assert!(said[kind.unwrap_or_default()].is_object(), "{kind:?} in {said}");
    let text = reply.text().await.expect("text");
    for line in [
        "holdpoint_holds_opened_total{kind=\"approve\"} 1",
        "holdpoint_holds_decided_total{outcome=\"approved\"} 1",
        "holdpoint_calls_total{event=\"started\"} 1",
        "holdpoint_http_requests_total{method=\"POST\",route=\"/v1/holds/{id}/answer\",status=\"200\"} 1",
        "holdpoint_decision_seconds_count 1",
        "holdpoint_event_streams 0",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("hold_") && !text.contains("ses_") && !text.contains("hp_"), "{text}");
}
