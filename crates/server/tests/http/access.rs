//! Who sees what and who may do what, for every route of the table.

use domain::time::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::push::{AUTH, P256DH};
use crate::world::{Plan, World, list, planned, read, text, world};

/// Bob's things, one of each.
struct Things {
    session: String,
    hold: Value,
    run: String,
    grant: String,
    token: String,
    outside: Value,
    file: String,
}

async fn things(world: &World) -> Things {
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let (_, _) =
        world.answer("dan", &hold, json!({"verdict": "approve", "scope": "session"})).await;
    world.until_over("bob", &session).await;
    let upload = world.request("bob", Method::POST, "/v1/files?name=notes.txt").body("notes");
    let (_, file) = read(upload.send().await.expect("a reply")).await;
    let said = json!({"text": "call connect {}", "files": [file["id"]]});
    let (status, _) = world.post("bob", &format!("/v1/sessions/{session}/messages"), said).await;
    assert_eq!(status, 202);
    let shown = world.until("bob", &session, |session| session["run"]["status"] == "paused").await;
    let (_, grants) = world.get("bob", "/v1/grants").await;
    let (_, tokens) = world.get("ana", "/v1/tokens").await;
    let outside =
        json!({"kind": "approve", "title": "x", "call": {"tool": "wipe", "arguments": {}}});
    Things {
        hold: list(&shown, "pending")[0].clone(),
        run: text(&shown["run"], "id"),
        grant: text(&list(&grants, "items")[0], "id"),
        token: text(&list(&tokens, "items")[0], "id"),
        outside: world.open_hold("gate", outside).await,
        file: text(&file, "id"),
        session,
    }
}

impl Things {
    fn path(&self, path: &str) -> String {
        let noun = path.split('/').nth(if path.starts_with("/v1/") { 2 } else { 1 });
        let id = match noun {
            Some("sessions") => self.session.clone(),
            Some("runs") => self.run.clone(),
            Some("grants") => self.grant.clone(),
            Some("tokens") => self.token.clone(),
            Some("files") => self.file.clone(),
            _ if path.ends_with("/outcome") => text(&self.outside, "id"),
            _ => text(&self.hold, "id"),
        };
        path.replace("{id}", &id)
    }

    fn body(&self, path: &str, now: Timestamp) -> Value {
        let soon = now.plus_ms(60_000).to_string();
        match path {
            "/v1/sessions" => json!({"agent": "ops"}),
            "/v1/sessions/{id}/messages" => json!({"text": "hello"}),
            "/v1/holds" => json!({"kind": "choose", "title": "x", "options": ["a"]}),
            "/v1/holds/{id}/answer" => {
                json!({"digest": self.hold["digest"], "answer": {"verdict": "approve"}})
            }
            "/v1/holds/{id}/outcome" => json!({"state": "succeeded"}),
            "/v1/holds/{id}/preview" => json!({"arguments": {}}),
            "/v1/me/views" => json!({"name": "mine", "query": "?for=me"}),
            "/v1/me/push" => {
                json!({"endpoint": "https://push.example/1", "keys": {"p256dh": P256DH, "auth": AUTH}})
            }
            "/v1/holds/{id}/comments" => json!({"text": "hello"}),
            "/v1/holds/{id}/snooze" => json!({"until": soon}),
            "/v1/holds/answers" => {
                let (id, digest) = (&self.hold["id"], &self.hold["digest"]);
                let answer = json!({"verdict": "deny"});
                json!({"answers": [{"hold": id, "digest": digest, "answer": answer}]})
            }
            "/v1/policy/explain" => json!({"tool": "wipe", "arguments": {}}),
            "/v1/channels/test" => json!({"channel": "desk"}),
            "/v1/tokens" => json!({"program": "p", "scopes": ["ask"]}),
            "/v1/logins" => json!({"person": "bob"}),
            "/v1/freeze" => json!({"reason": "x"}),
            "/v1/mcp/connect" | "/v1/mcp/disconnect" => json!({"server": "notes"}),
            _ => json!({}),
        }
    }
}

