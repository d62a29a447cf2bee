//! DingTalk passes what every channel passes.

use std::sync::Arc;

use channels::dingtalk::Dingtalk;
use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use serde_json::json;
use testkit::conforms::{Platform, conforms};
use testkit::fake_chat::{Fault, MovedClock, Reply};
use testkit::fake_dingtalk::{Card, FakeDingtalk};
use testkit::faults;

use super::{connector, group, settings};

struct OnDingtalk {
    fake: FakeDingtalk,
    dingtalk: Arc<Dingtalk>,
    clock: Arc<MovedClock>,
}

/// What the template draws from its variables: a button for each label, while buttons are shown.
fn pointers(card: &Card) -> Vec<Pointer> {
    let text = |name: &str| card.variables.get(name)?.as_str().filter(|text| !text.is_empty());
    if text("showButtons") != Some("true") {
        return Vec::new();
    }
    let (key, nonce) = (text("rid").expect("a key"), text("nonce").expect("a nonce"));
    let labels = [("allowText", "a"), ("denyText", "d"), ("opt1", "1"), ("opt2", "2")];
    let drawn = labels.into_iter().filter(|(label, _)| text(label).is_some());
    drawn.map(|(_, said)| format!("h1:{key}:{said}:{nonce}").parse().expect("a pointer")).collect()
}

impl Platform for OnDingtalk {
    fn channel(&self) -> &dyn Channel {
        &*self.dingtalk
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn place(&self) -> Destination {
        group()
    }

    fn standing(&self) -> Vec<String> {
        let cards = self.fake.cards().into_iter().map(|card| json!(card.variables).to_string());
        let said = self.fake.said().into_iter().map(|said| said.param.to_string());
        cards.chain(said).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        self.fake.cards().iter().find(|card| card.id == posted.message).map(pointers)
    }

    fn delete(&self, posted: &MessageRef) {
        self.fake.delete(&posted.message);
    }

    fn fail(&self, fault: faults::Fault) {
        let fault = match fault {
            faults::Fault::Wait(seconds) => {
                let reply = Reply::new(429, json!({"code": "90002", "message": "too often"}));
                Fault::Says(reply.with("retry-after", seconds.to_string()))
            }
            faults::Fault::Status(status) => Fault::Says(Reply::new(status, json!({}))),
            _ => Fault::Garbage,
        };
        self.fake.fail("/card/", fault);
    }

    fn knows_repeats(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn it_conforms() {
    let fake = FakeDingtalk::start().await;
    let (dingtalk, clock) = connector(settings(&fake), 1);
    conforms(&OnDingtalk { fake, dingtalk, clock }).await;
}
