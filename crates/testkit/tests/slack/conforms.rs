//! Slack passes what every channel passes.

use channels::slack::SlackMode;
use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use ports::secret_string::SecretString;
use serde_json::{Value, json};
use testkit::conforms::{Platform, conforms, pointers_in};
use testkit::fake_chat::{Fault, Reply};
use testkit::fake_slack::SIGNING_SECRET;
use testkit::faults;

use crate::slack::stage::{OPS, Stage, ops};

struct OnSlack(Stage);

impl Platform for OnSlack {
    fn channel(&self) -> &dyn Channel {
        &*self.0.slack
    }

    fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    fn place(&self) -> Destination {
        ops()
    }

    fn standing(&self) -> Vec<String> {
        self.0.fake.messages(OPS).iter().map(Value::to_string).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        let messages = self.0.fake.messages(&posted.chat);
        let message = messages.into_iter().find(|one| one["ts"] == posted.message.as_str())?;
        Some(pointers_in(&message))
    }

    fn delete(&self, posted: &MessageRef) {
        self.0.fake.delete(&posted.chat);
    }

    fn fail(&self, fault: faults::Fault) {
        let fault = match fault {
            faults::Fault::Wait(seconds) => {
                let reply = Reply::new(429, json!({"ok": false, "error": "ratelimited"}));
                Fault::Says(reply.with("retry-after", seconds.to_string()))
            }
            faults::Fault::Status(status) => Fault::Says(Reply::new(status, json!({}))),
            _ => Fault::Garbage,
        };
        self.0.fake.fail("chat.postMessage", fault);
    }

    /// The API sends whatever it is told to.
    fn knows_repeats(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn it_conforms() {
    let mode = SlackMode::Http { signing_secret: SecretString::new(SIGNING_SECRET) };
    conforms(&OnSlack(Stage::faster(mode, 50).await)).await;
}
