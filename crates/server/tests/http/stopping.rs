//! How the server ends, whatever its callers speak.

use std::time::Duration;

use holdpoint_server::HttpLimits;
use reqwest::{Certificate, Client, RequestBuilder, Version};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::tls::{certificate, tls};
use crate::world::{Plan, World, planned, text, world};

/// Somebody who is connected in one of the ways there are.
struct Connected {
    world: World,
    client: Client,
    scheme: &'static str,
    version: Version,
}

impl Connected {
    async fn plainly() -> Connected {
        let (world, client) = (world().await, Client::new());
        Connected { world, client, scheme: "http", version: Version::HTTP_11 }
    }

    async fn by_http2() -> Connected {
        let client = Client::builder().http2_prior_knowledge().build().expect("a client");
        Connected { world: world().await, client, scheme: "http", version: Version::HTTP_2 }
    }

    async fn under_tls(version: Version) -> Connected {
        let (certificate, key) = certificate();
        let world = planned(Plan { tls: Some(tls(&certificate, &key)), ..Plan::default() }).await;
        let known = Certificate::from_der(&certificate).expect("a certificate");
        let client = Client::builder().tls_certs_only([known]);
        // Both know HTTP/2, and would speak it.
        let client = if version == Version::HTTP_11 { client.http1_only() } else { client };
        Connected { world, client: client.build().expect("a client"), scheme: "https", version }
    }

    fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.world.address)
    }

    fn get(&self, who: &str, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).bearer_auth(self.world.token(who))
    }

    async fn open_hold(&self) -> String {
        let body = json!({"kind": "choose", "title": "x", "options": ["a"]});
        let request = self.client.post(self.url("/v1/holds")).bearer_auth(self.world.token("gate"));
        let reply = request.json(&body).send().await.expect("a reply");
        assert_eq!((reply.status().as_u16(), reply.version()), (201, self.version));
        text(&reply.json::<Value>().await.expect("json"), "id")
    }
}

#[tokio::test]
async fn stopping_ends_streams_and_lets_requests_end() {
    let ways = [
        Connected::plainly().await,
        Connected::by_http2().await,
        Connected::under_tls(Version::HTTP_11).await,
        Connected::under_tls(Version::HTTP_2).await,
    ];
    for way in ways {
        ends(way).await;
    }
}

async fn ends(way: Connected) {
    let hold = way.open_hold().await;
    let stream = way.get("bob", "/v1/events").send().await.expect("a reply");
    let wait = way.get("gate", &format!("/v1/holds/{hold}/wait?timeout_s=60"));
    let (waited, ended, ()) = tokio::join!(
        async { wait.send().await.expect("a reply").status().as_u16() },
        async {
            tokio::time::timeout(Duration::from_secs(5), stream.bytes())
                .await
                .expect("it ends")
                .is_ok()
        },
        async {
            // Until the long poll is there, which nobody is told.
            tokio::time::sleep(Duration::from_millis(500)).await;
            way.world.stop();
        }
    );
    assert_eq!((waited, ended), (503, true), "{} {:?}", way.scheme, way.version);
    // Sooner than connections are cut: each was told, and nothing was left on it.
    let stopped = tokio::time::timeout(Duration::from_secs(5), way.world.stopped());
    assert!(stopped.await.is_ok(), "{} {:?}: it still runs", way.scheme, way.version);
    assert!(TcpStream::connect(way.world.address).await.is_err(), "it still listens");
}

/// How long it takes until nothing comes any more.
async fn silence(mut stream: TcpStream) -> Duration {
    let begun = tokio::time::Instant::now();
    let mut rest = Vec::new();
    let end = stream.read_to_end(&mut rest);
    // Cut off in the middle or not: it is over.
    let _ = tokio::time::timeout(Duration::from_secs(8), end).await.expect("it ends");
    begun.elapsed()
}

#[tokio::test]
async fn stopping_waits_for_what_is_under_way_and_for_nothing_else() {
    let grace = Duration::from_secs(2);
    let limits = HttpLimits { closing_grace: grace, ..HttpLimits::default() };
    let world = planned(Plan { limits, ..Plan::default() }).await;
    let mut idle = TcpStream::connect(world.address).await.expect("a connection");
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert!(idle.read(&mut [0; 512]).await.expect("a reply") > 0);
    let silent = TcpStream::connect(world.address).await.expect("a connection");
    let mut slow = TcpStream::connect(world.address).await.expect("a connection");
    let head = format!(
        "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 20\r\n\r\n{{",
        world.token("bob")
    );
    slow.write_all(head.as_bytes()).await.expect("sent");
    // So that all of them have been accepted and read.
    assert_eq!(world.get("", "/healthz").await.0, 200);
    world.stop();
    let (idle, silent, slow) = tokio::join!(silence(idle), silence(silent), silence(slow));
    assert!(idle < grace && silent < grace, "{idle:?} {silent:?}");
    assert!(slow >= grace - Duration::from_millis(100), "{slow:?}");
}
