//! Looking changes nothing, whoever looks.

use reqwest::Method;
use serde_json::json;

use crate::world::{text, world};

#[tokio::test]
async fn i33_no_get_changes_anything() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let (_, shown) = world.get("bob", &format!("/v1/sessions/{session}")).await;
    let (_, login) = world.post("ana", "/v1/logins", json!({"person": "bob"})).await;
    let code = text(&login, "url").split_once("code=").expect("a code").1.to_owned();
    let (cookie, _) = world.log_in("ana").await;
    let before = world.state().await;
    let mut visited = 0;
    for (method, path, _) in holdpoint_server::routes() {
        if method != Method::GET {
            continue;
        }
        let id = match path.split('/').nth(2) {
            Some("holds") => text(&hold, "id"),
            Some("sessions") => session.clone(),
            Some("runs") => text(&shown["run"], "id"),
            _ => text(&hold, "id"),
        };
        let address = world.url(&path.replace("{id}", &id));
        // What a curious client adds, and what would change something if a GET could.
        for query in ["", &format!("&code={code}"), "&answer=approve&verdict=approve&_method=POST"]
        {
            let query = format!("?timeout_s=0{query}");
            for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
                // Bob may answer, so what he looks at is what looking could change.
                for credential in ["", "cookie", "ana", "bob"] {
                    let mut request =
                        world.client.request(method.clone(), format!("{address}{query}"));
                    request = request
                        .header(
                            "user-agent",
                            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
                        )
                        .header("purpose", "prefetch")
                        .header("x-http-method-override", "POST");
                    request = match credential {
                        "cookie" => request.header("cookie", &cookie),
                        "" => request,
                        who => request.bearer_auth(world.token(who)),
                    };
                    // Streams are opened and left: only their head is read.
                    let reply = request.send().await.expect("a reply");
                    assert!(reply.status().as_u16() < 500, "{path}: {}", reply.status());
                    assert!(reply.headers().get("set-cookie").is_none(), "{path}");
                    visited += 1;
                }
            }
        }
    }
    assert!(visited > 500, "{visited}");
    assert_eq!(world.state().await, before);
    assert_eq!(world.wiped(), 0);
    assert_eq!(world.use_code(&code).await.status(), 303, "the login link is still good");
}
