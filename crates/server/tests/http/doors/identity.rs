//! Who comes through a door, and from where.

use holdpoint_server::BindError;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::json;

use super::{FRONT_END, Read, ai_sdk, answered, assistant, opened, user};
use crate::world::{World, text, world};

fn without_credentials(world: &World) -> RequestBuilder {
    world.request("", Method::POST, "/api/chat").json(&user("c1", "m1", "call wipe {}"))
}

#[tokio::test]
async fn a_door_that_is_not_open_is_not_there() {
    let world = world().await;
    let (status, _) = world.post("bob", "/api/chat", user("c1", "m1", "hello")).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn i33_nobody_gets_in_without_a_name() {
    let world = opened(None).await;
    let before = world.state().await;
    let refused = Read::of(without_credentials(&world).send().await.expect("a reply")).await;
    assert_eq!(refused.status, 401);
    assert!(refused.text.starts_with("{\"detail\":\"send the header"), "{}", refused.text);
    for path in ["/api/chat/c1/stream", "/api/v1/chat/p/stream"] {
        assert_eq!(world.get("", path).await.0, 401);
    }
    let v1 = world.post("", "/api/v1/chat", json!({})).await;
    assert_eq!((v1.0, &v1.1["success"]), (401, &json!(false)));
    assert_eq!(world.state().await, before);
}

#[tokio::test]
async fn tokens_come_by_either_header() {
    let world = opened(None).await;
    let body = json!({"projectId": "p", "message": {"role": "user", "parts": [{"type": "text", "text": "hi"}]}});
    let request = world.request("", Method::POST, "/api/v1/chat").json(&body);
    let reply = request.header("x-chat-token", world.token("bob")).send().await.expect("a reply");
    assert_eq!(Read::of(reply).await.words(), "hi");
    let request = world.request("", Method::POST, "/api/v1/chat").json(&body);
    let reply = request.header("x-chat-token", "hp_person_wrong").send().await.expect("a reply");
    assert_eq!(reply.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn i33_a_login_counts_with_the_value_that_only_our_page_knows() {
    let world = opened(None).await;
    let (cookie, csrf) = world.log_in("bob").await;
    let request = || without_credentials(&world).header("cookie", &cookie);
    assert_eq!(request().send().await.expect("a reply").status(), 403);
    let request = request().header("x-holdpoint-csrf", &csrf);
    let asked = Read::of(request.send().await.expect("a reply")).await;
    assert!(asked.has("tool-approval-request"), "{}", asked.text);
}

#[tokio::test]
async fn a_door_acts_for_its_person_and_says_so() {
    let world = opened(Some("bob")).await;
    let asked = Read::of(without_credentials(&world).send().await.expect("a reply")).await;
    let request = world.request("", Method::POST, "/api/chat");
    let body = assistant("c1", json!([answered(&asked, true)]));
    let reply = Read::of(request.json(&body).send().await.expect("a reply")).await;
    assert_eq!(reply.one("tool-output-available")["output"], "wiped 1");
    let hold = text(asked.one("tool-approval-request"), "approvalId");
    let (_, hold) = world.get("ana", &format!("/v1/holds/{hold}")).await;
    assert_eq!(
        (&hold["decision"]["by"], &hold["decision"]["via"]),
        (&json!("bob"), &json!("ai_sdk"))
    );
}

#[tokio::test]
async fn i33_whoever_else_could_make_this_machine_send_something_is_refused() {
    let world = opened(Some("bob")).await;
    let before = world.state().await;
    for (what, request) in [
        (
            "another name for this machine",
            without_credentials(&world).header("host", "evil.example"),
        ),
        (
            "a page of somebody else",
            without_credentials(&world).header("origin", "http://evil.example"),
        ),
        ("a page without an origin", without_credentials(&world).header("origin", "null")),
        ("a proxy", without_credentials(&world).header("x-forwarded-for", "203.0.113.9")),
        ("a form", without_credentials(&world).header("content-type", "text/plain")),
    ] {
        let reply = Read::of(request.send().await.expect("a reply")).await;
        assert_eq!(reply.status, 403, "{what}: {}", reply.text);
    }
    // What is shown and wrong is not made up for.
    let wrong = without_credentials(&world).bearer_auth("hp_person_wrong");
    assert_eq!(wrong.send().await.expect("a reply").status(), 401);
    assert_eq!(world.state().await, before);
    let known = without_credentials(&world).header("origin", FRONT_END);
    assert_eq!(known.send().await.expect("a reply").status(), 200);
}

#[tokio::test]
async fn i30_without_credentials_only_the_doors_own_holds_are_answered() {
    let world = opened(Some("bob")).await;
    // Of our own API, and of the same person, who could answer it with a token.
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let asked = Read::of(without_credentials(&world).send().await.expect("a reply")).await;
    let mut part = answered(&asked, true);
    part["approval"]["id"] = hold["id"].clone();
    let body = assistant("c1", json!([part]));
    let request = world.request("", Method::POST, "/api/chat").json(&body);
    assert_eq!(request.send().await.expect("a reply").status(), 422);
    assert_eq!(world.wiped(), 0);
    // With a token the same person answers it wherever they like.
    let (status, _) = world.answer("bob", &hold, json!({"verdict": "approve"})).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn browsers_are_told_which_pages_may_read_the_answers() {
    let world = opened(None).await;
    let preflight = |origin: &str| {
        let request = world.request("", Method::OPTIONS, "/api/chat").header("origin", origin);
        let request = request.header("access-control-request-method", "POST");
        request
            .header("access-control-request-headers", "authorization,content-type,x-other")
            .send()
    };
    let reply = preflight(FRONT_END).await.expect("a reply");
    assert_eq!(reply.status(), 204);
    let header =
        |name: &str| reply.headers().get(name).and_then(|it| it.to_str().ok()).unwrap_or("");
    assert_eq!(header("access-control-allow-origin"), FRONT_END);
    assert_eq!(header("access-control-allow-credentials"), "true");
    assert_eq!(header("access-control-allow-headers"), "authorization,content-type,x-other");
    assert!(header("access-control-allow-methods").contains("POST"));
    assert_eq!(header("vary"), "origin");
    let reply = preflight("http://evil.example").await.expect("a reply");
    assert!(!reply.headers().contains_key("access-control-allow-origin"));
    // Also what is refused can be read by a page on the list, and by no other.
    let refused =
        without_credentials(&world).header("origin", FRONT_END).send().await.expect("a reply");
    assert_eq!(refused.status(), 401);
    assert_eq!(refused.headers()["access-control-allow-origin"], FRONT_END);
}

#[tokio::test]
async fn a_door_that_acts_for_somebody_is_not_opened_to_other_machines() {
    let world = world().await;
    let bound = holdpoint_server::bind(holdpoint_server::ServerSetup {
        engine: world.engine.clone(),
        listen: ([0, 0, 0, 0], 0).into(),
        public_url: None,
        tls: None,
        trusts: None,
        demo: None,
        warnings: Vec::new(),
        limits: holdpoint_server::HttpLimits::default(),
        audit: None,
        doors: vec![ai_sdk(Some("bob"))],
        words: holdpoint_server::DoorWords::new(),
    });
    assert!(matches!(bound.await, Err(BindError::ActsInTheOpen { door: "ai_sdk", .. })));
}
