//! Telegram, by polling.

use async_trait::async_trait;
use serde_json::{Value, json};
use testkit::fake_chat::Reply;
use testkit::fake_telegram::{FakeTelegram, TOKEN, User};

use super::{fault, find, fresh};
use crate::scenarios::chat::{Button, Card, Chat, Event, How, Room, Said, Trouble, Who};
use crate::scenarios::world::until;

const ROOMS: [i64; 3] = [-1_001, -1_002, -1_003];
const MENTION: &str = "@hold_bot";
const DIGEST: &str = "Digest: sha256:";

pub(crate) struct Telegram {
    fake: FakeTelegram,
}

impl Telegram {
    pub(crate) async fn start() -> Telegram {
        Telegram { fake: FakeTelegram::start().await }
    }
}

fn user(who: Who) -> User {
    User(match who {
        Who::Ana => 7,
        Who::Cat => 8,
        Who::Bob => 9,
        Who::Eve => 10,
    })
}

#[async_trait]
impl Chat for Telegram {
    fn platform(&self) -> &'static str {
        "telegram"
    }

    fn section(&self) -> String {
        format!("token_file = \"token\"\nbase_url = \"{}\"", self.fake.url())
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("token", TOKEN)]
    }

    fn identity(&self, who: Who) -> String {
        user(who).0.to_string()
    }

    fn room(&self, room: Room) -> String {
        ROOMS[room.index()].to_string()
    }

    async fn connected(&self, _: usize) {
        // It is asked for updates, and keeps them until then.
    }

    fn wrote(&self, who: Who, room: Room, text: &str, how: How) -> Event {
        // The fake's clock stands still: what it sends, it sends at the same second.
        let sent = self.fake.date();
        let date = if how == How::Before { sent - 60 } else { sent + 1 };
        let mention = json!([{"type": "mention", "offset": 0, "length": MENTION.len()}]);
        let mut more = json!({"date": date, "entities": mention});
        match how {
            How::Forwarded => more["forward_origin"] = json!({"type": "user", "date": date}),
            How::Edited => more["edit_date"] = (date + 1).into(),
            How::Plain | How::Before => {}
        }
        let from = user(who).within(ROOMS[room.index()]);
        let mut payload = self.fake.writing(from, &format!("{MENTION} {text}"), more);
        if let (How::Edited, Some(update)) = (how, payload.as_object_mut()) {
            let message = update.remove("message").expect("a message");
            update.insert("edited_message".to_owned(), message);
        }
        Event { by: who, name: fresh("update"), payload }
    }

    fn pressed(&self, who: Who, card: &Card, button: Button) -> Event {
        let data = if button == Button::Allow { &card.allow } else { &card.deny };
        let data = data.as_ref().and_then(Value::as_str).expect("such a key");
        let message = card.message.parse().expect("a number");
        let payload = self.fake.pressing(user(who), ROOMS[card.room.index()], message, data);
        Event { by: who, name: fresh("update"), payload }
    }

    async fn deliver(&self, event: &Event) {
        self.fake.deliver(&event.payload);
        until("it is taken", || self.fake.dealt_with(&event.payload)).await;
    }

    fn told(&self, event: &Event) -> Option<String> {
        let query = event.payload["callback_query"]["id"].as_str()?;
        let answer = self.fake.answers(query).pop()?;
        Some(answer["text"].as_str().unwrap_or_default().to_owned())
    }

    fn cards(&self) -> Vec<Card> {
        let card = |room: Room, message: Value| {
            let text = message["text"].as_str().unwrap_or_default().to_owned();
            let key = |said: &str| {
                find(&message["reply_markup"], &|value: &Value| {
                    let data = value["callback_data"].as_str()?;
                    data.contains(said).then(|| data.into())
                })
            };
            // Nothing else of ours has a digest on it.
            let is_card = message["from"]["is_bot"] == true && text.contains(DIGEST);
            is_card.then(|| Card {
                room,
                message: message["message_id"].to_string(),
                allow: key(":a:"),
                deny: key(":d:"),
                text,
            })
        };
        let all = Room::ALL.into_iter().flat_map(|room| {
            let messages = self.fake.messages(ROOMS[room.index()]);
            messages.into_iter().filter_map(move |message| card(room, message))
        });
        all.collect()
    }

    fn said(&self) -> Vec<Said> {
        let words = |message: &Value| {
            let text = message["text"].as_str().unwrap_or_default().to_owned();
            let ours = message["from"]["is_bot"] == true && !text.contains(DIGEST);
            ours.then_some(text)
        };
        let aloud = ROOMS.iter().flat_map(|room| self.fake.messages(*room));
        let aloud = aloud.filter_map(|message| words(&message));
        let mut all: Vec<Said> = aloud.map(|text| Said { privately_to: None, text }).collect();
        for who in [Who::Ana, Who::Cat, Who::Bob, Who::Eve] {
            let direct = self.fake.messages(user(who).0).into_iter();
            let direct = direct.filter_map(|message| words(&message));
            all.extend(direct.map(|text| Said { privately_to: Some(who), text }));
        }
        all
    }

    fn trouble(&self, trouble: Option<Trouble>) {
        let busy = json!({
            "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 1",
            "parameters": {"retry_after": 1},
        });
        match trouble {
            Some(trouble) => {
                let fault = fault(trouble, Reply::new(429, busy));
                for method in ["sendMessage", "editMessageText"] {
                    self.fake.standing().set(method, fault.clone());
                }
            }
            None => self.fake.standing().lift(),
        }
    }

    fn doubles(&self) -> bool {
        true
    }
}