async fn ask(
    world: &World,
    things: &Things,
    who: &str,
    method: &Method,
    path: &str,
) -> (u16, Value) {
    let mut address = things.path(path);
    if path.ends_with("/wait") {
        address.push_str("?timeout_s=0");
    }
    if path == "/v1/mcp/connect" && *method == Method::GET {
        address.push_str("?server=notes&attempt=1&timeout_s=0");
    }
    let mut request = world.request(who, method.clone(), &address);
    if *method == Method::POST {
        request = request.json(&things.body(path, world.engine.now()));
    }
    let reply = request.send().await.expect("a reply");
    if reply.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream") {
        return (reply.status().as_u16(), Value::Null);
    }
    read(reply).await
}

fn guarded() -> Vec<(Method, &'static str)> {
    let guarded = holdpoint_server::routes().into_iter().filter(|(_, _, guarded)| *guarded);
    guarded.map(|(method, path, _)| (method, path)).filter(|(_, path)| *path != "/logout").collect()
}

/// What only admins do.
fn is_admins(method: &Method, path: &str) -> bool {
    let areas =
        ["/v1/tokens", "/v1/figures", "/v1/people", "/v1/tools", "/v1/policy", "/v1/channels"];
    areas.iter().any(|area| path.starts_with(area))
        || path.starts_with("/v1/audit")
        || path == "/v1/logins"
        || path.starts_with("/v1/mcp/")
        || (path == "/v1/freeze" && *method != Method::GET)
}

#[tokio::test]
async fn i30_strangers_find_nothing_and_change_nothing() {
    let world = world().await;
    let things = things(&world).await;
    let before = world.state().await;
    let ours = [
        &things.session,
        &things.run,
        &things.grant,
        &text(&things.hold, "id"),
        &text(&things.outside, "id"),
    ];
    for (method, path) in guarded() {
        let (status, problem) = ask(&world, &things, "", &method, path).await;
        assert_eq!(
            (status, &problem["code"]),
            (401, &json!("unauthenticated")),
            "nobody: {method} {path}"
        );
        for who in ["eve", "bot"] {
            if *method.as_str() == *"POST"
                && matches!(path, "/v1/sessions" | "/v1/holds" | "/v1/files")
            {
                // Everybody may open their own.
                continue;
            }
            if method == Method::POST && path == "/v1/me/push" && who == "eve" {
                // Of her own browser; nobody sends notices in this world.
                continue;
            }
            let (status, shown) = ask(&world, &things, who, &method, path).await;
            let expected = match path {
                _ if is_admins(&method, path) => (403, json!("not_entitled")),
                _ if path.contains("{id}") => (404, json!("not_found")),
                // What only people do or have.
                "/v1/holds/answers" | "/v1/snoozes" | "/v1/me/push" | "/v1/me/views"
                    if who == "bot" =>
                {
                    (403, json!("not_entitled"))
                }
                // Of theirs there is none with this id.
                "/v1/me/push" | "/v1/me/views" if method == Method::DELETE => (204, Value::Null),
                _ => (200, Value::Null),
            };
            assert_eq!(
                (status, shown["code"].clone()),
                expected,
                "{who}: {method} {path}: {shown}"
            );
            if path == "/v1/holds/answers" && who == "eve" {
                // Nothing but what she asked for herself.
                let refused = &list(&shown, "results")[0];
                assert_eq!((&refused["status"], &refused["result"]), (&json!(404), &Value::Null));
                assert_eq!(refused["problem"]["code"], "not_found");
                continue;
            }
            for id in ours {
                assert!(
                    !shown.to_string().contains(id.as_str()),
                    "{who}: {method} {path}: {shown}"
                );
            }
        }
    }
    assert_eq!(world.state().await, before);
}

