//! Notices to people's own browsers, with a push service on this machine. That a browser can read them is tried with
//! another implementation, in `web/tests/push.test.mjs`.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::post;
use serde_json::{Value, json};

use crate::world::{Plan, World, list, planned, text, world};

/// Of RFC 8291, appendix A.
pub(crate) const P256DH: &str =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
pub(crate) const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

struct Arrived {
    to: String,
    headers: HeaderMap,
    body: Bytes,
}

/// A push service that says what it is told to say.
struct Service {
    origin: String,
    says: Arc<AtomicU16>,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

async fn service() -> Service {
    let says = Arc::new(AtomicU16::new(201));
    let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
    let (status, taken) = (says.clone(), arrived.clone());
    let take = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
        let to = uri.path().to_owned();
        taken.lock().expect("sound").push(Arrived { to, headers, body });
        StatusCode::from_u16(status.load(Ordering::SeqCst)).expect("a status")
    };
    let router = Router::new().fallback(post(take));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    #[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    Service { origin, says, arrived }
}

impl Service {
    fn seen(&self) -> Vec<String> {
        let arrived = self.arrived.lock().expect("sound");
        let urgency = |one: &Arrived| one.headers["urgency"].to_str().expect("text").to_owned();
        arrived.iter().map(|one| format!("{} {}", one.to, urgency(one))).collect()
    }

