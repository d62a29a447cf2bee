//! The webhook.

use std::sync::Arc;

use channels::feishu::{Feishu, FeishuMode, FeishuSettings};
use domain::time::Timestamp;
use ports::channel::{Busy, Channel as _, HookReply, PressReply, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use testkit::fake_chat::{FakeInbox, MovedClock, approved, redraw};
use testkit::fake_feishu::{
    FakeFeishu, TENANT, VERIFICATION, envelope, message, press, sealed, signed,
};

use super::{connector, posted, settings};

const KEY: &str = "encrypt-key";

struct World {
    feishu: Arc<Feishu>,
    clock: Arc<MovedClock>,
    inbox: Arc<FakeInbox>,
    _fake: FakeFeishu,
}

impl World {
    async fn new(change: impl FnOnce(&mut FeishuSettings)) -> World {
        let fake = FakeFeishu::start().await;
        let mut settings = settings(&fake);
        settings.mode = FeishuMode::Webhook;
        settings.verification_token = Some(SecretString::new(VERIFICATION));
        settings.encrypt_key = Some(SecretString::new(KEY));
        settings.tenant_key = Some(TENANT.into());
        change(&mut settings);
        let (feishu, clock) = connector(settings);
        World { feishu, clock, inbox: FakeInbox::new(), _fake: fake }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn post(&self, body: &str, headers: Vec<(String, String)>) -> (u16, Value) {
        self.ask("POST", "events", body, headers).await
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        body: &str,
        headers: Vec<(String, String)>,
    ) -> (u16, Value) {
        let request = WebhookRequest {
            method: method.into(),
            path: path.into(),
            query: None,
            headers,
            body: body.as_bytes().to_vec(),
            at: self.now(),
        };
        let HookReply { status, content_type, body } =
            self.feishu.hook(request, &*self.inbox).await;
        assert_eq!(content_type, "application/json");
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    /// As the platform sends it now.
    async fn event(&self, content: &Value, nonce: &str) -> (u16, Value) {
        let body = sealed(content, KEY);
        self.post(&body, signed(&body, KEY, self.now().as_ms() / 1000, nonce)).await
    }
}

#[tokio::test]
async fn the_challenge_is_answered_signed_or_not() {
    let world = World::new(|_| {}).await;
    let challenge = json!({"type": "url_verification", "challenge": "c9", "token": VERIFICATION});
    let body = sealed(&challenge, KEY);
    assert_eq!(world.post(&body, Vec::new()).await, (200, json!({"challenge": "c9"})));
    let foreign = json!({"type": "url_verification", "challenge": "c9", "token": "another"});
    assert_eq!(world.post(&sealed(&foreign, KEY), Vec::new()).await.0, 401);
    assert_eq!(world.post(&challenge.to_string(), Vec::new()).await.0, 401, "in the clear");
}

#[tokio::test]
async fn a_message_and_a_press_reach_the_inbox() {
    let world = World::new(|_| {}).await;
    let event = message("om_5", "确认", world.now());
    assert_eq!(world.event(&event, "n1").await, (200, json!({})));
    let wrote = &world.inbox.wrote_all()[0];
    assert_eq!((wrote.text.as_str(), wrote.mentions_us), ("@_user_1 确认", true));
    assert_eq!(wrote.event, "feishu:message:om_5");

    world.inbox.tell(Ok(PressReply::Taken(redraw(approved(), posted("om_1")))));
    let (status, reply) = world.event(&press("e7", "om_1", "a"), "n2").await;
    assert_eq!(status, 200);
    assert_eq!(reply["toast"]["type"], "success");
    assert_eq!(reply["toast"]["content"], reply["toast"]["i18n"]["zh_cn"]);
    assert!(reply["toast"]["i18n"]["en_us"].is_string());
    assert_eq!(reply["card"]["type"], "raw");
    let card = reply["card"]["data"].clone();
    assert_eq!(testkit::fake_feishu::problem(&card), None);
    assert!(card.to_string().contains("Ana 已批准") && !card.to_string().contains("callback"));
    let pressed = &world.inbox.presses()[0];
    assert_eq!(pressed.operator.as_ref().expect("somebody").identity, "ou_ana");
    assert_eq!((pressed.chat.as_str(), pressed.message.as_str()), ("oc_1", "om_1"));
}

#[tokio::test]
async fn a_refusal_changes_nothing_public() {
    let world = World::new(|_| {}).await;
    for (nonce, told, kind) in [
        ("n1", Ok(PressReply::NotEntitled), "error"),
        ("n2", Ok(PressReply::NotHere), "error"),
        ("n3", Ok(PressReply::Invalid("count: a number".into())), "warning"),
        ("n4", Err(Busy), "error"),
    ] {
        world.inbox.tell(told);
        let (status, reply) = world.event(&press(nonce, "om_1", "a"), nonce).await;
        assert_eq!((status, &reply["toast"]["type"]), (200, &json!(kind)));
        assert_eq!(reply.as_object().expect("an object").len(), 1, "only a toast: {reply}");
    }
    let (status, reply) = world.event(&press("e9", "om_1", "zzz"), "n5").await;
    assert_eq!((status, &reply["toast"]["type"]), (200, &json!("error")), "not a button of ours");
    assert_eq!(world.inbox.presses().len(), 4);
}

#[tokio::test]
async fn whoever_comes_late_is_told_who_decided() {
    let world = World::new(|_| {}).await;
    world.inbox.tell(Ok(PressReply::Already(redraw(approved(), posted("om_1")))));
    let (_, reply) = world.event(&press("e1", "om_1", "d"), "n1").await;
    let toast = reply["toast"]["i18n"]["en_us"].as_str().expect("a text");
    assert!(toast.contains("approved by Ana"), "{toast}");
}

#[tokio::test]
async fn i34_what_is_not_certainly_theirs_is_refused() {
    let world = World::new(|_| {}).await;
    let now = world.now().as_ms() / 1000;
    let event = message("om_5", "确认", world.now());
    let body = sealed(&event, KEY);
    let good = signed(&body, KEY, now, "n1");

    assert_eq!(world.post(&event.to_string(), good.clone()).await.0, 401, "in the clear");
    assert_eq!(world.post(&body, Vec::new()).await.0, 401, "unsigned");
    assert_eq!(world.post(&body, good[..2].to_vec()).await.0, 401, "without the signature");
    let mut twice = good.clone();
    twice.push(twice[2].clone());
    assert_eq!(world.post(&body, twice).await.0, 401, "of two signatures none counts");
    assert_eq!(world.post(&body, signed(&body, "another-key", now, "n1")).await.0, 401);
    assert_eq!(world.post(&body, signed(&body, KEY, now - 301, "n1")).await.0, 401, "old");
    assert_eq!(world.post(&body, signed(&body, KEY, now + 310, "n1")).await.0, 401, "of tomorrow");
    let tampered = body.replacen("encrypt\":\"B", "encrypt\":\"C", 1);
    assert_ne!(tampered, body);
    assert_eq!(world.post(&tampered, good.clone()).await.0, 401, "tampered with");
    let foreign = sealed(&event, "another-key");
    assert_eq!(world.post(&foreign, signed(&foreign, KEY, now, "n2")).await.0, 401);
    for key in ["app_id", "token", "tenant_key"] {
        let mut other = event.clone();
        other["header"][key] = "another".into();
        assert_eq!(world.event(&other, key).await.0, 401, "another {key}");
    }
    let large = " ".repeat((1 << 20) + 1);
    assert_eq!(world.post(&large, signed(&large, KEY, now, "n3")).await.0, 413);
    assert_eq!(world.post("[", signed("[", KEY, now, "n4")).await.0, 400);
    assert_eq!(world.inbox.wrote_all().len(), 0);

    assert_eq!(world.post(&body, good.clone()).await.0, 200);
    assert_eq!(world.post(&body, good.clone()).await.0, 401, "replayed");
    assert_eq!(world.inbox.wrote_all().len(), 1);
}

#[tokio::test]
async fn what_could_not_be_written_down_may_come_again() {
    let world = World::new(|_| {}).await;
    world.inbox.be_busy(1);
    let body = sealed(&message("om_5", "确认", world.now()), KEY);
    let headers = signed(&body, KEY, world.now().as_ms() / 1000, "n1");
    assert_eq!(world.post(&body, headers.clone()).await.0, 503);
    assert_eq!(world.post(&body, headers).await, (200, json!({})));
    assert_eq!(world.inbox.wrote_all().len(), 1);
}

#[tokio::test]
async fn unknown_events_are_taken_and_left_alone() {
    let world = World::new(|_| {}).await;
    let event = envelope("e1", "im.chat.disbanded_v1", json!({"chat_id": "oc_1"}));
    assert_eq!(world.event(&event, "n1").await, (200, json!({})));
    let mut bot = message("om_6", "确认", world.now());
    bot["event"]["sender"]["sender_type"] = "app".into();
    assert_eq!(world.event(&bot, "n2").await, (200, json!({})));
    assert!(world.inbox.wrote_all().is_empty() && world.inbox.presses().is_empty());
}

#[tokio::test]
async fn another_place_or_method_is_not_the_webhook() {
    let world = World::new(|_| {}).await;
    assert_eq!(world.ask("GET", "events", "", Vec::new()).await.0, 405);
    assert_eq!(world.ask("POST", "other", "", Vec::new()).await.0, 404);
}

#[tokio::test]
async fn without_a_verification_token_nothing_is_taken() {
    let world = World::new(|settings| {
        settings.verification_token = None;
        settings.encrypt_key = None;
    })
    .await;
    let mut event = message("om_5", "确认", world.now());
    event["header"]["token"] = "".into();
    assert_eq!(world.post(&event.to_string(), Vec::new()).await.0, 401);
}