#[tokio::test]
async fn i30_owners_and_admins_find_their_way_in() {
    for (method, path) in guarded() {
        for who in ["bob", "ana"] {
            let world = planned(Plan { sends_notices: true, ..Plan::default() }).await;
            let things = things(&world).await;
            let before = world.state().await;
            let (status, shown) = ask(&world, &things, who, &method, path).await;
            let forbidden = (who == "bob" && is_admins(&method, path))
                // Bob did not open that one: his program did.
                || path.ends_with("/outcome")
                // Only its sender removes a file.
                || (who == "ana" && method == "DELETE" && path.starts_with("/v1/files"))
                // Whoever speaks is who asks, so an admin does not speak in somebody's session.
                || (who == "ana" && method == "POST" && path.ends_with("/messages"))
                // The rule asks the requester and admins about `connect`, so both may answer.
                ;
            match forbidden {
                true => {
                    assert_eq!(
                        (status, &shown["code"]),
                        (403, &json!("not_entitled")),
                        "{who}: {method} {path}: {shown}"
                    );
                    assert_eq!(world.state().await, before, "{who}: {method} {path}");
                }
                // A run that is paused cannot be retried; otherwise all of it works.
                false if path.ends_with("/retry") => {
                    assert_eq!(status, 409, "{who}: {path}: {shown}")
                }
                // A message has it.
                false if path.starts_with("/v1/files") && method == "DELETE" => {
                    assert_eq!(status, 409, "{who}: {path}: {shown}")
                }
                // No server is connected with OAuth here.
                false if path.ends_with("connect") => {
                    assert_eq!(status, 404, "{who}: {path}: {shown}")
                }
                false => assert!(
                    (200..300).contains(&status),
                    "{who}: {method} {path}: {status} {shown}"
                ),
            }
        }
    }
}

#[tokio::test]
async fn i30_the_audience_sees_and_answers_but_does_not_steer() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let path = format!("/v1/sessions/{session}");
    assert_eq!(world.get("dan", &path).await.0, 200, "he is asked about it");
    let before = world.state().await;
    let run = text(&world.get("dan", &path).await.1["run"], "id");
    for (path, body) in [
        (format!("{path}/messages"), json!({"text": "x"})),
        (format!("/v1/runs/{run}/cancel"), json!({})),
        (format!("/v1/holds/{}/cancel", text(&hold, "id")), json!({})),
    ] {
        let (status, problem) = world.post("dan", &path, body).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{path}");
    }
    // Ana sees everything, but this rule asks DBAs.
    let (status, problem) = world.answer("ana", &hold, json!({"verdict": "approve"})).await;
    assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")));
    assert_eq!((world.state().await, world.wiped()), (before, 0));
}

#[tokio::test]
async fn i30_scopes_bound_what_a_token_does() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    for (scopes, path, body) in [
        (
            json!(["ask", "run"]),
            format!("/v1/holds/{}/answer", text(&hold, "id")),
            json!({"digest": hold["digest"], "answer": {"verdict": "deny"}}),
        ),
        (json!(["ask", "answer"]), "/v1/sessions".into(), json!({"agent": "ops"})),
        (
            json!(["run", "answer"]),
            "/v1/holds".into(),
            json!({"kind": "choose", "title": "x", "options": ["a"]}),
        ),
    ] {
        let (_, minted) =
            world.post("ana", "/v1/tokens", json!({"person": "bob", "scopes": scopes})).await;
        let before = world.state().await;
        let request =
            world.client.post(world.url(&path)).bearer_auth(text(&minted, "token")).json(&body);
        let (status, problem) = read(request.send().await.expect("a reply")).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{path}");
        assert_eq!(world.state().await, before);
    }
}

#[tokio::test]
async fn i04_a_program_that_administers_cannot_make_itself_a_person() {
    let world = world().await;
    let wanted = json!({"program": "steward", "scopes": ["ask", "run", "admin"]});
    let (status, minted) = world.post("ana", "/v1/tokens", wanted).await;
    assert_eq!(status, 201, "{minted}");
    let before = world.state().await;
    for (path, body) in [
        ("/v1/tokens", json!({"person": "bob", "scopes": ["answer"]})),
        ("/v1/logins", json!({"person": "bob"})),
    ] {
        let request = world.client.post(world.url(path));
        let request = request.bearer_auth(text(&minted, "token")).json(&body);
        let (status, problem) = read(request.send().await.expect("a reply")).await;
        assert_eq!((status, &problem["code"]), (403, &json!("not_entitled")), "{path}: {problem}");
    }
    assert_eq!(world.state().await, before);
}
