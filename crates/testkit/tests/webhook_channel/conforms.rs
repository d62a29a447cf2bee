//! A signed webhook passes what every channel passes, on what it claims to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use channels::webhook::Webhook;
use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use serde_json::Value;
use testkit::conforms::{Platform, conforms, pointers_in};
use testkit::fake_chat::{Asked, Fault, Front, MovedClock, Reply};
use testkit::faults;

use crate::webhook_channel::channel::{Receiver, ops, settings};

struct OnWebhook {
    front: Front<Receiver>,
    webhook: Webhook,
    clock: Arc<MovedClock>,
}

impl OnWebhook {
    /// What a receiver has that knows repeats by their ids, in the order in which it came.
    fn kept(&self) -> Vec<(String, Asked)> {
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        let id = |one: &Asked| one.header("webhook-id").unwrap_or_default().to_owned();
        // What was answered with an error is not kept.
        let all = self.front.asked_well();
        for (number, one) in all.iter().enumerate() {
            first.entry(id(one)).or_insert(number);
        }
        let new = |(number, one): (usize, Asked)| {
            (first.get(&id(&one)) == Some(&number)).then(|| (id(&one), one))
        };
        all.into_iter().enumerate().filter_map(new).collect()
    }
}

impl Platform for OnWebhook {
    fn channel(&self) -> &dyn Channel {
        &self.webhook
    }

    fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    fn place(&self) -> Destination {
        ops()
    }

    fn standing(&self) -> Vec<String> {
        self.kept().iter().map(|(_, one)| one.json().to_string()).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        let kept = self.kept();
        let (_, one) = kept.iter().find(|(id, _)| *id == posted.message)?;
        Some(pointers_in(&one.json()))
    }

    /// A receiver forgets what it likes; it is told of the next step all the same.
    fn delete(&self, _: &MessageRef) {}

    fn fail(&self, fault: faults::Fault) {
        let fault = match fault {
            faults::Fault::Wait(seconds) => {
                let reply = Reply::new(429, Value::Null);
                Fault::Says(reply.with("retry-after", seconds.to_string()))
            }
            faults::Fault::Status(status) => Fault::Says(Reply::new(status, Value::Null)),
            _ => Fault::Says(Reply::new(418, Value::Null)),
        };
        self.front.fail("/hook", fault);
    }

    fn knows_repeats(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn it_conforms() {
    let front = Front::start(Arc::new(Receiver)).await;
    let clock = MovedClock::new(1);
    let webhook = Webhook::new(settings(format!("{}/hook", front.url())), clock.clone()).unwrap();
    conforms(&OnWebhook { front, webhook, clock }).await;
}
