//! Feishu, over one connection that stays.

use async_trait::async_trait;
use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::Value;
use testkit::fake_feishu::{self, FakeFeishu};

use super::{Failure, Platform};

pub(super) struct FeishuLine(FakeFeishu);

const OPEN_ID: &str = "ou_bob";

impl FeishuLine {
    pub(super) async fn start() -> FeishuLine {
        FeishuLine(FakeFeishu::start().await)
    }
}

#[async_trait]
impl Platform for FeishuLine {
    fn name(&self) -> &'static str {
        "Feishu, long connection"
    }

    fn section(&self) -> String {
        format!(
            "[channels.feishu]\nagent = \"worker\"\napp_id = \"{}\"\napp_secret_file = \"secret\"\n\
             base_url = \"{}\"",
            fake_feishu::APP_ID,
            self.0.url()
        )
    }

    fn identity(&self) -> (&'static str, String) {
        ("feishu", OPEN_ID.to_owned())
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("secret", fake_feishu::APP_SECRET)]
    }

    async fn connected(&self) {
        self.0.line.until("a connection", |line| line.connections() >= 1).await;
    }

    async fn write(&self, _: &str, chat: usize, text: &str) -> Result<(), Failure> {
        let now = SystemClock::new(None).now();
        let mut event = fake_feishu::message(&format!("om_{text}_{chat}"), text, now);
        event["event"]["sender"]["sender_id"]["open_id"] = OPEN_ID.into();
        event["event"]["message"]["chat_id"] = format!("oc_{chat}").into();
        match self.0.line.ask(&event).await.code {
            200 => Ok(()),
            code => Err(format!("a message was acknowledged with {code}").into()),
        }
    }

    fn buttons(&self, chats: usize) -> Vec<Vec<Value>> {
        let mut all = vec![Vec::new(); chats];
        for (index, sent) in self.0.messages().into_iter().enumerate() {
            let chat = sent.to.strip_prefix("chat_id oc_").and_then(|chat| chat.parse().ok());
            let Some(here) = chat.and_then(|chat: usize| all.get_mut(chat)) else { continue };
            let Some(value) = button(&sent.content) else { continue };
            let mut press = fake_feishu::press(&format!("press_{index}"), &sent.id, "a");
            press["event"]["operator"]["open_id"] = OPEN_ID.into();
            press["event"]["action"]["value"] = value.clone();
            press["event"]["context"]["open_chat_id"] =
                sent.to.trim_start_matches("chat_id ").into();
            here.push(press);
        }
        all
    }

    async fn press(&self, _: &str, press: &Value) -> Result<(), Failure> {
        let reply = self.0.line.ask(press).await.reply.unwrap_or_default();
        match reply["toast"]["type"].as_str() {
            Some("success") => Ok(()),
            _ => Err(format!("a press was not taken: {reply}").into()),
        }
    }

    fn sent(&self) -> usize {
        self.0.asked_of("/im/v1/messages").iter().filter(|asked| asked.method == "POST").count()
    }
}

/// What the button for a yes carries.
fn button(card: &Value) -> Option<&Value> {
    if card["element_id"] == "hp_allow" {
        return Some(&card["behaviors"][0]["value"]);
    }
    match card {
        Value::Object(map) => map.values().find_map(button),
        Value::Array(list) => list.iter().find_map(button),
        _ => None,
    }
}
