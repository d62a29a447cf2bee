//! Bounds.

use std::time::Duration;

use holdpoint_server::HttpLimits;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Plan, planned, read, world};

fn limited(limits: HttpLimits) -> Plan {
    Plan { limits, ..Plan::default() }
}

#[tokio::test]
async fn i41_what_is_too_large_is_refused() {
    let world = planned(limited(HttpLimits { body_bytes: 1000, ..HttpLimits::default() })).await;
    let body = json!({"agent": "ops", "title": "x".repeat(1000)});
    let (status, problem) = world.post("bob", "/v1/sessions", body).await;
    assert_eq!((status, &problem["code"]), (413, &json!("too_large")));
    // The same without a length: it is found out on the way.
    let chunks = (0..100).map(|_| Ok::<_, std::io::Error>("x".repeat(100)));
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    let request = world.request("bob", Method::POST, "/v1/sessions").body(body);
    let (status, problem) = read(request.send().await.expect("a reply")).await;
    assert_eq!((status, &problem["code"]), (413, &json!("too_large")));
    assert_eq!(world.post("", "/v1/sessions", json!({})).await.0, 401, "nobody is not even read");
}

#[tokio::test]
async fn i41_more_at_once_than_there_is_room_for_is_told_to_come_again() {
    let none = HttpLimits { requests_at_once: 0, ..HttpLimits::default() };
    let world = planned(limited(none)).await;
    for path in ["/v1/me", "/healthz"] {
        let reply = world.request("bob", Method::GET, path).send().await.expect("a reply");
        assert_eq!(reply.status(), 503, "{path}");
        assert!(reply.headers().contains_key("retry-after"));
        assert_eq!(reply.headers()["x-content-type-options"], "nosniff");
    }
}

/// I-41: nobody's head is read without end.
#[tokio::test]
async fn i41_a_head_that_is_too_long_is_refused() {
    let world = world().await;
    let long = world.request("bob", Method::GET, "/v1/me").header("x-long", "y".repeat(256 << 10));
    let refused = long.send().await;
    assert!(refused.is_err() || refused.is_ok_and(|reply| reply.status() == 431));
    assert_eq!(world.get("bob", "/v1/me").await.0, 200);
}

#[tokio::test]
async fn i41_arguments_have_a_size_of_their_own() {
    let world = world().await;
    let call = json!({"tool": "wipe", "arguments": {"x": "y".repeat(1 << 20)}});
    let (status, problem) = world
        .post("gate", "/v1/holds", json!({"kind": "approve", "title": "x", "call": call}))
        .await;
    assert_eq!((status, &problem["code"]), (413, &json!("too_large")));
}

#[tokio::test]
async fn i41_a_noisy_caller_is_told_to_wait_and_another_is_not() {
    let limits =
        HttpLimits { requests_per_second: Some(1), request_burst: 5, ..HttpLimits::default() };
    let world = planned(limited(limits)).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        let reply = world.request("bob", Method::GET, "/v1/me").send().await.expect("a reply");
        if reply.status() == 429 {
            assert!(reply.headers().contains_key("retry-after"));
        }
        statuses.push(reply.status().as_u16());
    }
    assert_eq!(statuses[..5], [200; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(world.get("dan", "/v1/me").await.0, 200);
}

#[tokio::test]
async fn i41_event_streams_are_bounded_and_places_come_back() {
    let limits = HttpLimits { streams: 3, streams_per_caller: 2, ..HttpLimits::default() };
    let world = planned(limited(limits)).await;
    let follow = |who: &'static str| world.request(who, Method::GET, "/v1/events").send();
    let first = follow("bob").await.expect("a reply");
    let second = follow("bob").await.expect("a reply");
    assert_eq!(
        (first.status(), second.status()),
        (reqwest::StatusCode::OK, reqwest::StatusCode::OK)
    );
    let (status, problem) = read(follow("bob").await.expect("a reply")).await;
    assert_eq!((status, &problem["code"]), (429, &json!("too_many")));
    drop((first, second));
    for _ in 0..200 {
        if follow("bob").await.expect("a reply").status() == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the places never came back");
}

#[tokio::test]
async fn a_slow_head_or_body_is_not_waited_for() {
    let limits = HttpLimits {
        header_timeout: Duration::from_millis(200),
        body_timeout: Duration::from_millis(200),
        ..HttpLimits::default()
    };
    let world = planned(limited(limits)).await;
    // Also of whom nobody can tell yet which protocol they speak.
    for begin in ["GET /healthz HTT", "", "PRI * HTTP/2.0\r\n"] {
        let mut stream = TcpStream::connect(world.address).await.expect("a connection");
        stream.write_all(begin.as_bytes()).await.expect("sent");
        let mut reply = Vec::new();
        tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut reply))
            .await
            .unwrap_or_else(|_| panic!("`{begin}` is waited for"))
            .expect("read");
    }
    // Who has asked may go on a little later.
    let mut kept = TcpStream::connect(world.address).await.expect("a connection");
    for _ in 0..3 {
        kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        let read = kept.read(&mut [0; 2048]).await.expect("a reply");
        assert!(read > 0, "it is still there");
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
    let mut stream = TcpStream::connect(world.address).await.expect("a connection");
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 20\r\n\r\n{{",
        world.token("bob")
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut reply = [0; 512];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut reply))
        .await
        .expect("a reply");
    let reply = String::from_utf8_lossy(&reply[..read.expect("read")]).into_owned();
    assert!(reply.starts_with("HTTP/1.1 400"), "{reply}");
}

#[tokio::test]
async fn i41_whoever_sends_all_of_a_large_body_first_still_gets_the_reply() {
    let world = world().await;
    let body = vec![b' '; 20 << 20];
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        world.token("bob"),
        body.len()
    );
    let mut stream = TcpStream::connect(world.address).await.expect("a connection");
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream.write_all(&body).await.expect("all of it is taken");
    let mut reply = [0; 512];
    let read = stream.read(&mut reply).await.expect("a reply");
    let reply = String::from_utf8_lossy(&reply[..read]).into_owned();
    assert!(reply.starts_with("HTTP/1.1 413"), "{reply}");
}

#[tokio::test]
async fn an_address_in_use_is_an_error_that_says_what_to_do() {
    let world = world().await;
    let setup = holdpoint_server::ServerSetup {
        engine: world.engine.clone(),
        listen: world.address,
        public_url: None,
        tls: None,
        trusts: None,
        demo: None,
        warnings: Vec::new(),
        limits: HttpLimits::default(),
        audit: None,
        doors: Vec::new(),
        words: Default::default(),
    };
    let error = holdpoint_server::bind(setup).await.err().expect("in use").to_string();
    assert!(error.contains("is in use") && error.contains("--listen"), "{error}");
}
