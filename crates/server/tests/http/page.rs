//! The web page, and HTTP/2.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::world::world;

#[tokio::test]
async fn the_page_and_its_files_are_served() {
    let world = world().await;
    let files: Vec<&str> = holdpoint_server::routes()
        .into_iter()
        .filter(|(method, path, _)| {
            let documents = ["/openapi.json", "/oauth/client.json"];
            *method == Method::GET && path.contains('.') && !documents.contains(path)
        })
        .map(|(_, path, _)| path)
        .collect();
    for path in files {
        let reply = world.request("", Method::GET, path).send().await.expect("a reply");
        assert_eq!(reply.status(), 200, "{path}");
        let kind = reply.headers()["content-type"].to_str().expect("text").to_owned();
        let expected = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => kind.as_str(),
        };
        assert_eq!(kind, expected, "{path}");
        let tag = reply.headers()["etag"].clone();
        let again = world.request("", Method::GET, path).header("if-none-match", tag).send().await;
        assert_eq!(again.expect("a reply").status(), 304, "{path}");
    }
    for path in ["/", "/holds/hold_x", "/sessions/ses_x"] {
        let reply = world.request("", Method::GET, path).send().await.expect("a reply");
        assert_eq!(
            (reply.status().as_u16(), &reply.headers()["cache-control"] == "no-store"),
            (200, true)
        );
        let text = reply.text().await.expect("text");
        assert!(text.starts_with("<!doctype html>") && text.contains("Holdpoint"), "{text}");
        // The policy admits no inline script.
        assert!(!text.contains("<script>"), "{text}");
    }
}

#[tokio::test]
async fn http2_names_its_host_elsewhere_and_is_served_alike() {
    let world = world().await;
    let (cookie, csrf) = world.log_in("bob").await;
    let client = Client::builder().http2_prior_knowledge().build().expect("a client");
    for (origin, status) in
        [(format!("http://{}", world.address), 201), ("http://evil.example".into(), 403)]
    {
        let request = client.post(world.url("/v1/sessions")).header("cookie", &cookie);
        let request = request.header("x-holdpoint-csrf", &csrf).header("origin", origin);
        let reply = request.json(&json!({"agent": "ops"})).send().await.expect("a reply");
        assert_eq!((reply.version(), reply.status().as_u16()), (reqwest::Version::HTTP_2, status));
        let body: Value = reply.json().await.expect("json");
        assert!(body["id"].is_string() || body["code"] == "not_entitled", "{body}");
    }
}
