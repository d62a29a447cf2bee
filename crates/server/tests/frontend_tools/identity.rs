//! Who speaks and answers: a token, or on this machine the person that the door acts for.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{PAGE, Plan, World, planned, posted, script, told, world};

fn asks() -> Value {
    json!({"user_prompt": script(json!([{"calls": [["pick", {}]]}]))})
}

#[tokio::test]
async fn without_credentials_nothing_is_answered() {
    let world = world().await;
    let state = world.state().await;
    for path in ["/agent/run", "/agent/tool_results", "/agent/run/multipart", "/agent/upload"] {
        world.post("", path, &asks()).await.refused(401, "unauthenticated");
    }
    for path in ["/agent/sessions", "/agent/x/conversations", "/agent/x/images/y"] {
        assert_eq!(world.get("", path).await.0, 401, "{path}");
    }
    assert_eq!(world.state().await, state);
    let health = world.request("", Method::GET, "/health").send().await.expect("a reply");
    assert_eq!(health.status(), 200);
}

async fn acting() -> World {
    planned(Plan { act_as: true, ..Plan::default() }).await
}

#[tokio::test]
async fn a_door_may_act_for_a_person_and_says_so() {
    let world = acting().await;
    let first = world.post("", "/agent/run", &asks()).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let hold = world.holds("ana").await.remove(0);
    world.results("", &uuid, &[(&id, "green")]).await.finished();
    let (_, hold) = world.get("ana", &format!("/v1/holds/{}", hold["id"].as_str().unwrap())).await;
    assert_eq!(
        (&hold["decision"]["by"], &hold["decision"]["via"]),
        (&json!("ana"), &json!("frontend"))
    );
}

/// Ana's own sessions of other places are not the door's.
#[tokio::test]
async fn without_credentials_only_the_doors_own_sessions_are_answered() {
    let world = acting().await;
    let new = world.request("ana", Method::POST, "/v1/sessions").json(&json!({"agent": "ops"}));
    let session: Value = new.send().await.expect("a reply").json().await.expect("json");
    let id = session["id"].as_str().expect("an id");
    let say = world.request("ana", Method::POST, &format!("/v1/sessions/{id}/messages"));
    let said = say.json(&json!({"text": script(json!([{"calls": [["pick", {}]]}]))})).send().await;
    assert_eq!(said.expect("a reply").status(), 202);
    let hold = loop {
        if let Some(hold) = world.holds("ana").await.pop() {
            break hold;
        }
    };
    let call = hold["call"]["tool_use_id"].as_str().expect("an id");
    world.results("", id, &[(call, "green")]).await.refused(404, "not_found");
    assert_eq!(world.get("", &format!("/agent/{id}/conversations")).await.0, 404);
    // With her token it is hers to answer, here too.
    world.results("ana", id, &[(call, "green")]).await.finished();
}

#[tokio::test]
async fn without_credentials_only_pages_on_the_list_and_json_are_taken() {
    let world = acting().await;
    let state = world.state().await;
    let run = || world.request("", Method::POST, "/agent/run");
    let text = asks().to_string();
    for request in [
        run().header("content-type", "text/plain").body(text.clone()),
        run().body(text.clone()),
        run().header("origin", "http://evil.example").json(&asks()),
        run().header("origin", "null").json(&asks()),
        run().header("host", "evil.example").json(&asks()),
        run().header("x-forwarded-for", "10.0.0.1").json(&asks()),
    ] {
        let told = told(request.send().await.expect("a reply")).await;
        assert!(matches!(told.status, 401 | 403), "{}", told.problem);
    }
    for path in ["/agent/run/multipart", "/agent/upload"] {
        let form =
            "--x\r\nContent-Disposition: form-data; name=\"user_prompt\"\r\n\r\nhi\r\n--x--\r\n";
        let request = world.request("", Method::POST, path).body(form);
        let request = request.header("content-type", "multipart/form-data; boundary=x");
        let told = told(request.send().await.expect("a reply")).await;
        assert!(matches!(told.status, 401 | 403), "{path}: {}", told.problem);
    }
    assert_eq!(world.state().await, state);
    let reply = run().header("origin", PAGE).json(&asks()).send().await.expect("a reply");
    assert_eq!(reply.headers()["access-control-allow-origin"], PAGE);
    assert_eq!(reply.headers()["access-control-allow-credentials"], "true");
    assert_eq!(told(reply).await.awaited_ids().len(), 1);
}

#[tokio::test]
async fn a_browser_asks_first_and_is_told() {
    let world = world().await;
    for path in ["/agent/run", "/agent/tool_results", "/agent/x/conversations", "/health"] {
        let request = world
            .request("", Method::OPTIONS, path)
            .header("origin", PAGE)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type, x-more");
        let reply = request.send().await.expect("a reply");
        assert!(reply.status().is_success(), "{path}");
        let headers = reply.headers();
        assert_eq!(headers["access-control-allow-origin"], PAGE);
        assert_eq!(headers["access-control-allow-headers"], "content-type, x-more");
        assert!(headers["access-control-allow-methods"].to_str().unwrap().contains("POST"));
    }
    let request =
        world.request("", Method::OPTIONS, "/agent/run").header("origin", "http://evil.example");
    let reply =
        request.header("access-control-request-method", "POST").send().await.expect("a reply");
    assert!(!reply.headers().contains_key("access-control-allow-origin"));
}

/// With credentials that are wrong, the door does not act for anybody.
#[tokio::test]
async fn a_wrong_token_is_not_made_up_for() {
    let world = acting().await;
    let request = world.request("", Method::POST, "/agent/run").bearer_auth("hp_person_wrong");
    told(request.json(&asks()).send().await.expect("a reply"))
        .await
        .refused(401, "unauthenticated");
    let body = posted("x", &[("a", "b")]);
    let request =
        world.request("", Method::POST, "/agent/tool_results").bearer_auth("x").json(&body);
    told(request.send().await.expect("a reply")).await.refused(401, "unauthenticated");
}
