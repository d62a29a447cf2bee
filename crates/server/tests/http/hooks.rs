//! Requests of chat platforms: handed on to the byte, and bounded.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use holdpoint_server::Hooks;
use ports::channel::{HookReply, WebhookRequest};
use reqwest::Method;

use crate::world::{Plan, planned, world};

/// Keeps what comes, and says what it is told to.
#[derive(Default)]
struct Platform(Mutex<Vec<WebhookRequest>>);

impl Hooks for Platform {
    fn hook<'a>(
        &'a self,
        channel: &'a str,
        request: WebhookRequest,
    ) -> BoxFuture<'a, Option<HookReply>> {
        Box::pin(async move {
            self.0.lock().unwrap().push(request);
            (channel == "slack").then(|| HookReply {
                status: 202,
                content_type: "text/plain; charset=utf-8",
                body: b"thanks".to_vec(),
            })
        })
    }
}

#[tokio::test]
async fn i34_a_channel_gets_the_raw_bytes_and_answers_itself() {
    let platform = Arc::new(Platform::default());
    let world = planned(Plan { hooks: Some(platform.clone()), ..Plan::default() }).await;
    let body: Vec<u8> = (0..=255).collect();
    let reply = world
        .request("", Method::POST, "/channels/slack/events/more?a=1&b=%20")
        .header("X-Slack-Signature", "v0=1")
        .body(body.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(
        (reply.status().as_u16(), reply.headers()["content-type"].to_str().unwrap()),
        (202, "text/plain; charset=utf-8")
    );
    assert_eq!(reply.text().await.unwrap(), "thanks");
    let hooked = platform.0.lock().unwrap().pop().unwrap();
    assert_eq!((hooked.method.as_str(), hooked.path.as_str()), ("POST", "events/more"));
    assert_eq!((hooked.query.as_deref(), &hooked.body), (Some("a=1&b=%20"), &body));
    assert!(hooked.headers.contains(&("x-slack-signature".into(), "v0=1".into())));
    assert_eq!(hooked.peer(), Some("127.0.0.1".parse().unwrap()), "who connected");
    // Whether a method makes sense is the channel's business, too.
    let got = world.request("", Method::GET, "/channels/slack/events").send().await.unwrap();
    assert_eq!(got.status(), 202);
    let nowhere = world.request("", Method::POST, "/channels/fax/events").send().await.unwrap();
    assert_eq!(nowhere.status(), 404);
}

#[tokio::test]
async fn i41_what_strangers_send_is_bounded() {
    let platform = Arc::new(Platform::default());
    let world = planned(Plan { hooks: Some(platform.clone()), ..Plan::default() }).await;
    let post =
        |body: Vec<u8>| world.request("", Method::POST, "/channels/slack/e").body(body).send();
    assert_eq!(post(vec![b'a'; 1 << 20]).await.unwrap().status(), 202);
    assert_eq!(post(vec![b'a'; (1 << 20) + 1]).await.unwrap().status(), 413);
    let mut sent = 0;
    while post(Vec::new()).await.unwrap().status() != 429 {
        sent += 1;
        assert!(sent < 20_000, "somebody who floods is asked to come back");
    }
    assert!(sent >= 900, "and not before: {sent}");
    let alive = world.request("", Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(alive.status(), 200, "and nobody else is");
}

#[tokio::test]
async fn without_channels_there_is_no_such_address() {
    let world = world().await;
    let reply = world.request("", Method::POST, "/channels/slack/events").send().await.unwrap();
    assert_eq!(reply.status(), 404);
}