    /// Waits for so many.
    async fn until(&self, count: usize) -> Vec<String> {
        for _ in 0..600 {
            if self.seen().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let seen = self.seen();
        assert!(seen.len() >= count, "only {seen:?}");
        seen
    }
}

async fn here() -> World {
    planned(Plan { sends_notices: true, notices_stay_here: true, ..Plan::default() }).await
}

fn browser(endpoint: &str) -> Value {
    json!({"endpoint": endpoint, "keys": {"p256dh": P256DH, "auth": AUTH}})
}

async fn told_in(world: &World, who: &str, endpoint: &str) -> String {
    let (status, made) = world.post(who, "/v1/me/push", browser(endpoint)).await;
    assert_eq!(status, 201, "{made}");
    text(&made, "id")
}

#[tokio::test]
async fn who_is_asked_or_addressed_is_told_and_nobody_else() {
    let (world, service) = (here().await, service().await);
    for who in ["ana", "bob", "dan", "eve"] {
        told_in(&world, who, &format!("{}/{who}", service.origin)).await;
    }
    let (_, hold) = world.held("bob", "call wipe {}").await;
    // Bob and Dan are DBAs; Ana is an admin, who sees it and is not asked; Eve may not see it.
    let mut seen = service.until(2).await;
    seen.sort();
    assert_eq!(seen, ["/bob normal", "/dan normal"]);
    let said = json!({"text": "@ana @eve what is this?"});
    let path = format!("/v1/holds/{}/comments", text(&hold, "id"));
    assert_eq!(world.post("dan", &path, said).await.0, 201);
    assert_eq!(service.until(3).await[2], "/ana normal");
    world.answer("dan", &hold, json!({"verdict": "deny"})).await;
    let mut closed = service.until(6).await.split_off(3);
    closed.sort();
    assert_eq!(closed, ["/ana low", "/bob low", "/dan low"], "it is taken back where it was told");
    let (_, next) = world.held("bob", "call wipe {}").await;
    let mut seen = service.until(8).await.split_off(6);
    seen.sort();
    assert_eq!(seen, ["/bob normal", "/dan normal"]);
    assert_ne!(next["id"], hold["id"]);

    let arrived = service.arrived.lock().expect("sound");
    let topic = |at: usize| arrived[at].headers["topic"].clone();
    assert_eq!(topic(0), topic(3), "the last word on a hold takes the place of the others");
    assert_ne!(topic(0), topic(6));
    for one in arrived.iter() {
        assert_eq!(one.headers["content-encoding"], "aes128gcm");
        let authorization = one.headers["authorization"].to_str().expect("text");
        assert!(authorization.starts_with("vapid t=ey"), "{authorization}");
        assert_eq!(one.body.len(), arrived[0].body.len(), "lengths tell nothing");
        for word in ["wipe", "DBA", "what is this"] {
            assert!(!one.body.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
        }
    }
}

#[tokio::test]
async fn a_browser_that_its_service_has_lost_is_forgotten() {
    let (world, service) = (here().await, service().await);
    told_in(&world, "dan", &format!("{}/dan", service.origin)).await;
    service.says.store(410, Ordering::SeqCst);
    world.held("bob", "call wipe {}").await;
    service.until(1).await;
    for _ in 0..600 {
        let (_, mine) = world.get("dan", "/v1/me/push").await;
        if list(&mine, "items").is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the subscription is still there");
}

#[tokio::test]
async fn i30_a_person_has_their_own_browsers_and_sees_no_others() {
    let (world, service) = (here().await, service().await);
    let endpoint = format!("{}/dan", service.origin);
    let id = told_in(&world, "dan", &endpoint).await;
    assert_eq!(told_in(&world, "dan", &endpoint).await, id, "the same browser again");
    let (_, mine) = world.get("dan", "/v1/me/push").await;
    assert_eq!(list(&mine, "items").len(), 1);
    assert!(!mine.to_string().contains(&service.origin), "an endpoint is as good as a key: {mine}");
    assert_eq!(text(&mine, "key").len(), 87);
    assert!(list(&world.get("bob", "/v1/me/push").await.1, "items").is_empty());
    let one = format!("/v1/me/push?id={id}");
    assert_eq!(world.delete("bob", &one).await.0, 204, "of his there is none with this id");
    assert_eq!(list(&world.get("dan", "/v1/me/push").await.1, "items").len(), 1);
    for (who, expected) in [("", 401), ("gate", 403), ("bot", 403)] {
        assert_eq!(world.get(who, "/v1/me/push").await.0, expected, "{who}");
        assert_eq!(world.post(who, "/v1/me/push", browser(&endpoint)).await.0, expected, "{who}");
        assert_eq!(world.delete(who, &one).await.0, expected, "{who}");
    }
    // Bob logs in where Dan was: the browser is told of what waits for Bob, and of nothing of Dan's.
    assert_eq!(told_in(&world, "bob", &endpoint).await, id);
    assert!(list(&world.get("dan", "/v1/me/push").await.1, "items").is_empty());
    assert_eq!(world.delete("bob", &one).await.0, 204);
    assert_eq!(world.delete("bob", &one).await.0, 204, "once more changes nothing");
    assert!(list(&world.get("bob", "/v1/me/push").await.1, "items").is_empty());
    for n in 0..10 {
        told_in(&world, "dan", &format!("{}/{n}", service.origin)).await;
    }
    let eleventh = browser(&format!("{}/10", service.origin));
    assert_eq!(world.post("dan", "/v1/me/push", eleventh).await.0, 429);
}

#[tokio::test]
async fn an_endpoint_that_points_into_our_network_is_refused() {
    let world = planned(Plan { sends_notices: true, ..Plan::default() }).await;
    for endpoint in [
        "http://push.example/1",
        "https://127.0.0.1/1",
        "https://localhost:7420/v1/freeze",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://10.0.0.8/",
        "https://0x7f.1/",
        "https://dan:hunter2@push.example/1",
        "file:///etc/passwd",
        "",
        &format!("https://push.example/{}", "x".repeat(3_000)),
    ] {
        let (status, problem) = world.post("dan", "/v1/me/push", browser(endpoint)).await;
        assert_eq!((status, &problem["field"]), (422, &json!("endpoint")), "{endpoint}: {problem}");
        assert!(!problem.to_string().contains("hunter2"));
    }
    let good = "https://push.example/1";
    for (body, status, field) in [
        (json!({"endpoint": good, "keys": {"p256dh": "x", "auth": AUTH}}), 422, "keys.p256dh"),
        (json!({"endpoint": good, "keys": {"p256dh": P256DH, "auth": ""}}), 422, "keys.auth"),
        (
            json!({"endpoint": good, "keys": {"p256dh": P256DH, "auth": AUTH}, "language": "fr"}),
            422,
            "language",
        ),
        (
            json!({"endpoint": good, "keys": {"p256dh": P256DH, "auth": AUTH}, "name": "x".repeat(201)}),
            422,
            "name",
        ),
    ] {
        let (told, problem) = world.post("dan", "/v1/me/push", body).await;
        assert_eq!((told, &problem["field"]), (status, &json!(field)), "{problem}");
    }
    assert!(list(&world.get("dan", "/v1/me/push").await.1, "items").is_empty());
}

#[tokio::test]
async fn where_no_notices_are_sent_nobody_subscribes() {
    let world = world().await;
    assert_eq!(world.get("dan", "/v1/me/push").await.1["key"], Value::Null);
    let (status, _) = world.post("dan", "/v1/me/push", browser("https://push.example/1")).await;
    assert_eq!(status, 404);
}
