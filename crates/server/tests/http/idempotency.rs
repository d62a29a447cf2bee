//! The same key and body, the same reply; the same key and another body, 422.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, list, text, world};

async fn keyed(
    world: &World,
    who: &str,
    path: &str,
    key: &str,
    body: &Value,
) -> (u16, Value, bool) {
    let request = world.request(who, Method::POST, path).header("Idempotency-Key", key).json(body);
    let reply = request.send().await.expect("a reply");
    let replayed = reply.headers().get("idempotency-replayed").is_some_and(|value| value == "true");
    let status = reply.status().as_u16();
    (status, reply.json().await.unwrap_or(Value::Null), replayed)
}

/// Twice the same, then another body under the same key.
async fn check(
    world: &World,
    who: &str,
    path: &str,
    key: &str,
    body: Value,
    other: Value,
) -> Value {
    let first = keyed(world, who, path, key, &body).await;
    assert!(first.0 < 300 && !first.2, "{path}: {first:?}");
    let before = world.state().await;
    let again = keyed(world, who, path, key, &body).await;
    assert_eq!((again.0, &again.1, again.2), (first.0, &first.1, true), "{path}");
    let (status, problem, _) = keyed(world, who, path, key, &other).await;
    assert_eq!(
        (status, &problem["code"]),
        (422, &json!("idempotency_key_reused")),
        "{path}: {problem}"
    );
    assert_eq!(world.state().await, before, "{path}");
    first.1
}

#[tokio::test]
async fn i09_every_post_keeps_its_reply() {
    let world = world().await;
    let session = check(
        &world,
        "bob",
        "/v1/sessions",
        "s",
        json!({"agent": "ops"}),
        json!({"agent": "ops", "title": "x"}),
    )
    .await;
    let session = text(&session, "id");
    let messages = format!("/v1/sessions/{session}/messages");
    let said =
        check(&world, "bob", &messages, "m", json!({"text": "call wipe {}"}), json!({"text": "x"}))
            .await;
    let shown = world.until("bob", &session, |session| session["run"]["status"] == "paused").await;
    assert_eq!(
        list(&shown, "messages").iter().filter(|message| message["role"] == "user").count(),
        1
    );
    let hold = list(&shown, "pending")[0].clone();
    let path = |verb: &str| format!("/v1/holds/{}/{verb}", text(&hold, "id"));
    check(&world, "dan", &path("claim"), "c", json!({}), json!({"x": 1})).await;
    let deny = |reason: &str| json!({"digest": hold["digest"], "answer": {"verdict": "deny", "reason": reason}});
    check(&world, "bob", &path("answer"), "a", deny("no"), deny("never")).await;
    world.until_over("bob", &session).await;

    let ask = |title: &str| json!({"kind": "approve", "title": title, "call": {"tool": "wipe", "arguments": {}}});
    let outside = check(&world, "gate", "/v1/holds", "h", ask("x"), ask("y")).await;
    let path = |verb: &str| format!("/v1/holds/{}/{verb}", text(&outside, "id"));
    assert_eq!(world.answer("bob", &outside, json!({"verdict": "approve"})).await.0, 200);
    check(
        &world,
        "gate",
        &path("outcome"),
        "o",
        json!({"state": "failed"}),
        json!({"state": "succeeded"}),
    )
    .await;
    let withdrawn = world.open_hold("gate", ask("z")).await;
    let cancel = format!("/v1/holds/{}/cancel", text(&withdrawn, "id"));
    check(&world, "gate", &cancel, "w", json!({"reason": "a"}), json!({"reason": "b"})).await;

    let other = world.session("bob").await;
    let (run, _) = world.say("bob", &other, "fail").await;
    world.until_over("bob", &other).await;
    check(&world, "bob", &format!("/v1/runs/{run}/retry"), "r", json!({}), json!({"x": 1})).await;
    world.until_over("bob", &other).await;
    world.say("bob", &session, "call wipe {}").await;
    let shown = world.until("bob", &session, |session| session["run"]["status"] == "paused").await;
    let cancel = format!("/v1/runs/{}/cancel", text(&shown["run"], "id"));
    check(&world, "bob", &cancel, "k", json!({}), json!({"reason": "x"})).await;

    let token = |note: &str| json!({"program": "p", "scopes": ["ask"], "note": note});
    let minted = check(&world, "ana", "/v1/tokens", "t", token("a"), token("b")).await;
    assert!(text(&minted, "token").starts_with("hp_program_"));
    check(&world, "ana", "/v1/logins", "l", json!({"person": "bob"}), json!({"person": "eve"}))
        .await;
    check(&world, "ana", "/v1/freeze", "f", json!({"reason": "a"}), json!({"reason": "b"})).await;
    assert_eq!(text(&said, "run").split('_').next(), Some("run"));
}

