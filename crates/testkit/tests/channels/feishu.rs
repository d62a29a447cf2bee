//! Feishu: `lark-oapi` verifies what we verify, sends what we send, and connects to the fake that our
//! connector connects to.

use std::sync::Arc;

use channels::feishu::{Feishu, FeishuMode, FeishuSettings};
use ports::channel::{Channel as _, Destination, MessageRef, OutgoingText, WebhookRequest};
use ports::clock::Clock as _;
use ports::secret_string::SecretString;
use serde_json::{Map, Value, json};
use testkit::fake_chat::{Asked, FakeInbox, MovedClock, NoRandomness, approved, hold, prompt};
use testkit::fake_feishu::{
    APP_ID, APP_SECRET, FakeFeishu, VERIFICATION, message, press, sealed, signed,
};

use crate::channels::judge::Judge;

const PYTHON: &str = "CHANNELS_FEISHU_PYTHON";
pub(crate) const KEY: &str = "encrypt-key";

pub(crate) fn connector(fake: &FakeFeishu, mode: FeishuMode) -> (Feishu, Arc<MovedClock>) {
    let url = fake.url().parse().expect("a URL");
    let mut settings = FeishuSettings::new("feishu", APP_ID, SecretString::new(APP_SECRET), url);
    settings.mode = mode;
    settings.verification_token = Some(SecretString::new(VERIFICATION));
    settings.encrypt_key = Some(SecretString::new(KEY));
    let clock = MovedClock::new(1);
    (Feishu::new(settings, clock.clone(), Arc::new(NoRandomness)), clock)
}

type Headers = Vec<(String, String)>;

#[tokio::test]
async fn feishu_sdk_takes_and_refuses_the_same_webhooks() {
    let fake = FakeFeishu::start().await;
    let (feishu, clock) = connector(&fake, FeishuMode::Webhook);
    let now = clock.now().as_ms() / 1000;
    let event = message("om_5", "确认 <é>", clock.now());
    let click = press("e7", "om_1", "a");
    let challenge = json!({"type": "url_verification", "challenge": "c9", "token": VERIFICATION});
    let mut foreign = event.clone();
    foreign["header"]["token"] = "another".into();
    let body = |content: &Value| sealed(content, KEY);
    let sign = |body: &str, at: i64, nonce: &str| signed(body, KEY, at, nonce);
    // What it is, the request, whether both take it, and whether only we are stricter.
    let cases: Vec<(&str, String, Headers, bool, bool)> = vec![
        ("event", body(&event), sign(&body(&event), now, "n1"), true, false),
        ("press", body(&click), sign(&body(&click), now, "n2"), true, false),
        ("challenge", body(&challenge), Vec::new(), true, false),
        ("bad signature", body(&event), sign("another body", now, "n3"), false, false),
        (
            "wrong key",
            sealed(&event, "another"),
            sign(&sealed(&event, "another"), now, "n4"),
            false,
            false,
        ),
        ("foreign", body(&foreign), sign(&body(&foreign), now, "n5"), false, false),
        ("stale", body(&event), sign(&body(&event), now - 400, "n6"), true, true),
        ("replayed", body(&event), sign(&body(&event), now, "n1"), true, true),
        ("in the clear", event.to_string(), sign(&event.to_string(), now, "n7"), true, true),
    ];
    let mut judge = Judge::start("feishu", PYTHON, &["verify"]);
    let inbox = FakeInbox::new();
    for (what, body, headers, taken, stricter) in cases {
        let named: Map<String, Value> =
            headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let asked = json!({"headers": named, "body": body, "key": KEY, "token": VERIFICATION});
        let theirs = judge.ask(&asked).await;
        assert_eq!(theirs["status"] == 200, taken, "{what}: the SDK says {theirs}");
        if what == "event" {
            let heard = json!([{"kind": "message", "text": "@_user_1 确认 <é>", "by": "ou_ana"}]);
            assert_eq!(theirs["heard"], heard);
        }
        let request = WebhookRequest {
            method: "POST".into(),
            path: "events".into(),
            query: None,
            headers,
            body: body.into_bytes(),
            at: clock.now(),
        };
        let ours = feishu.hook(request, &*inbox).await;
        assert_eq!(ours.status == 200, taken && !stricter, "{what}: we say {}", ours.status);
        if what == "challenge" {
            let ours: Value = serde_json::from_slice(&ours.body).expect("JSON");
            assert_eq!(theirs["body"], ours);
        }
    }
    assert_eq!((inbox.wrote_all().len(), inbox.presses().len()), (1, 1));
}

