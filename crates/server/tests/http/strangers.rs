//! Strangers who send slowly, over real connections: whoever has a token does not notice.

use std::time::Duration;

use holdpoint_server::HttpLimits;
use reqwest::{Client, Method};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Plan, World, planned, read};

const STRANGERS: usize = 200;

/// Fewer places than strangers, of every kind.
fn small() -> HttpLimits {
    HttpLimits { connections: 64, requests_at_once: 32, ..HttpLimits::default() }
}

/// The head of a request and the first bytes of a body that never ends.
async fn slow(world: &World, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(world.address).await.expect("a connection");
    let begun = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\
         content-type: application/x-www-form-urlencoded\r\n\r\ncode="
    );
    stream.write_all(begun.as_bytes()).await.expect("sent");
    stream
}

/// Every request on a connection of its own, as of people who come now.
fn fresh() -> Client {
    Client::builder()
        .pool_max_idle_per_host(0)
        .timeout(Duration::from_secs(10))
        .build()
        .expect("a client")
}

async fn asked(world: &World, client: &Client, who: &str, method: Method, path: &str) -> u16 {
    let request = client.request(method.clone(), world.url(path)).bearer_auth(world.token(who));
    let request =
        if method == Method::POST { request.json(&json!({"reason": "x"})) } else { request };
    read(request.send().await.expect("a reply")).await.0
}

#[tokio::test]
async fn i50_slow_bodies_of_strangers_keep_nobody_with_a_token_waiting() {
    let world = planned(Plan { limits: small(), ..Plan::default() }).await;
    let client = fresh();
    let mut strangers = Vec::new();
    for number in 0..STRANGERS {
        strangers.push(slow(&world, "/login").await);
        if number % 10 == 0 {
            assert_eq!(asked(&world, &client, "bob", Method::GET, "/v1/me").await, 200, "{number}");
        }
    }
    for _ in 0..10 {
        assert_eq!(asked(&world, &client, "bob", Method::GET, "/v1/me").await, 200);
    }
    // Somebody logs in meanwhile: the newest stranger finds a place.
    let (cookie, _) = world.log_in("dan").await;
    assert!(!cookie.is_empty());
    assert_eq!(asked(&world, &client, "ana", Method::POST, "/v1/freeze").await, 200);
    // Most of them have lost their connection for another's sake.
    for stranger in strangers.iter_mut().take(STRANGERS - 64) {
        let mut reply = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(20), stranger.read_to_end(&mut reply));
        assert!(ended.await.is_ok(), "it still has its place");
    }
}

#[tokio::test]
async fn i50_a_freeze_finds_a_place_when_callers_have_taken_all() {
    let world = planned(Plan { limits: small(), ..Plan::default() }).await;
    let client = fresh();
    // A program's slow bodies take every place of known callers.
    let mut slow = Vec::new();
    for _ in 0..48 {
        let mut stream = TcpStream::connect(world.address).await.expect("a connection");
        let begun = format!(
            "POST /v1/holds HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
             content-length: 1000\r\ncontent-type: application/json\r\n\r\n{{",
            world.token("bot")
        );
        stream.write_all(begun.as_bytes()).await.expect("sent");
        slow.push(stream);
    }
    let mut full = false;
    for _ in 0..1000 {
        full = asked(&world, &client, "bob", Method::GET, "/v1/me").await == 503;
        if full {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(full, "all places are taken");
    assert_eq!(asked(&world, &client, "ana", Method::POST, "/v1/freeze").await, 200);
    assert_eq!(asked(&world, &client, "ana", Method::DELETE, "/v1/freeze").await, 200);
}

#[tokio::test]
async fn i50_a_strangers_body_has_a_short_time() {
    let limits = HttpLimits {
        stranger_body_timeout: Duration::from_millis(200),
        body_timeout: Duration::from_secs(600),
        ..HttpLimits::default()
    };
    let world = planned(Plan { limits, ..Plan::default() }).await;
    let mut stranger = slow(&world, "/login").await;
    let mut reply = vec![0; 64];
    let read = tokio::time::timeout(Duration::from_secs(10), stranger.read(&mut reply));
    let length = read.await.expect("a reply in time").expect("a reply");
    let reply = String::from_utf8_lossy(&reply[..length]).into_owned();
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
}

/// A connection from another address of this machine.
async fn connected_from(world: &World, last: u8) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, last], 0).into()).expect("an address");
    socket.connect(world.address).await.expect("a connection")
}

#[tokio::test]
async fn i50_connections_that_come_again_and_again_do_not_close_anothers() {
    let world = planned(Plan { limits: small(), ..Plan::default() }).await;
    // Connected, and slow to ask: the oldest of all.
    let mut caller = connected_from(&world, 3).await;
    let mut churned = Vec::new();
    for number in 0..STRANGERS {
        let mut stranger = connected_from(&world, 2).await;
        // A reply shows that the server has taken the connection, and the caller's before it.
        stranger.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sent");
        assert_ne!(stranger.read(&mut [0; 256]).await.expect("a reply"), 0, "{number}");
        churned.push(stranger);
    }
    let asked = format!(
        "GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        world.token("bob")
    );
    caller.write_all(asked.as_bytes()).await.expect("sent");
    let mut reply = String::new();
    caller.read_to_string(&mut reply).await.expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
}
