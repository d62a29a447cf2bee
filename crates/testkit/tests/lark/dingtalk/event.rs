//! Events of the organisation over HTTP.

use std::sync::Arc;

use channels::dingtalk::{Beside, DingTalkEnvelope, DingTalkMode, Dingtalk, Webhook};
use ports::channel::{Channel as _, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, MovedClock};
use testkit::fake_dingtalk::{CLIENT_ID, FakeDingtalk};

use super::{connector, settings};

const TOKEN: &str = "event-token";
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

struct World {
    dingtalk: Arc<Dingtalk>,
    clock: Arc<MovedClock>,
    inbox: Arc<FakeInbox>,
    _fake: FakeDingtalk,
}

fn envelope(receiver: &str) -> DingTalkEnvelope {
    DingTalkEnvelope::new(TOKEN, KEY, receiver).expect("a key")
}

impl World {
    async fn new(events: Option<DingTalkEnvelope>) -> World {
        let fake = FakeDingtalk::start().await;
        let mut settings = settings(&fake);
        settings.mode = DingTalkMode::Webhook(Webhook {
            path_secret: SecretString::new("path-secret"),
            card_secret: None,
            card_route: None,
            events,
            allow_from: Vec::new(),
        });
        let (dingtalk, clock) = connector(settings, 1);
        World { dingtalk, clock, inbox: FakeInbox::new(), _fake: fake }
    }

    async fn post(&self, query: &str, body: &str) -> (u16, Value) {
        let request = WebhookRequest {
            method: "POST".into(),
            path: "event/path-secret".into(),
            query: Some(query.into()),
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
            at: self.clock.now(),
        };
        let reply = self.dingtalk.hook(request, &*self.inbox).await;
        (reply.status, serde_json::from_slice(&reply.body).expect("JSON"))
    }

    /// As the platform seals it, at this time.
    fn sealed(&self, by: &DingTalkEnvelope, event: &Value, at: i64) -> (String, String) {
        let at = at.to_string();
        let (encrypt, signature) = by.seal(event.to_string().as_bytes(), &at, "nonce1", [9; 16]);
        let query = format!("signature={signature}&timestamp={at}&nonce=nonce1");
        (query, json!({"encrypt": encrypt}).to_string())
    }
}

#[tokio::test]
async fn the_test_of_the_console_and_every_event_are_acknowledged() {
    let world = World::new(Some(envelope(CLIENT_ID))).await;
    let now = world.clock.now().as_ms();
    for event in [
        json!({"EventType": "check_url"}),
        json!({"EventType": "user_leave_org", "UserId": ["u1"], "CorpId": "corp1"}),
        json!({"EventType": "nobody_knows_this"}),
        json!({}),
    ] {
        let (query, body) = world.sealed(&envelope(CLIENT_ID), &event, now);
        for query in [query.clone(), query.replace("signature=", "msg_signature=")] {
            let (status, told) = world.post(&query, &body).await;
            assert_eq!(status, 200, "{event}");
            let text = |key: &str| told[key].as_str().expect("a text");
            let beside = Beside {
                timestamp: text("timeStamp"),
                nonce: text("nonce"),
                signature: text("msg_signature"),
            };
            let opened =
                envelope(CLIENT_ID).open(text("encrypt"), beside, world.clock.now()).expect("ours");
            assert_eq!(opened, b"success");
        }
    }
    assert!(world.inbox.wrote_all().is_empty() && world.inbox.presses().is_empty());
}

#[tokio::test]
async fn i34_what_is_not_certainly_theirs_is_refused() {
    let world = World::new(Some(envelope(CLIENT_ID))).await;
    let now = world.clock.now().as_ms();
    let event = json!({"EventType": "check_url"});
    let (query, body) = world.sealed(&envelope(CLIENT_ID), &event, now);
    let (_, other) = world.sealed(&envelope(CLIENT_ID), &json!({"EventType": "x"}), now);
    let (stale, old) = world.sealed(&envelope(CLIENT_ID), &event, now - 301_000);
    let (foreign, foreigner) = world.sealed(&envelope("another-app"), &event, now);
    let large = format!("{{\"encrypt\":\"{}\"}}", "A".repeat(1 << 20));
    for (query, body, wanted) in [
        ("", body.as_str(), 401),
        (&query.replace("nonce1", "nonce2"), &body, 401),
        (&query, &other, 401),
        (&stale, &old, 401),
        (&foreign, &foreigner, 401),
        (&query, r#"{"EventType":"check_url"}"#, 401),
        (&query, "not JSON", 400),
        (&query, &large, 413),
    ] {
        assert_eq!(
            world.post(query, body).await.0,
            wanted,
            "{query} {}",
            &body[..body.len().min(80)]
        );
    }
    let deaf = World::new(None).await;
    let (query, body) = deaf.sealed(&envelope(CLIENT_ID), &event, now);
    assert_eq!(deaf.post(&query, &body).await.0, 404, "nobody subscribed to anything");
}
