//! Text on its way from a model to those who watch. Not stored: the finished message is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use domain::id::{MessageId, SessionId};
use ports::model::Delta;
use tokio::sync::broadcast;

/// What watchers of a session hear between events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    Text {
        message: MessageId,
        text: String,
    },
    Reasoning {
        message: MessageId,
        text: String,
    },
    /// What was heard of this message is void.
    Discarded {
        message: MessageId,
    },
}

/// Deltas that a slow watcher may fall behind; then it gets the text so far as one delta.
const BACKLOG: usize = 256;

#[derive(Clone, Default)]
pub(crate) struct Live(Arc<Mutex<HashMap<SessionId, Channel>>>);

/// Most turns are heard by nobody: the way to listeners, which has room for a whole backlog, is made
/// by the first of them.
#[derive(Default)]
struct Channel {
    speaking: Option<Speaking>,
    listeners: Option<broadcast::Sender<Spoken>>,
}

struct Speaking {
    message: MessageId,
    text: String,
}

/// Clears up when a turn ends, however it ends.
pub(crate) struct Slot(Live, SessionId);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.sweep(self.1);
    }
}

impl Live {
    pub(crate) fn begin(&self, session: SessionId, message: MessageId) -> Slot {
        self.with(session, |channel| {
            channel.speaking = Some(Speaking { message, text: String::new() });
        });
        Slot(self.clone(), session)
    }

    pub(crate) fn delta(&self, session: SessionId, delta: Delta) {
        self.with(session, |channel| {
            let Some(speaking) = &mut channel.speaking else { return };
            let message = speaking.message;
            let spoken = match delta {
                Delta::Text(text) => {
                    speaking.text.push_str(&text);
                    Spoken::Text { message, text }
                }
                Delta::Reasoning(text) => Spoken::Reasoning { message, text },
                Delta::Discard => {
                    speaking.text.clear();
                    Spoken::Discarded { message }
                }
            };
            channel.tell(spoken);
        });
    }

    pub(crate) fn end(&self, session: SessionId) {
        self.with(session, |channel| channel.speaking = None);
        self.sweep(session);
    }

    pub(crate) fn discard(&self, session: SessionId) {
        self.with(session, |channel| {
            if let Some(speaking) = channel.speaking.take() {
                channel.tell(Spoken::Discarded { message: speaking.message });
            }
        });
        self.sweep(session);
    }

    /// What is heard from now on, and what has been said of the current message so far.
    pub(crate) fn listen(
        &self,
        session: SessionId,
    ) -> (Option<Spoken>, broadcast::Receiver<Spoken>) {
        self.with(session, |channel| {
            let so_far = channel.so_far();
            let listeners = channel.listeners.get_or_insert_with(|| broadcast::channel(BACKLOG).0);
            (so_far, listeners.subscribe())
        })
    }

    pub(crate) fn so_far(&self, session: SessionId) -> Option<Spoken> {
        let channels = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        channels.get(&session).and_then(Channel::so_far)
    }

    fn with<T>(&self, session: SessionId, change: impl FnOnce(&mut Channel) -> T) -> T {
        let mut channels = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        change(channels.entry(session).or_default())
    }

    /// Forgets channels that nobody uses.
    pub(crate) fn sweep(&self, session: SessionId) {
        let mut channels = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if channels.get(&session).is_some_and(Channel::is_idle) {
            channels.remove(&session);
        }
    }
}

impl Channel {
    fn tell(&self, spoken: Spoken) {
        if let Some(listeners) = &self.listeners {
            // Whoever listened may have gone; that is no error.
            let _ = listeners.send(spoken);
        }
    }

    fn is_idle(&self) -> bool {
        let is_heard = self.listeners.as_ref().is_some_and(|tell| tell.receiver_count() > 0);
        self.speaking.is_none() && !is_heard
    }

    fn so_far(&self) -> Option<Spoken> {
        let speaking = self.speaking.as_ref()?;
        (!speaking.text.is_empty())
            .then(|| Spoken::Text { message: speaking.message, text: speaking.text.clone() })
    }
}
