//! The whole circle over webhooks, encrypted and signed, without a connection of ours.

use serde_json::{Value, json};
use testkit::fake_feishu::{VERIFICATION, sealed, signed};

use super::world::{Setting, Story, pressed};
use crate::lark::whole::value;

pub(super) const KEY: &str = "encrypt-key";

const WEBHOOK: &str = "mode = \"webhook\"\nverification_token_file = \"verification-token\"\n\
                       encrypt_key_file = \"encrypt-key\"\n";

impl Story {
    /// Feishu calls; what it hears.
    async fn called(&self, event: &Value, nonce: &str) -> (u16, Value) {
        let body = sealed(event, KEY);
        let headers = signed(&body, KEY, self.now().as_ms() / 1_000, nonce);
        self.called_with(body, headers).await
    }

    async fn called_with(&self, body: String, headers: Vec<(String, String)>) -> (u16, Value) {
        let caller = self.served.stranger();
        let mut request = caller.request(reqwest::Method::POST, "/channels/feishu/events");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let heard = caller.send(request.body(body)).await;
        (heard.status, heard.body)
    }
}

#[tokio::test]
async fn asked_and_answered_over_webhooks() {
    let mut story = Story::prepare(Setting { keys: WEBHOOK, ..Setting::default() }).await;
    let challenge = json!({"type": "url_verification", "challenge": "c9", "token": VERIFICATION});
    let answer = story.called_with(sealed(&challenge, KEY), Vec::new()).await;
    assert_eq!(answer, (200, json!({"challenge": "c9"})));

    let asks = story.message("om_a", "note one");
    assert_eq!(story.called(&asks, "n1").await, (200, json!({})));
    let card = story.asks(0, "chat_id oc_1").await;
    let pointer = value(&card.content, "hp_allow").expect("a button").clone();
    let press =
        |event: &str, who: &str| pressed(event, json!({"open_id": who}), &card, pointer.clone());

    // In the clear, unsigned, signed with another key, old, for another app: all of it refused.
    let yes = press("e1", "ou_ana");
    let body = sealed(&yes, KEY);
    let now = story.now().as_ms() / 1_000;
    let mut foreign = yes.clone();
    foreign["header"]["app_id"] = "cli_2".into();
    for (what, body, headers) in [
        ("in the clear", yes.to_string(), signed(&yes.to_string(), KEY, now, "b1")),
        ("unsigned", body.clone(), Vec::new()),
        ("signed by others", body.clone(), signed(&body, "another", now, "b2")),
        ("old", body.clone(), signed(&body, KEY, now - 301, "b3")),
        ("for others", sealed(&foreign, KEY), signed(&sealed(&foreign, KEY), KEY, now, "b4")),
    ] {
        assert_eq!(story.called_with(body, headers).await.0, 401, "{what}");
    }
    let large = " ".repeat((1 << 20) + 1);
    let (status, _) = story.called_with(large.clone(), signed(&large, KEY, now, "b5")).await;
    assert_eq!(status, 413);
    story.waits(&card, "refused").await;

    // A card is there as soon as Feishu has it; that we know of it is a moment later.
    let mut told = Value::Null;
    for number in 0..30 {
        let (status, reply) =
            story.called(&press(&format!("p{number}"), "ou_eve"), &format!("p{number}")).await;
        assert_eq!(status, 200);
        told = reply;
        if told["toast"]["content"].as_str().is_some_and(|text| text.contains("无权")) {
            break;
        }
    }
    assert!(told["toast"]["content"].as_str().expect("a text").contains("无权"), "{told}");
    let headers = signed(&body, KEY, now, "n2");
    let (status, told) = story.called_with(body.clone(), headers.clone()).await;
    assert_eq!((status, &told["toast"]["type"]), (200, &json!("success")), "{told}");
    assert_eq!(story.called_with(body, headers).await.0, 401, "the same request twice is a replay");
    story.ends(0, "chat_id oc_1", "ana 已批准").await;
    story.noted(&["one"]).await;

    // Delivered again, hours later, by another request and to another process.
    story.served.kill().await;
    story.served.up().await;
    for number in 0..10 {
        assert_eq!(story.called(&asks, &format!("r{number}")).await, (200, json!({})));
    }
    let (_, late) = story.called(&press("e2", "ou_ana"), "n3").await;
    assert!(late["toast"]["content"].as_str().expect("a text").contains("ana 已批准"), "{late}");
    assert_eq!(story.cards(0, "chat_id oc_1").len(), 1, "one question");
    story.noted(&["one"]).await;
}
