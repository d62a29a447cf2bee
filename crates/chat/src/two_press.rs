//! The two presses of a dangerous yes: the first one decides nothing, and draws the prompt so that it asks
//! once more. Platforms with a dialog of their own have no first press.

use std::sync::Arc;

use domain::hold::{Hold, Question, Risk};
use domain::time::Timestamp;
use engine::Error;
use ports::channel::{ButtonAction, DeliveryKey, Press, PressReply};

use crate::item::Next;
use crate::press::VerifiedPress;
use crate::prompt_record::{PromptRecord, Stage};
use crate::{ChannelRuntime, ChatService};

impl ChatService {
    /// Whether a press only leads to another card, and whether that card asks once more. The second press counts
    /// if the same person pressed first, not long ago, and had time to read the question.
    pub(crate) fn is_a_step(
        &self,
        runtime: &ChannelRuntime,
        said: ButtonAction,
        looked: &VerifiedPress,
    ) -> Option<bool> {
        let VerifiedPress { caller, delivery, hold, .. } = looked;
        match said {
            ButtonAction::Arm => Some(true),
            ButtonAction::Back => Some(false),
            ButtonAction::Allow if runtime.takes_two_presses(hold) => {
                let person = caller.person().map(|person| person.id());
                let now = self.0.clock.now();
                let armed = person.and_then(|person| delivery.armed_by_for_ms(person, now));
                let read = runtime.connector.channel.second_press_after().as_millis() as u64;
                armed.is_none_or(|ms| ms < read).then_some(true)
            }
            _ => None,
        }
    }

    pub(crate) async fn ask_once_more(
        &self,
        runtime: &Arc<ChannelRuntime>,
        press: &Press,
        looked: &VerifiedPress,
        once_more: bool,
    ) -> Result<PressReply, Error> {
        let VerifiedPress { caller, delivery, posted, hold } = looked;
        let person = caller.person().map(|person| person.id());
        if !looked.is_admitted(self.0.engine.people()) {
            let why = "it is not for them";
            return Ok(self
                .refused(runtime, press, Some(hold.id), PressReply::NotEntitled, why)
                .await);
        }
        if hold.question != Question::Approve || !delivery.accepts_approval {
            let why = "there is no such button";
            return Ok(self.refused(runtime, press, Some(hold.id), PressReply::NotHere, why).await);
        }
        let key = &press.pointer.key;
        let now = self.0.clock.now();
        runtime.delay_repaint(key.as_str(), now);
        let soonest = runtime.not_before(key.as_str(), now);
        let change = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
            if matches!(delivery.stage, Stage::Over { .. }) {
                return None;
            }
            match person.filter(|_| once_more) {
                Some(person) => delivery.arm(person, now),
                None => {
                    delivery.disarm();
                }
            }
            delivery.wanted += 1;
            // Not hurried if it waits for its platform, and not put off if it is to be drawn already.
            Some(Next::due(match due_at {
                Some(at) if delivery.attempts > 0 => at,
                Some(at) => at.min(soonest),
                None => soonest,
            }))
        };
        let changed = self.update(runtime, &format!("d/{}", key.as_str()), change).await?;
        runtime.wake();
        let redraw = changed.and_then(|delivery| self.card_snapshot(key, &delivery, posted, hold));
        let told = if once_more { PressReply::AskAgain } else { PressReply::AsItWas };
        Ok(redraw.map_or(PressReply::NotHere, told))
    }

    /// A vote was counted: the next person begins with a first press.
    pub(crate) async fn disarm(
        &self,
        runtime: &ChannelRuntime,
        key: &DeliveryKey,
    ) -> Result<(), Error> {
        let soonest = runtime.not_before(key.as_str(), self.0.clock.now());
        let change = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
            if !delivery.disarm() || matches!(delivery.stage, Stage::Over { .. }) {
                return None;
            }
            delivery.wanted += 1;
            Some(Next::due(due_at.map_or(soonest, |at| match delivery.attempts {
                0 => at.min(soonest),
                _ => at,
            })))
        };
        self.update(runtime, &format!("d/{}", key.as_str()), change).await?;
        runtime.wake();
        Ok(())
    }
}

impl ChannelRuntime {
    /// Whether the card itself must ask once more before a yes to this counts.
    fn takes_two_presses(&self, hold: &Hold) -> bool {
        let dangerous = hold.question == Question::Approve && hold.risk >= Risk::High;
        dangerous && !self.connector.channel.has_confirm_dialog()
    }
}
