//! What stands in the chats, and what everybody saw and did there. No node can write here.

use std::sync::Arc;

use domain::digest::Digest;
use domain::hold::Hold;
use domain::id::HoldId;
use ports::channel::{ButtonAction, DeliveryKey, Destination, MessageRef, Nonce, Showing};
use serde_json::Value;

#[derive(Debug, Default)]
pub(in crate::sim) struct Platform {
    pub(in crate::sim) messages: Vec<Message>,
    pub(in crate::sim) pressed: Vec<Pressed>,
    /// Prompts that were sent although nothing on disk says so.
    pub(in crate::sim) unwritten: Vec<String>,
}

/// A prompt, with every look that it had; the newest is last.
#[derive(Debug)]
pub(in crate::sim) struct Message {
    pub(in crate::sim) id: String,
    pub(in crate::sim) chat: String,
    pub(in crate::sim) key: DeliveryKey,
    pub(in crate::sim) looks: Vec<Look>,
}

#[derive(Clone, Debug)]
pub(in crate::sim) struct Look {
    pub(in crate::sim) nonce: Nonce,
    pub(in crate::sim) hold: Arc<Hold>,
}

/// A press, as whoever made it meant it.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Pressed {
    pub(in crate::sim) who: &'static str,
    pub(in crate::sim) hold: HoldId,
    /// Of what they had before their eyes.
    pub(in crate::sim) seen: Digest,
    pub(in crate::sim) said: ButtonAction,
    /// As they filled it in, if it was a form.
    pub(in crate::sim) filled: Option<Value>,
    pub(in crate::sim) message: String,
    /// It may never count: a stranger's, made elsewhere, or with a nonce that nobody gave out.
    pub(in crate::sim) forged: bool,
    /// What they were told, each time that it was delivered, and how much was on disk then.
    pub(in crate::sim) told: Vec<(Word, usize)>,
}

#[derive(Clone, Debug)]
pub(in crate::sim) enum Word {
    Counts(Arc<Hold>),
    Already(Arc<Hold>),
    Refused,
    Busy,
}

impl Platform {
    /// The same key twice is one message, which stays as it was drawn first.
    pub(super) fn show(&mut self, place: &Destination, showing: &Showing<'_>) -> MessageRef {
        let chat = match place {
            Destination::Chat { chat, .. } => chat.clone(),
            Destination::Person(identity) => format!("with {identity}"),
        };
        let known = self.messages.iter().find(|message| message.key == *showing.key);
        let id = known.map(|message| message.id.clone()).unwrap_or_else(|| {
            let id = format!("m{}", self.messages.len() + 1);
            let looks = vec![Look::of(showing)];
            let key = showing.key.clone();
            self.messages.push(Message { id: id.clone(), chat: chat.clone(), key, looks });
            id
        });
        let direct = matches!(place, Destination::Person(_));
        MessageRef { chat, thread: None, direct, message: id, at: None }
    }

    pub(super) fn repaint(&mut self, posted: &MessageRef, showing: &Showing<'_>) {
        let known = self.messages.iter_mut().find(|message| message.id == posted.message);
        if let Some(message) = known {
            message.looks.push(Look::of(showing));
        }
    }
}

impl Look {
    fn of(showing: &Showing<'_>) -> Look {
        Look { nonce: showing.nonce.clone(), hold: Arc::new(showing.hold.clone()) }
    }
}