#[tokio::test]
async fn keys_of_different_callers_and_paths_do_not_meet() {
    let world = world().await;
    let body = json!({"agent": "ops"});
    let bob = keyed(&world, "bob", "/v1/sessions", "same", &body).await;
    let dan = keyed(&world, "dan", "/v1/sessions", "same", &body).await;
    assert_eq!((bob.0, dan.0, dan.2), (201, 201, false));
    assert_ne!(bob.1["id"], dan.1["id"]);
    let (status, problem, _) = keyed(&world, "bob", "/v1/holds", "same", &body).await;
    assert_eq!((status, &problem["code"]), (422, &json!("idempotency_key_reused")));
}

#[tokio::test]
async fn a_refused_request_may_be_sent_again() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let path = format!("/v1/holds/{}/answer", text(&hold, "id"));
    let stale =
        json!({"digest": format!("sha256:{}", "1".repeat(64)), "answer": {"verdict": "approve"}});
    assert_eq!(keyed(&world, "bob", &path, "k", &stale).await.0, 409);
    let good = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
    assert_eq!(keyed(&world, "bob", &path, "k", &good).await.0, 200);
}

#[tokio::test]
async fn keys_have_a_length_and_a_replay_says_where() {
    let world = world().await;
    let body = json!({"agent": "ops"});
    let long = "k".repeat(256);
    let (status, problem, _) = keyed(&world, "bob", "/v1/sessions", &long, &body).await;
    assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
    let (status, _, _) = keyed(&world, "bob", "/v1/sessions", &long[1..], &body).await;
    assert_eq!(status, 201);
    let request =
        world.request("bob", Method::POST, "/v1/sessions").header("Idempotency-Key", &long[1..]);
    let reply = request.json(&body).send().await.expect("a reply");
    let location = reply.headers()["location"].to_str().expect("text").to_owned();
    let session: Value = reply.json().await.expect("json");
    assert_eq!(location, format!("/v1/sessions/{}", text(&session, "id")));
}

#[tokio::test]
async fn i09_of_many_at_once_one_acts() {
    let world = world().await;
    let body = json!({"program": "p", "scopes": ["ask"]});
    let before = world.state().await.0;
    let all = futures_util::future::join_all(
        (0..20).map(|_| keyed(&world, "ana", "/v1/tokens", "k", &body)),
    )
    .await;
    assert!(all.iter().all(|reply| reply.0 == 201 && reply.1 == all[0].1), "{all:?}");
    assert_eq!(world.state().await.0, before + 1);
    let ask = json!({"kind": "choose", "title": "x", "options": ["a"]});
    let all = futures_util::future::join_all(
        (0..20).map(|_| keyed(&world, "gate", "/v1/holds", "k", &ask)),
    )
    .await;
    assert!(all.iter().all(|reply| reply.0 == 201 && reply.1 == all[0].1), "{all:?}");
}

/// A kept reply goes only to somebody who could ask for it now. Keys are a person's, and one of their
/// tokens may do less than another.
#[tokio::test]
async fn i09_a_kept_reply_is_not_for_a_token_with_fewer_scopes() {
    let world = world().await;
    let token = |person: &'static str, scope: &'static str| {
        let world = &world;
        async move {
            let new = json!({"person": person, "scopes": [scope]});
            let (status, token) = world.post("ana", "/v1/tokens", new).await;
            assert_eq!(status, 201, "{token}");
            text(&token, "token")
        }
    };
    let again = |token: String, path: String, key: &'static str, body: Value| {
        let request = world.client.post(world.url(&path)).bearer_auth(token);
        let request = request.header("Idempotency-Key", key).json(&body);
        async move { crate::world::read(request.send().await.expect("a reply")).await }
    };
    let (weak_ana, weak_bob) = (token("ana", "ask").await, token("bob", "ask").await);
    let (status, problem) = {
        // The reply holds a login link: a secret.
        let (path, body) = ("/v1/logins".to_owned(), json!({"person": "bob"}));
        assert_eq!(keyed(&world, "ana", &path, "link", &body).await.0, 201);
        again(weak_ana.clone(), path, "link", body).await
    };
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    let (path, body) = ("/v1/sessions".to_owned(), json!({"agent": "ops"}));
    assert_eq!(keyed(&world, "bob", &path, "session", &body).await.0, 201);
    let (status, problem) = again(weak_bob.clone(), path, "session", body).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let path = format!("/v1/holds/{}/answer", text(&hold, "id"));
    let body = json!({"digest": hold["digest"], "answer": {"verdict": "deny"}});
    assert_eq!(keyed(&world, "bob", &path, "answer", &body).await.0, 200);
    let (status, problem) = again(weak_bob, path, "answer", body).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{problem}");
    let (path, body) = ("/v1/freeze".to_owned(), json!({"reason": "x"}));
    assert_eq!(keyed(&world, "ana", &path, "freeze", &body).await.0, 200);
    assert_eq!(again(weak_ana, path, "freeze", body).await.0, 403);
}
