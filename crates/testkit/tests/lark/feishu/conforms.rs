//! Feishu passes what every channel passes.

use std::sync::Arc;

use channels::feishu::Feishu;
use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use serde_json::json;
use testkit::conforms::{Platform, conforms, pointers_in};
use testkit::fake_chat::{Fault, MovedClock, Reply};
use testkit::fake_feishu::FakeFeishu;
use testkit::faults;

use super::{connector, group, settings};

struct OnFeishu {
    fake: FakeFeishu,
    feishu: Arc<Feishu>,
    clock: Arc<MovedClock>,
}

impl Platform for OnFeishu {
    fn channel(&self) -> &dyn Channel {
        &*self.feishu
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn place(&self) -> Destination {
        group()
    }

    fn standing(&self) -> Vec<String> {
        self.fake.messages().iter().map(|sent| sent.content.to_string()).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        let sent = self.fake.messages().into_iter().find(|sent| sent.id == posted.message)?;
        Some(pointers_in(&sent.content))
    }

    fn delete(&self, _: &MessageRef) {
        let reply = Reply::new(400, json!({"code": 230_011, "msg": "the message is recalled"}));
        self.fake.fail("/im/", Fault::Says(reply));
    }

    fn fail(&self, fault: faults::Fault) {
        let fault = match fault {
            faults::Fault::Wait(seconds) => {
                let reply = Reply::new(429, json!({"code": 99_991_400, "msg": "too often"}));
                Fault::Says(reply.with("x-ogw-ratelimit-reset", seconds.to_string()))
            }
            faults::Fault::Status(status) => Fault::Says(Reply::new(status, json!({}))),
            _ => Fault::Garbage,
        };
        self.fake.fail("/im/", fault);
    }

    fn knows_repeats(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn it_conforms() {
    let fake = FakeFeishu::start().await;
    let (feishu, clock) = connector(settings(&fake));
    conforms(&OnFeishu { fake, feishu, clock }).await;
}