#[tokio::test]
async fn feishu_sdk_connects_to_the_fake_as_we_do() {
    let fake = FakeFeishu::start().await;
    let mut judge = Judge::start("feishu", PYTHON, &["listen", &fake.url()]);
    // It starts slowly; the fake's own patience is shorter.
    let mut waited = 0;
    while fake.line.connections() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        waited += 1;
        assert!(waited < 600, "the SDK does not connect");
    }
    fake.line.until("a ping", |line| !line.pings().is_empty()).await;
    let ping = &fake.line.pings()[0];
    assert_eq!((ping.method, ping.service, ping.header("type")), (0, 33, Some("ping")));

    let clock = MovedClock::new(1);
    let id = fake.line.send_in_parts(&message("om_5", "确认", clock.now()), 3).await;
    assert_eq!(
        judge.hear().await,
        json!({"kind": "message", "text": "@_user_1 确认", "by": "ou_ana"})
    );
    let theirs = fake.line.ack_of(&id).await;
    assert_eq!((theirs.code, &theirs.reply), (200, &None));
    assert!(theirs.frame.header("biz_rt").is_some());

    let id = fake.line.send(&press("e7", "om_1", "a")).await;
    let heard = judge.hear().await;
    assert_eq!(heard["value"], json!({"v": 1, "r": "7Q2", "o": "a", "n": "k3x9ab"}));
    let theirs = fake.line.ack_of(&id).await;
    let reply = theirs.reply.expect("a reply");
    assert_eq!((theirs.code, &reply["toast"]["content"]), (200, &json!("judged")));

    // And how it asked where to connect is how we do.
    let theirs = fake.asked_of("ws/endpoint").remove(0);
    let (feishu, _) = connector(&fake, FeishuMode::LongConnection);
    feishu.check().await;
    let ours = fake.asked_of("ws/endpoint").remove(1);
    assert_eq!(request(&theirs), request(&ours));
    assert_eq!(theirs.header("locale"), ours.header("locale"));
}

/// A card, its end, a word in a thread and a word to somebody, as we ask for them.
pub(crate) async fn ours(fake: &FakeFeishu) -> Vec<Asked> {
    let (feishu, _) = connector(fake, FeishuMode::LongConnection);
    let group = Destination::Chat { chat: "oc_1".into(), thread: None, direct: false };
    let thread =
        Destination::Chat { chat: "oc_1".into(), thread: Some("om_9".into()), direct: false };
    prompt(&hold(), async |showing| feishu.show(&group, showing).await.expect("shown")).await;
    let posted = MessageRef {
        chat: "oc_1".into(),
        thread: None,
        direct: false,
        message: "om_1".into(),
        at: None,
    };
    prompt(&approved(), async |showing| feishu.repaint(&posted, showing).await.expect("painted"))
        .await;
    let person = |id: &str| Destination::Person(id.into());
    let places = [thread, person("ou_ana"), person("on_ana"), person("ana.b")];
    for (key, place) in places.iter().enumerate() {
        let key = key.to_string();
        let saying = OutgoingText { key: &key, text: "你好", reply_to: None, whisper_to: None };
        feishu.say(place, &saying).await.expect("said");
    }
    let ours = fake.asked();
    assert_eq!(ours.len(), 7, "a token and six messages");
    ours
}

/// The same, asked of a judge.
pub(crate) async fn theirs(fake: &FakeFeishu, judge: &mut Judge, ours: &[Asked]) {
    let body = |index: usize| ours[index].json();
    let create = |index: usize, kind: &str, of: &str| {
        let body = body(index);
        json!({"what": "create", "type": of, "to": body["receive_id"], "kind": kind,
               "content": body["content"], "uuid": body["uuid"]})
    };
    let asks = [
        create(1, "interactive", "chat_id"),
        json!({"what": "patch", "to": "om_1", "content": body(2)["content"]}),
        json!({"what": "reply", "to": "om_9", "kind": "text", "content": body(3)["content"],
               "in_thread": true, "uuid": body(3)["uuid"]}),
        create(4, "text", "open_id"),
        create(5, "text", "union_id"),
        create(6, "text", "user_id"),
    ];
    let before = fake.asked().len();
    for ask in &asks {
        let answer = judge.ask(ask).await;
        assert_eq!(answer["code"], 0, "{answer}");
        if ask["what"] != "patch" {
            // The same uuid: the fake made no second message.
            assert!(answer["message"].is_string(), "{answer}");
        }
    }
    let theirs = fake.asked().split_off(before);
    assert_eq!(theirs.len(), ours.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(request(ours), request(theirs));
    }
    assert_eq!(fake.messages().len(), 5);
}

#[tokio::test]
async fn feishu_sdk_asks_what_we_ask() {
    let fake = FakeFeishu::start().await;
    let ours = ours(&fake).await;
    let mut judge = Judge::start("feishu", PYTHON, &["golden", &fake.url()]);
    theirs(&fake, &mut judge, &ours).await;
}

/// All of a request that the platform looks at; tokens differ by their number only.
pub(crate) fn request(asked: &Asked) -> (String, String, Option<String>, Option<String>, Value) {
    let bearer = asked.header("authorization").map(|header| {
        let (scheme, token) = header.split_once(' ').unwrap_or_default();
        format!("{scheme} {}", &token[..2])
    });
    (asked.method.clone(), asked.path.clone(), asked.query.clone(), bearer, asked.json())
}
