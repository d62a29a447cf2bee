//! Slack, which calls us and is answered with a status.

use std::time::Duration;

use async_trait::async_trait;
use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_slack::{self, FakeSlack};

use super::{Failure, Platform};

pub(super) struct SlackHttp {
    fake: FakeSlack,
    http: reqwest::Client,
}

const USER: &str = "U0BOB";

impl SlackHttp {
    pub(super) async fn start() -> Result<SlackHttp, Failure> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(SlackHttp { fake: FakeSlack::start().await, http })
    }

    async fn bring(&self, served: &str, path: &str, body: String) -> Result<(), Failure> {
        loop {
            let now = SystemClock::new(None).now().as_ms() / 1000;
            let mut request = self.http.post(format!("{served}/channels/slack/{path}"));
            for (name, value) in
                fake_slack::signed(body.as_bytes(), fake_slack::SIGNING_SECRET, now)
            {
                request = request.header(name, value);
            }
            let kind = match path {
                "interactions" => "application/x-www-form-urlencoded",
                _ => "application/json",
            };
            let reply = request.header("content-type", kind).body(body.clone()).send().await?;
            match reply.status().as_u16() {
                200 => {
                    reply.bytes().await?;
                    return Ok(());
                }
                // No platform sends that much from one address; the one who sets up this bench does.
                429 if path == "events" => tokio::time::sleep(Duration::from_secs(1)).await,
                status => return Err(format!("{path} was answered with {status}").into()),
            }
        }
    }
}

#[async_trait]
impl Platform for SlackHttp {
    fn name(&self) -> &'static str {
        "Slack over HTTP"
    }

    fn section(&self) -> String {
        format!(
            "[channels.slack]\nagent = \"worker\"\napp_id = \"{}\"\nteam_id = \"{}\"\nmode = \"http\"\n\
             bot_token_file = \"bot\"\nsigning_secret_file = \"signing\"\nbase_url = \"{}\"",
            fake_slack::APP_ID,
            fake_slack::TEAM_ID,
            self.fake.url()
        )
    }

    fn identity(&self) -> (&'static str, String) {
        ("slack", format!("{}:{USER}", fake_slack::TEAM_ID))
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("bot", fake_slack::BOT_TOKEN), ("signing", fake_slack::SIGNING_SECRET)]
    }

    async fn connected(&self) {}

    async fn write(&self, served: &str, chat: usize, text: &str) -> Result<(), Failure> {
        let event = self.fake.write(USER, &format!("D{chat}"), text, json!({}));
        self.bring(served, "events", event.to_string()).await
    }

    fn buttons(&self, chats: usize) -> Vec<Vec<Value>> {
        let of = |chat: usize| {
            let chat = format!("D{chat}");
            let messages = self.fake.messages(&chat);
            let cards = messages.iter().filter(|message| message.to_string().contains("hp_allow"));
            let press = |card: &Value| {
                let ts = card["ts"].as_str().unwrap_or_default();
                self.fake.press(USER, &chat, ts, "Approve once")
            };
            cards.map(press).collect()
        };
        (0..chats).map(of).collect()
    }

    async fn press(&self, served: &str, press: &Value) -> Result<(), Failure> {
        let mut form = reqwest::Url::parse("form:")?;
        form.query_pairs_mut().append_pair("payload", &press.to_string());
        self.bring(served, "interactions", form.query().unwrap_or_default().to_owned()).await
    }

    fn sent(&self) -> usize {
        self.fake.asked("chat.postMessage").len()
    }
}
