//! Another message with a prompt that stands already. Some platforms cannot tell that the same thing is sent
//! twice: when their answer is lost, or nobody lives to hear it, the prompt is sent once more, and where the
//! first one stands is known when somebody presses it. Its nonce says that it was once ours, and the platform
//! that it stands on that message: the person who presses could name any other. From then on it takes answers and is
//! drawn like the one that we know of.

use domain::time::Timestamp;
use engine::Error;
use ports::channel::{ChannelError, DeliveryKey, Press, Showing};
use serde::{Deserialize, Serialize};

use crate::item::Next;
use crate::limits::COPIES_MAX;
use crate::prompt_record::{PromptRecord, StoredPosted};
use crate::{ChannelRuntime, ChatService};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copies {
    /// It was sent when it had perhaps been sent before.
    #[serde(default)]
    pub(crate) possible: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<StoredPosted>,
}

impl Copies {
    pub(crate) fn are_none(&self) -> bool {
        *self == Copies::default()
    }

    fn add(&mut self, copy: &StoredPosted) -> bool {
        let is_new = !self.known.contains(copy) && self.known.len() < COPIES_MAX;
        if is_new {
            self.known.push(copy.clone());
        }
        is_new
    }
}

impl PromptRecord {
    /// The copy that was pressed, if it is one.
    pub(crate) fn copy_at(&self, press: &Press) -> Option<StoredPosted> {
        // mutant: any-message-is-a-copy, any-button-is-on-a-copy
        let known = self.posted().filter(|_| self.copies.possible && press.is_on_it)?;
        let beside = known.chat == press.chat && known.message != press.message;
        beside.then(|| known.with_message(&press.message))
    }
}

impl ChatService {
    /// It is to be drawn, too.
    pub(crate) async fn found_copy(
        &self,
        runtime: &ChannelRuntime,
        key: &DeliveryKey,
        copy: &StoredPosted,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        let change = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
            delivery.copies.add(copy).then(|| {
                delivery.wanted += 1;
                // One that somebody has in hand is not hurried.
                Next::due(due_at.unwrap_or(now))
            })
        };
        self.update(runtime, &format!("d/{}", key.as_str()), change).await?;
        runtime.wake();
        Ok(())
    }

    /// Draws every message with this prompt that is known, the one that we sent first, and says whether
    /// they take a yes.
    pub(crate) async fn repaint_all(
        &self,
        runtime: &ChannelRuntime,
        delivery: &PromptRecord,
        posted: &StoredPosted,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let channel = &runtime.connector.channel;
        let accepts_approval =
            self.in_time(runtime, channel.repaint(&posted.posted(), showing)).await?;
        // mutant: a-copy-of-a-prompt-still-asks
        for copy in &delivery.copies.known {
            match self.in_time(runtime, channel.repaint(&copy.posted(), showing)).await {
                // It was deleted in the chat.
                Err(ChannelError::Gone(why) | ChannelError::Never(why)) => {
                    tracing::debug!(channel = %runtime.name, why, "a copy of a prompt is left as it is");
                }
                painted => drop(painted?),
            }
        }
        Ok(accepts_approval)
    }
}
