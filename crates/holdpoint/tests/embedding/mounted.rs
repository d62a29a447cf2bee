//! Our routes in the program's own server.

use std::net::SocketAddr;

use holdpoint::axum::extract::Request;
use holdpoint::axum::http::StatusCode;
use holdpoint::axum::middleware::{Next, from_fn_with_state};
use holdpoint::axum::routing::get;
use holdpoint::axum::{self, Router};
use holdpoint::prelude::*;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::world::{Till, one, shop};

/// The program's own idea of a login: a header, in place of its cookies.
async fn users(
    axum::extract::State(holdpoint): axum::extract::State<Holdpoint>,
    mut request: Request,
    next: Next,
) -> axum::response::Response {
    let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
    if let Some(acting) = user.and_then(|user| holdpoint.vouch(user, "the shop's login").ok()) {
        request.extensions_mut().insert(acting.on_request());
    }
    next.run(request).await
}

async fn served(router: Router) -> (String, oneshot::Sender<()>, impl Future<Output = ()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = async move {
        let stopped = async move { drop(stopped.await) };
        axum::serve(listener, service).with_graceful_shutdown(stopped).await.unwrap();
    };
    (url, stop, serving)
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn a_program_serves_us_beside_its_own_pages_and_speaks_for_its_users() {
    let till = Till::default();
    let holdpoint = shop(&till).build().await.unwrap();
    let mounted = holdpoint.mount("http://shop.example.com/");
    let link = mounted.login_link("ana").await.unwrap();
    assert!(link.starts_with("http://shop.example.com/login?code="), "{link}");
    let router = Router::new()
        .route("/orders", get(async || "three orders"))
        .fallback(async || (StatusCode::NOT_FOUND, "the shop does not have that"))
        .merge(mounted.router())
        .layer(from_fn_with_state(holdpoint.clone(), users));
    let (url, stop, serving) = served(router).await;
    let client = client();
    let trying = async {
        let session = holdpoint.open(&holdpoint.vouch("joe", "a test").unwrap(), "shop").await;
        let session = session.unwrap();
        let hold = one(&session.ask("Refund 7: 5").await.unwrap());
        let text = |path: &'static str| {
            let request = client.get(format!("{url}{path}"));
            async { request.send().await.unwrap().text().await.unwrap() }
        };
        assert_eq!(text("/orders").await, "three orders");
        assert_eq!(text("/nothing").await, "the shop does not have that");
        assert!(text("/").await.contains("<!doctype html>"));
        let me = |user: Option<&str>| {
            let mut request = client.get(format!("{url}/v1/me"));
            if let Some(user) = user {
                request = request.header("x-user", user);
            }
            async {
                let reply = request.send().await.unwrap();
                (reply.status().as_u16(), reply.json::<Value>().await.unwrap()["id"].clone())
            }
        };
        assert_eq!(me(Some("bob")).await, (200, json!("bob")));
        assert_eq!(me(None).await.0, 401);
        assert_eq!(me(Some("mallory")).await.0, 401, "nobody vouches for a stranger");

        let answer = |user: &str, origin: Option<&str>| {
            let body =
                json!({"digest": hold.digest().to_string(), "answer": {"verdict": "approve"}});
            let mut request =
                client.post(format!("{url}/v1/holds/{}/answer", hold.id)).header("x-user", user);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            request.json(&body).send()
        };
        let from_elsewhere = answer("bob", Some("http://evil.example.com")).await.unwrap();
        assert_eq!(from_elsewhere.status(), 403, "a page of another site cannot answer");
        assert_eq!(answer("joe", None).await.unwrap().status(), 403, "Joe may not");
        let accepted = answer("bob", Some("http://shop.example.com")).await.unwrap();
        assert_eq!(accepted.status(), 200, "{}", accepted.text().await.unwrap());
        assert_eq!(session.wait().await.unwrap().text(), Some("paid 5 for 7"));
        let decided = holdpoint.hold(&holdpoint.vouch("bob", "").unwrap(), hold.id).await.unwrap();
        let vote = decided.state.decision().unwrap().vote().unwrap().clone();
        assert!(format!("{:?}", vote.proof).contains("the shop's login"));

        // A stream that is open does not keep the program from ending.
        let stream = client.get(format!("{url}/v1/events")).header("x-user", "bob");
        let stream = stream.send().await.unwrap();
        assert_eq!(stream.status(), 200);
        mounted.close().await;
        stop.send(()).unwrap();
        stream.bytes().await.unwrap();
    };
    tokio::join!(serving, trying);
}

#[tokio::test]
async fn the_api_alone_can_stand_under_any_path() {
    let holdpoint = shop(&Till::default()).build().await.unwrap();
    let mounted = holdpoint.mount_api("http://shop.example.com");
    let router = Router::new()
        .route("/", get(async || "the shop"))
        .nest("/approvals", mounted.router())
        .layer(from_fn_with_state(holdpoint.clone(), users));
    let (url, stop, serving) = served(router).await;
    let trying = async {
        let status = |path: &str| {
            let request = client().get(format!("{url}{path}")).header("x-user", "ana");
            async { request.send().await.unwrap().status().as_u16() }
        };
        assert_eq!(status("/").await, 200);
        assert_eq!(status("/approvals/v1/me").await, 200);
        assert_eq!(status("/approvals/login").await, 404);
        assert_eq!(status("/v1/me").await, 404);
        mounted.close().await;
        stop.send(()).unwrap();
    };
    tokio::join!(serving, trying);
}

#[tokio::test]
async fn our_own_server_has_the_page_and_lets_somebody_in_once() {
    let holdpoint = shop(&Till::default()).build().await.unwrap();
    let serving = holdpoint.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (url, link) = (serving.url().to_owned(), serving.login_link("ana").await.unwrap());
    assert!(serving.login_link("mallory").await.is_err());
    let (stop, stopped) = oneshot::channel::<()>();
    let trying = async {
        let client = client();
        let page = client.get(&link).send().await.unwrap();
        assert!(page.text().await.unwrap().contains("Log in"));
        let code = link.rsplit('=').next().unwrap();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        for expected in [303, 401] {
            let form = client.post(format!("{url}/login"));
            let form = form.header("content-type", "application/x-www-form-urlencoded");
            let reply = form.body(format!("code={code}")).send().await.unwrap();
            assert_eq!(reply.status(), expected);
        }
        stop.send(()).unwrap();
    };
    tokio::join!(serving.run(async { drop(stopped.await) }), trying);
    assert!(holdpoint.frozen().is_none(), "Holdpoint itself goes on");
}
