//! The two presses of a dangerous yes: the first one decides nothing, and draws the prompt so that it asks
//! once more. Platforms with a dialog of their own have no first press.

use std::sync::Arc;

use domain::hold::Question;
use domain::time::Timestamp;
use engine::Error;
use ports::channel::{Press, Said, Told};

use crate::delivery::{Delivery, Stage};
use crate::limits::SECOND_PRESS_MS;
use crate::press::Looked;
use crate::shelf::Next;
use crate::{Switchboard, Wire};

impl Switchboard {
    /// Whether a press only leads to another card, and whether that card asks once more. A second press that
    /// comes with the first is none.
    pub(crate) fn is_a_step(&self, said: Said, delivery: &Delivery) -> Option<bool> {
        let armed_for = delivery.armed_for_ms(self.0.clock.now());
        match said {
            Said::Arm => Some(true),
            Said::Back => Some(false),
            Said::Allow if armed_for.is_some_and(|ms| ms < SECOND_PRESS_MS) => Some(true),
            _ => None,
        }
    }

    pub(crate) async fn ask_once_more(
        &self,
        wire: &Arc<Wire>,
        press: &Press,
        looked: &Looked,
        once_more: bool,
    ) -> Result<Told, Error> {
        let Looked { delivery, posted, hold, .. } = looked;
        if !looked.is_admitted(self.0.engine.people()) {
            let why = "it is not for them";
            return Ok(self.refused(wire, press, Some(hold.id), Told::NotEntitled, why).await);
        }
        if hold.question != Question::Approve || !delivery.takes_a_yes {
            let why = "there is no such button";
            return Ok(self.refused(wire, press, Some(hold.id), Told::NotHere, why).await);
        }
        let key = &press.pointer.key;
        let now = self.0.clock.now();
        wire.reply_first(key.as_str(), now);
        let soonest = wire.not_before(key.as_str(), now);
        let change = |delivery: &mut Delivery, due_at: Option<Timestamp>| {
            if matches!(delivery.stage, Stage::Over { .. }) {
                return None;
            }
            delivery.armed_ms = once_more.then(|| now.as_ms());
            delivery.wanted += 1;
            // Not hurried if it waits for its platform, and not put off if it is to be drawn already.
            Some(Next::due(match due_at {
                Some(at) if delivery.attempts > 0 => at,
                Some(at) => at.min(soonest),
                None => soonest,
            }))
        };
        let changed = self.update(wire, &format!("d/{}", key.as_str()), change).await?;
        wire.wake();
        let redraw = changed.and_then(|delivery| self.redrawn(key, &delivery, posted, hold));
        let told = if once_more { Told::AskAgain } else { Told::AsItWas };
        Ok(redraw.map_or(Told::NotHere, told))
    }
}
