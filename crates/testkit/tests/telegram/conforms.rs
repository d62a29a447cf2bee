//! Telegram passes what every channel passes.

use ports::channel::{Channel, Destination, MessageRef, Pointer};
use ports::clock::Clock;
use testkit::conforms::{Platform, conforms, pointers_in};
use testkit::faults::Fault;

use crate::telegram::stage::{GROUP, Stage, group, number};

struct OnTelegram(Stage);

impl Platform for OnTelegram {
    fn channel(&self) -> &dyn Channel {
        &*self.0.bot
    }

    fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    fn place(&self) -> Destination {
        group()
    }

    fn standing(&self) -> Vec<String> {
        let messages = self.0.fake.messages(GROUP);
        messages.iter().filter_map(|one| one["text"].as_str().map(str::to_owned)).collect()
    }

    fn pointers(&self, posted: &MessageRef) -> Option<Vec<Pointer>> {
        let message = self.0.fake.message(number(&posted.chat), number(&posted.message))?;
        Some(pointers_in(&message))
    }

    fn delete(&self, posted: &MessageRef) {
        self.0.fake.delete(number(&posted.chat), number(&posted.message));
    }

    fn fail(&self, fault: Fault) {
        self.0.fake.faults().plan("sendMessage", fault);
    }

    /// The Bot API sends whatever it is told to.
    fn knows_repeats(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn it_conforms() {
    conforms(&OnTelegram(Stage::webhook().await)).await;
}
