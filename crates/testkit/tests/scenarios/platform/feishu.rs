//! Feishu, over the long connection.

use async_trait::async_trait;
use serde_json::{Value, json};
use testkit::fake_chat::Reply;
use testkit::fake_feishu::{self, FakeFeishu, Pace, Sent};

use super::{Delivered, fault, find, fresh, written};
use crate::scenarios::chat::{Button, Card, Chat, Event, How, Room, Said, Trouble, Who};

const ROOMS: [&str; 3] = ["oc_1", "oc_2", "oc_3"];

pub(crate) struct Feishu {
    fake: FakeFeishu,
    delivered: Delivered,
}

impl Feishu {
    pub(crate) async fn start() -> Feishu {
        let fake = FakeFeishu::start().await;
        fake.line.set_pace(Pace { ping: 5, interval: 1, nonce: 0 });
        Feishu { fake, delivered: Delivered::default() }
    }
}

fn open_id(who: Who) -> String {
    format!("ou_{}", who.id())
}

#[async_trait]
impl Chat for Feishu {
    fn platform(&self) -> &'static str {
        "feishu"
    }

    fn section(&self) -> String {
        let (app, url) = (fake_feishu::APP_ID, self.fake.url());
        format!("app_id = \"{app}\"\napp_secret_file = \"app-secret\"\nbase_url = \"{url}\"")
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("app-secret", fake_feishu::APP_SECRET)]
    }

    fn identity(&self, who: Who) -> String {
        open_id(who)
    }

    fn room(&self, room: Room) -> String {
        ROOMS[room.index()].to_owned()
    }

    async fn connected(&self, starts: usize) {
        self.fake.line.until("a connection", |line| line.connections() >= starts).await;
    }

    fn wrote(&self, who: Who, room: Room, text: &str, how: How) -> Event {
        let (name, at) = (fresh("om_said"), written(how));
        let mut payload = fake_feishu::message(&name, text, at);
        payload["event"]["sender"]["sender_id"]["open_id"] = open_id(who).into();
        let message = &mut payload["event"]["message"];
        message["chat_id"] = self.room(room).into();
        match how {
            How::Edited => message["update_time"] = (at.as_ms() + 1).to_string().into(),
            How::Forwarded => message["message_type"] = "merge_forward".into(),
            How::Plain | How::Before => {}
        }
        Event { by: who, name, payload }
    }

    fn pressed(&self, who: Who, card: &Card, button: Button) -> Event {
        let name = fresh("press");
        let value = if button == Button::Allow { &card.allow } else { &card.deny };
        let mut payload = fake_feishu::press(&name, &card.message, "a");
        let event = &mut payload["event"];
        event["operator"]["open_id"] = open_id(who).into();
        event["action"]["value"] = value.clone().expect("such a button");
        event["context"]["open_chat_id"] = self.room(card.room).into();
        Event { by: who, name, payload }
    }

    async fn deliver(&self, event: &Event) {
        let id = self.fake.line.send(&event.payload).await;
        self.delivered.note(&event.name, &id);
        assert_eq!(self.fake.line.ack_of(&id).await.code, 200);
    }

    fn told(&self, event: &Event) -> Option<String> {
        let last = self.delivered.of(&event.name).pop()?;
        let acked = self.fake.line.acked();
        let ack = acked.into_iter().find(|ack| ack.frame.header("message_id") == Some(&last));
        Some(ack?.reply?["toast"]["content"].as_str().expect("a text").to_owned())
    }

    fn cards(&self) -> Vec<Card> {
        let card = |sent: Sent| {
            let chat = sent.to.strip_prefix("chat_id ")?;
            let room = Room::ALL.into_iter().find(|room| ROOMS[room.index()] == chat)?;
            let button = |id: &str| {
                let pressed = |value: &Value| {
                    (value["element_id"] == id).then(|| value["behaviors"][0]["value"].clone())
                };
                find(&sent.content, &pressed)
            };
            (sent.kind == "interactive").then(|| Card {
                room,
                allow: button("hp_allow"),
                deny: button("hp_deny"),
                text: sent.content.to_string(),
                message: sent.id,
            })
        };
        self.fake.messages().into_iter().filter_map(card).collect()
    }

    fn said(&self) -> Vec<Said> {
        let texts = self.fake.messages().into_iter().filter(|sent| sent.kind == "text");
        let said = |sent: Sent| Said {
            privately_to: sent.to.strip_prefix("open_id ").and_then(|to| {
                [Who::Ana, Who::Cat, Who::Bob, Who::Eve].into_iter().find(|who| open_id(*who) == to)
            }),
            text: sent.content["text"].as_str().unwrap_or_default().to_owned(),
        };
        texts.map(said).collect()
    }

    fn trouble(&self, trouble: Option<Trouble>) {
        let busy =
            Reply::new(429, json!({"code": 99_991_400, "msg": "request trigger frequency limit"}));
        match trouble {
            Some(trouble) => {
                let fault = fault(trouble, busy.with("x-ogw-ratelimit-reset", "1"));
                self.fake.standing().set("/im/v1/messages", fault);
            }
            None => self.fake.standing().lift(),
        }
    }
}
