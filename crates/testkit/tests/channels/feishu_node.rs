//! Feishu again: `@larksuiteoapi/node-sdk` as a second judge, written by other people in another language.
//! It looks at less than the first one: of a webhook it checks the signature alone.

use channels::feishu::FeishuMode;
use ports::channel::{Channel as _, WebhookRequest};
use ports::clock::Clock as _;
use serde_json::{Map, Value, json};
use testkit::fake_chat::{FakeInbox, MovedClock};
use testkit::fake_feishu::{FakeFeishu, VERIFICATION, message, press, sealed, signed};

use crate::channels::feishu::{KEY, connector, ours, request, theirs};
use crate::channels::judge::Judge;

const NODE: &str = "CHANNELS_FEISHU_NODE";

/// A request to the webhook, and how it should fare.
struct Case {
    what: &'static str,
    body: String,
    headers: Vec<(String, String)>,
    /// By the SDK's handler of cards.
    cards: bool,
    theirs: bool,
    ours: bool,
}

#[tokio::test]
async fn feishu_node_sdk_takes_and_refuses_the_same_webhooks() {
    let fake = FakeFeishu::start().await;
    let (feishu, clock) = connector(&fake, FeishuMode::Webhook);
    let now = clock.now().as_ms() / 1000;
    let event = message("om_5", "确认 <é> \u{1f44d}", clock.now());
    let click = press("e7", "om_1", "a");
    let again = press("e8", "om_1", "d");
    let challenge = json!({"type": "url_verification", "challenge": "c9", "token": VERIFICATION});
    let mut foreign = event.clone();
    foreign["header"]["token"] = "another".into();
    let case = |what, body: String, headers, theirs, ours| Case {
        what,
        body,
        headers,
        cards: false,
        theirs,
        ours,
    };
    let of = |content: &Value, at: i64, nonce: &str| {
        let body = sealed(content, KEY);
        let headers = signed(&body, KEY, at, nonce);
        (body, headers)
    };
    let mut cases = Vec::new();
    for (what, content, at, nonce, theirs, ours) in [
        ("event", &event, now, "n1", true, true),
        ("press", &click, now, "n2", true, true),
        ("press for the handler of cards", &again, now, "n3", true, true),
        // It knows no token, no time and no replay.
        ("foreign", &foreign, now, "n4", true, false),
        ("stale", &event, now - 400, "n5", true, false),
        ("replayed", &event, now, "n1", true, false),
    ] {
        let (body, headers) = of(content, at, nonce);
        let cards = what.contains("handler of cards");
        cases.push(Case { cards, ..case(what, body, headers, theirs, ours) });
    }
    cases.push(case("challenge", sealed(&challenge, KEY), Vec::new(), true, true));
    let (body, _) = of(&event, now, "n6");
    let headers = signed("another body", KEY, now, "n6");
    cases.push(case("bad signature", body, headers, false, false));
    let body = sealed(&event, "another");
    let headers = signed(&body, KEY, now, "n7");
    cases.push(case("wrong key", body, headers, false, false));
    let clear = event.to_string();
    let headers = signed(&clear, KEY, now, "n8");
    cases.push(case("in the clear", clear, headers, true, false));

    let mut judge = Judge::node("feishu", NODE, &["verify"]);
    let inbox = FakeInbox::new();
    for Case { what, body, headers, cards, theirs, ours } in cases {
        let named: Map<String, Value> =
            headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let asked = json!({
            "headers": named, "body": body, "key": KEY, "token": VERIFICATION, "cards": cards,
        });
        let told = judge.ask(&asked).await;
        assert_eq!(told["taken"], theirs, "{what}: the SDK says {told}");
        match what {
            "event" => {
                let text = "@_user_1 确认 <é> \u{1f44d}";
                let heard = json!([{"kind": "message", "text": text, "by": "ou_ana"}]);
                assert_eq!(told["heard"], heard);
            }
            "press" => {
                let value = json!({"v": 1, "r": "7Q2", "o": "a", "n": "k3x9ab"});
                assert_eq!(told["heard"][0]["value"], value);
                assert_eq!(told["body"]["toast"]["content"], "judged");
            }
            _ => {}
        }
        let request = WebhookRequest {
            method: "POST".into(),
            path: "events".into(),
            query: None,
            headers,
            body: body.into_bytes(),
            at: clock.now(),
        };
        let reply = feishu.hook(request, &*inbox).await;
        assert_eq!(reply.status == 200, ours, "{what}: we say {}", reply.status);
        if what == "challenge" {
            let ours: Value = serde_json::from_slice(&reply.body).expect("JSON");
            assert_eq!(told["body"], ours);
        }
    }
    assert_eq!((inbox.wrote_all().len(), inbox.presses().len()), (1, 2));
}

#[tokio::test]
async fn feishu_node_sdk_connects_to_the_fake_as_we_do() {
    let fake = FakeFeishu::start().await;
    let mut judge = Judge::node("feishu", NODE, &["listen", &fake.url()]);
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
    let reply = fake.line.ack_of(&id).await.reply.expect("a reply");
    assert_eq!(reply["toast"]["content"], "judged");

    // Cut off, it comes back with a new invitation, as we do.
    fake.line.cut().await;
    fake.line.until("a second connection", |line| line.connections() == 2).await;
    let theirs = fake.asked_of("ws/endpoint").remove(0);
    let (feishu, _) = connector(&fake, FeishuMode::LongConnection);
    feishu.check().await;
    let ours = fake.asked_of("ws/endpoint").pop().expect("asked");
    assert_eq!(request(&theirs), request(&ours));
    assert_eq!(theirs.header("locale"), ours.header("locale"));
}

#[tokio::test]
async fn feishu_node_sdk_asks_what_we_ask() {
    let fake = FakeFeishu::start().await;
    let ours = ours(&fake).await;
    let mut judge = Judge::node("feishu", NODE, &["golden", &fake.url()]);
    theirs(&fake, &mut judge, &ours).await;
}
