//! How the command line's client takes refusals, strangers and lost connections.

use std::future::Future;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{any, get, post};
use holdpoint::cli::client::Client;
use holdpoint::cli::exit::{self, Exit};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Runs `check` against a server that answers with `router`.
async fn with_server<F: Future>(router: Router, check: impl FnOnce(Client) -> F) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::with_token(&url, Some("hp_person_test".into())).unwrap();
    tokio::select! {
        ended = axum::serve(listener, router) => panic!("the server ended: {ended:?}"),
        _ = check(client) => {}
    }
}

fn problem(status: u16, code: &str, detail: &str) -> impl IntoResponse + use<> {
    let body = json!({"type": "about:blank", "status": status, "code": code, "detail": detail});
    let status = StatusCode::from_u16(status).unwrap();
    let headers = [(header::CONTENT_TYPE, "application/problem+json"), (header::RETRY_AFTER, "7")];
    (status, headers, body.to_string())
}

#[tokio::test]
async fn refusals_say_what_to_do_and_end_with_their_code() {
    let router = Router::new()
        .route("/v1/holds", post(async || problem(422, "answer_invalid", "no\u{1b}pe")))
        .route("/expired", get(async || problem(410, "hold_expired", "it expired")))
        .route("/busy", get(async || problem(503, "unavailable", "the disk is full")))
        .route("/who", get(async || problem(401, "unauthenticated", "who are you?")));
    with_server(router, async |client: Client| {
        let error = client.post("/v1/holds", &json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), "no⟦U+001B⟧pe");
        let error = client.get("/expired").await.unwrap_err();
        assert_eq!(exit::of_error(&error), Exit::Expired);
        let error = client.get("/busy").await.unwrap_err();
        assert!(error.to_string().contains("the disk is full\n  → try again in 7 s"), "{error}");
        let error = client.get("/who").await.unwrap_err();
        assert!(error.to_string().contains("unknown, expired or revoked"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn a_stranger_is_recognised() {
    let router = Router::new()
        .route("/page", get(async || "<html>hello</html>"))
        .route("/gateway", get(async || (StatusCode::BAD_GATEWAY, "<h1>sorry</h1>")));
    with_server(router, async |client: Client| {
        let error = client.get("/page").await.unwrap_err();
        assert!(format!("{error:#}").contains("is this address really Holdpoint's?"), "{error:#}");
        let error = client.get("/gateway").await.unwrap_err();
        assert!(error.to_string().contains("status 502"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn the_token_goes_to_the_named_server_and_nowhere_else() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("http://{}/v1/me", elsewhere.local_addr().unwrap());
    let redirect = move || async move { (StatusCode::FOUND, [(header::LOCATION, target)], "") };
    with_server(Router::new().route("/v1/me", any(redirect)), async |client: Client| {
        let error = client.get("/v1/me").await.unwrap_err();
        assert!(error.to_string().contains("status 302"), "{error}");
    })
    .await;
    let nobody = tokio::time::timeout(std::time::Duration::from_millis(50), elsewhere.accept());
    assert!(nobody.await.is_err(), "the redirect was followed");
}

/// Reads one request up to its body and gives its head.
async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        let mut room = [0u8; 1024];
        let count = stream.read(&mut room).await.unwrap();
        assert!(count > 0, "the request broke off");
        bytes.extend_from_slice(&room[..count]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn key(head: &str) -> String {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("idempotency-key:"));
    line.expect("every POST has a key").to_owned()
}

#[tokio::test]
async fn a_lost_post_is_sent_again_under_the_same_key() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client =
        Client::with_token(&format!("http://{}", listener.local_addr().unwrap()), None).unwrap();
    let server = async {
        let (mut lost, _) = listener.accept().await.unwrap();
        let first = key(&head(&mut lost).await);
        drop(lost);
        let (mut kept, _) = listener.accept().await.unwrap();
        let second = key(&head(&mut kept).await);
        let reply = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\n{\"ok\":1}";
        kept.write_all(reply.as_bytes()).await.unwrap();
        (first, second)
    };
    let content = json!({"reason": "x"});
    let (reply, (first, second)) = tokio::join!(client.post("/v1/freeze", &content), server);
    assert_eq!(reply.unwrap(), json!({"ok": 1}));
    assert_eq!(first, second);
}

#[tokio::test]
async fn a_lost_delete_is_not_repeated() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client =
        Client::with_token(&format!("http://{}", listener.local_addr().unwrap()), None).unwrap();
    let server = async {
        let (mut lost, _) = listener.accept().await.unwrap();
        head(&mut lost).await;
    };
    let (reply, ()) = tokio::join!(client.delete("/v1/freeze"), server);
    let error = reply.unwrap_err();
    assert!(error.to_string().starts_with("cannot reach http://127.0.0.1:"), "{error}");
    let again = tokio::time::timeout(std::time::Duration::from_millis(50), listener.accept());
    assert!(again.await.is_err(), "it was sent twice");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_with_a_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Client::with_token(&url, None).unwrap().get("/v1/me").await.unwrap_err();
    assert!(error.to_string().contains("start a server with `holdpoint serve`"), "{error}");
    assert_eq!(exit::of_error(&error), Exit::Failed);
}
