//! DingTalk, in stream mode with a card template.

use async_trait::async_trait;
use serde_json::{Value, json};
use testkit::fake_chat::Reply;
use testkit::fake_dingtalk::{self, Card as Shown, FakeDingtalk, Said as Spoken};

use super::{Delivered, fault, fresh, written};
use crate::scenarios::chat::{Button, Card, Chat, Event, How, Room, Said, Trouble, Who};

const ROOMS: [&str; 3] = ["cid1", "cid2", "cid3"];
const MESSAGES: &str = "/v1.0/im/bot/messages/get";
const PRESSES: &str = "/v1.0/card/instances/callback";

pub(crate) struct Dingtalk {
    fake: FakeDingtalk,
    delivered: Delivered,
}

impl Dingtalk {
    pub(crate) async fn start() -> Dingtalk {
        Dingtalk { fake: FakeDingtalk::start().await, delivered: Delivered::default() }
    }
}

fn staff_id(who: Who) -> String {
    format!("u_{}", who.id())
}

#[async_trait]
impl Chat for Dingtalk {
    fn platform(&self) -> &'static str {
        "dingtalk"
    }

    fn section(&self) -> String {
        let (client, template) = (fake_dingtalk::CLIENT_ID, fake_dingtalk::TEMPLATE);
        let url = self.fake.url();
        format!(
            "client_id = \"{client}\"\nclient_secret_file = \"client-secret\"\n\
             card_template = \"{template}\"\nbase_url = \"{url}\""
        )
    }

    fn secrets(&self) -> Vec<(&'static str, &'static str)> {
        vec![("client-secret", fake_dingtalk::CLIENT_SECRET)]
    }

    fn identity(&self, who: Who) -> String {
        staff_id(who)
    }

    fn room(&self, room: Room) -> String {
        ROOMS[room.index()].to_owned()
    }

    async fn connected(&self, starts: usize) {
        self.fake.line.until("a connection", |line| line.connections() >= starts).await;
    }

    fn wrote(&self, who: Who, room: Room, text: &str, how: How) -> Event {
        let name = fresh("msg");
        let mut payload = fake_dingtalk::message(&name, text, written(how));
        payload["senderStaffId"] = staff_id(who).into();
        payload["senderNick"] = who.name().into();
        payload["conversationId"] = self.room(room).into();
        if how == How::Forwarded {
            payload["msgtype"] = "chatRecord".into();
        }
        Event { by: who, name, payload }
    }

    fn pressed(&self, who: Who, card: &Card, button: Button) -> Event {
        let (id, value) = match button {
            Button::Allow => ("allow", &card.allow),
            Button::Deny => ("deny", &card.deny),
        };
        let params = value.clone().expect("such a button");
        let content = json!({"cardPrivateData": {"actionIds": [id], "params": params}});
        let mut payload = fake_dingtalk::press(&card.message, "a");
        payload["userId"] = staff_id(who).into();
        payload["content"] = content.to_string().into();
        Event { by: who, name: fresh("press"), payload }
    }

    async fn deliver(&self, event: &Event) {
        let topic = if event.payload["type"] == "actionCallback" { PRESSES } else { MESSAGES };
        let before = self.delivered.of(&event.name);
        let line = &self.fake.line;
        let id = match before.first() {
            None => {
                let id = line.callback(topic, &event.payload).await;
                self.delivered.note(&event.name, &id);
                id
            }
            Some(id) => {
                self.delivered.note(&event.name, id);
                line.send_again(id, "CALLBACK", topic, &event.payload).await;
                id.clone()
            }
        };
        let wanted = before.len() + 1;
        let acks = |line: &[fake_dingtalk::Acked]| line.iter().filter(|ack| ack.id == id).count();
        line.until("an acknowledgement", |line| acks(&line.acked()) >= wanted).await;
        assert!(line.acked().iter().filter(|ack| ack.id == id).all(|ack| ack.code == 200));
    }

    fn told(&self, event: &Event) -> Option<String> {
        let id = self.delivered.of(&event.name).pop()?;
        let ack = self.fake.line.acked().into_iter().rev().find(|ack| ack.id == id)?;
        let variable = |who: &str, name: &str| {
            ack.data["response"][who]["cardParamMap"][name].as_str().map(str::to_owned)
        };
        // Everybody's card says in its title how it ended; one person alone is told below it.
        variable("cardData", "title").or_else(|| variable("userPrivateData", "statusText"))
    }

    fn cards(&self) -> Vec<Card> {
        let card = |shown: Shown| {
            let chat = shown.space.strip_prefix("dtv1.card//IM_GROUP.")?;
            let room = Room::ALL.into_iter().find(|room| ROOMS[room.index()] == chat)?;
            let variable = |name: &str| shown.variables.get(name).cloned();
            let alive = variable("showButtons") == Some("true".into());
            // A button without a label is not drawn.
            let button = |said: &str, label: &str| {
                let (key, nonce) = (variable("rid"), variable("nonce"));
                let drawn = variable(label).is_some_and(|label| label != "");
                (alive && drawn).then(|| json!({"r": key, "o": said, "n": nonce}))
            };
            Some(Card {
                room,
                allow: button("a", "allowText"),
                deny: button("d", "denyText"),
                text: Value::Object(shown.variables.clone()).to_string(),
                message: shown.id,
            })
        };
        self.fake.cards().into_iter().filter_map(card).collect()
    }

    fn said(&self) -> Vec<Said> {
        let said = |spoken: Spoken| Said {
            privately_to: spoken.to.strip_prefix("people ").and_then(|to| {
                let all = [Who::Ana, Who::Cat, Who::Bob, Who::Eve];
                all.into_iter().find(|who| to.contains(&staff_id(*who)))
            }),
            text: spoken.param.to_string(),
        };
        self.fake.said().into_iter().map(said).collect()
    }

    fn trouble(&self, trouble: Option<Trouble>) {
        let busy = json!({"code": "Throttling", "message": "too many", "requestid": "r"});
        match trouble {
            Some(trouble) => {
                let fault = fault(trouble, Reply::new(429, busy));
                self.fake.standing().set("/v1.0/card/instances", fault.clone());
                self.fake.standing().set("/v1.0/robot/", fault);
            }
            None => self.fake.standing().lift(),
        }
    }

    fn tells_edits(&self) -> bool {
        false
    }

    fn names_chats(&self) -> bool {
        false
    }
}
