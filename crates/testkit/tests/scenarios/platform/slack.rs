//! Slack, in Socket Mode.

use async_trait::async_trait;
use serde_json::{Value, json};
use testkit::fake_chat::Reply;
use testkit::fake_slack::{APP_ID, APP_TOKEN, BOT_TOKEN, BOT_USER, FakeSlack, TEAM_ID};

use super::{Delivered, fault, find, fresh, written};
use crate::scenarios::chat::{Button, Card, Chat, Event, How, Room, Said, Trouble, Who};

const ROOMS: [&str; 3] = ["C0HOME", "C0WATCH", "C0ELSE"];

pub(crate) struct Slack {
    fake: FakeSlack,
    delivered: Delivered,
}

impl Slack {
    pub(crate) async fn start() -> Slack {
        Slack { fake: FakeSlack::start().await, delivered: Delivered::default() }
    }

    /// What only they have seen.
    fn whispered(&self, who: Who) -> Vec<String> {
        let theirs = |seen: &Value| seen["user"] == user(who).as_str();
        let all = self.fake.ephemerals().into_iter().filter(theirs);
        all.map(|seen| seen["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

fn user(who: Who) -> String {
    format!("U0{}", who.name().to_uppercase())
}

#[async_trait]
impl Chat for Slack {
    fn platform(&self) -> &'static str {
        "slack"
    }

    fn section(&self) -> String {
        let url = self.fake.url();
        format!(
            "app_id = \"{APP_ID}\"\nteam_id = \"{TEAM_ID}\"\nbot_token_file = \"bot\"\n\
             app_token_file = \"app\"\nbase_url = \"{url}\""
        )
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("bot", BOT_TOKEN), ("app", APP_TOKEN)]
    }

    fn identity(&self, who: Who) -> String {
        format!("{TEAM_ID}:{}", user(who))
    }

    fn room(&self, room: Room) -> String {
        ROOMS[room.index()].to_owned()
    }

    async fn connected(&self, starts: usize) {
        let stands = |(open, ever): (usize, u64)| open >= 1 && ever >= starts as u64;
        self.fake.line.until("a connection", |line| stands(line.connections())).await;
    }

    fn wrote(&self, who: Who, room: Room, text: &str, how: How) -> Event {
        let text = format!("<@{BOT_USER}> {text}");
        let more = match how {
            How::Plain => json!({}),
            How::Before => {
                let seconds = written(how).as_ms() / 1000;
                json!({"ts": format!("{seconds}.000001")})
            }
            How::Edited => json!({"edited": {"user": user(who), "ts": "1.0"}}),
            How::Forwarded => json!({"attachments": [{"is_share": true, "text": "yes"}]}),
        };
        let payload = self.fake.write(&user(who), ROOMS[room.index()], &text, more);
        Event { by: who, name: fresh("events_api"), payload }
    }

    fn pressed(&self, who: Who, card: &Card, button: Button) -> Event {
        let (id, value) = match button {
            Button::Allow => ("hp_allow", &card.allow),
            Button::Deny => ("hp_deny", &card.deny),
        };
        let value = value.clone().expect("such a button");
        let action = json!({"type": "button", "action_id": id, "block_id": "b", "value": value});
        let message = json!({"ts": card.message});
        let payload = self.fake.act(&user(who), ROOMS[card.room.index()], &message, action);
        // What they have been told so far is about something else.
        let before = self.whispered(who).len();
        Event { by: who, name: fresh(&format!("interactive {before}")), payload }
    }

    async fn deliver(&self, event: &Event) {
        let kind = match event.name.starts_with("interactive") {
            true => "interactive",
            false => "events_api",
        };
        let before = self.delivered.of(&event.name);
        let id = match before.first() {
            None => self.fake.line.send(kind, &event.payload),
            Some(id) => {
                self.fake.line.send_again(id, kind, &event.payload);
                id.clone()
            }
        };
        self.delivered.note(&event.name, &id);
        let wanted = before.len() + 1;
        let line = &self.fake.line;
        line.until("an acknowledgement", |line| line.acks(&id).len() >= wanted).await;
    }

    fn told(&self, event: &Event) -> Option<String> {
        let before = event.name.split([' ', '_']).nth(1)?.parse::<usize>().ok()?;
        self.whispered(event.by).into_iter().nth(before)
    }

    fn cards(&self) -> Vec<Card> {
        let card = |room: Room, message: Value| {
            let button = |id: &str| {
                find(&message, &|value: &Value| {
                    (value["action_id"] == id).then(|| value["value"].clone())
                })
            };
            let is_card = message["metadata"]["event_type"] == "holdpoint";
            is_card.then(|| Card {
                room,
                message: message["ts"].as_str().expect("a ts").to_owned(),
                allow: button("hp_allow"),
                deny: button("hp_deny"),
                text: message["blocks"].to_string(),
            })
        };
        let all = Room::ALL.into_iter().flat_map(|room| {
            let messages = self.fake.messages(ROOMS[room.index()]);
            messages.into_iter().filter_map(move |message| card(room, message))
        });
        all.collect()
    }

    fn said(&self) -> Vec<Said> {
        let ours = |message: &Value| message["metadata"]["event_type"] == "holdpoint_said";
        let text = |message: &Value| message["text"].as_str().unwrap_or_default().to_owned();
        let aloud = ROOMS.iter().flat_map(|room| self.fake.messages(room)).filter(ours);
        let mut all: Vec<Said> =
            aloud.map(|message| Said { privately_to: None, text: text(&message) }).collect();
        for who in [Who::Ana, Who::Cat, Who::Bob, Who::Eve] {
            let whispered = self.whispered(who).into_iter();
            all.extend(whispered.map(|text| Said { privately_to: Some(who), text }));
        }
        all
    }

    fn trouble(&self, trouble: Option<Trouble>) {
        let busy = Reply::new(429, json!({"ok": false, "error": "ratelimited"}));
        match trouble {
            Some(trouble) => {
                let fault = fault(trouble, busy.with("retry-after", "1"));
                self.fake.standing().set("/api/chat.", fault);
            }
            None => self.fake.standing().lift(),
        }
    }
}
