//! Signed webhooks: the package `standardwebhooks` verifies what we sign, and signs what we take.

use std::sync::Arc;

use channels::webhook::{ChannelSettings, Webhook, WebhookSecret};
use ports::channel::{Channel as _, Destination, WebhookRequest};
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::asked::Asked;
use testkit::fake_chat::{self, Front, MovedClock, Platform, Reply};
use testkit::inbox::Notebook;

use crate::channels::judge::Judge;

const PYTHON: &str = "CHANNELS_WEBHOOK_PYTHON";
const OUT: &str = "whsec_b3V0Z29pbmcta2V5";
const IN: &str = "whsec_aW5jb21pbmcta2V5";

struct Receiver;

impl Platform for Receiver {
    fn answer(&self, _: &fake_chat::Asked) -> Reply {
        Reply::new(204, Value::Null)
    }
}

async fn connector() -> (Front<Receiver>, Webhook, Arc<MovedClock>) {
    let front = Front::start(Arc::new(Receiver)).await;
    let clock = MovedClock::new(1);
    let settings = ChannelSettings {
        name: "ci".into(),
        url: front.url(),
        secret: WebhookSecret::parse(OUT).expect("a secret"),
        inbound_secret: Some(WebhookSecret::parse(IN).expect("a secret")),
        speaks_for: ["ana-42".to_owned()].into(),
        allow_private_addresses: true,
    };
    let webhook = Webhook::new(settings, clock.clone()).expect("an address");
    (front, webhook, clock)
}

#[tokio::test]
async fn standardwebhooks_verifies_what_we_sign() {
    let (front, webhook, _) = connector().await;
    let place = Destination::Chat { chat: "确".into(), thread: None, direct: false };
    webhook.show(&place, &Asked::deletion().showing()).await.expect("shown");
    let told = front.asked().remove(0);
    let headers: Value = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .into_iter()
        .map(|name| (name.to_owned(), json!(told.header(name))))
        .collect();
    let body = String::from_utf8(told.body.to_vec()).expect("text");
    let mut judge = Judge::start("webhook", PYTHON, &["verify"]);
    let asked =
        |body: &str, secret: &str| json!({"secret": secret, "headers": headers, "body": body});
    let theirs = judge.ask(&asked(&body, OUT)).await;
    assert_eq!(theirs["taken"]["type"], "hold.opened", "{theirs}");
    for (body, secret) in [(body.as_str(), IN), ("{}", OUT)] {
        let theirs = judge.ask(&asked(body, secret)).await;
        assert!(theirs["refused"].is_string(), "{theirs}");
    }
}

#[tokio::test]
async fn what_standardwebhooks_signs_is_taken() {
    let (_front, webhook, clock) = connector().await;
    let inbox = Notebook::default();
    let asked = Asked::deletion();
    let body = json!({
        "hold": asked.hold.id.to_string(), "digest": asked.hold.digest().to_string(),
        "actor": {"id": "ana-42"}, "answer": {"verdict": "deny", "reason": "不行"},
    })
    .to_string();
    let mut judge = Judge::start("webhook", PYTHON, &["sign"]);
    let at = clock.now().as_ms() / 1000;
    for (secret, status) in [(IN, 403), (OUT, 401)] {
        let line = json!({"secret": secret, "id": "msg_7", "timestamp": at, "body": body});
        let signature = judge.ask(&line).await["signature"].as_str().expect("one").to_owned();
        let request = WebhookRequest {
            method: "POST".into(),
            path: "decisions".into(),
            query: None,
            headers: vec![
                ("webhook-id".into(), "msg_7".into()),
                ("webhook-timestamp".into(), at.to_string()),
                ("webhook-signature".into(), signature),
            ],
            body: body.clone().into_bytes(),
            at: clock.now(),
        };
        // The notebook rules that it is not theirs to make; it was heard all the same.
        assert_eq!(webhook.hook(request, &inbox).await.status, status);
    }
    assert_eq!(inbox.decisions().len(), 1);
}
