//! What somebody is still to be told when their press took longer than Feishu waits. They have read that it
//! was received. What changes the card they see there; what changes nothing must be said.

use ports::channel::{Channel as _, Destination, OutgoingText};

use super::channel::{EventOutcome, Feishu};
use super::event::FeishuEvent;
use super::gesture;

pub(super) struct LatePressReply {
    key: String,
    who: Option<String>,
}

impl LatePressReply {
    pub(super) fn of(event: &FeishuEvent, feishu: &Feishu) -> LatePressReply {
        let press = gesture::press(event, feishu.only(), feishu.clock.now());
        let who = press.and_then(|press| press.operator).map(|operator| operator.identity);
        LatePressReply { key: format!("late-{}", event.key()), who }
    }

    /// Privately, and once: nothing hangs on it, so a failure is only noted.
    pub(super) async fn tell(self, feishu: &Feishu, taken: EventOutcome) {
        let EventOutcome::Reply(reply) = taken else { return };
        let text = reply["toast"]["content"].as_str().filter(|_| reply.get("card").is_none());
        let (Some(text), Some(who)) = (text, self.who) else { return };
        let saying = OutgoingText { key: &self.key, text, reply_to: None, whisper_to: None };
        if let Err(error) = feishu.say(&Destination::Person(who), &saying).await {
            let channel = &feishu.settings.name;
            tracing::warn!(channel, %error, "somebody was not told why their press did not count");
        }
    }
}
