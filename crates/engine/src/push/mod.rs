//! Notices to people's own browsers: that a hold waits for them, will soon expire, has a comment for them, or needs
//! nobody any more. Which browser is whose is kept in notes; what is to be sent goes through the outbox. Losing a notice
//! costs comfort: the hold waits in the inbox all the same.

mod follow;
mod key;
mod plan;
mod send;
mod subscription;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ports::push::Pusher;
use tokio::sync::Notify;

use crate::Engine;

pub use subscription::{NewSubscription, Subscription};

/// Browsers, `PERSON/ID`.
const SUBSCRIPTIONS: &str = "push";
/// Whose an endpoint is, by `ID`.
const OWNERS: &str = "push.owners";
/// Browsers that were told of a hold, `HOLD/ID`.
const TOLD: &str = "push.told";
/// Holds whose expiry is to be told, due then.
const SOON: &str = "push.soon";
const PLACE: &str = "push.place";
const QUEUE: &str = "push";

#[derive(Default)]
pub(crate) struct PushDesk {
    pusher: OnceLock<Arc<dyn Pusher>>,
    /// Somebody has subscribed, here or before this process. Where nobody has, events cost nothing.
    is_wanted: AtomicBool,
    /// Something is to be sent.
    wake: Notify,
}

impl PushDesk {
    fn pusher(&self) -> Option<&Arc<dyn Pusher>> {
        self.pusher.get()
    }

    fn want(&self) {
        self.is_wanted.store(true, Ordering::Release);
    }
}

impl Engine {
    /// Begins to send notices, once.
    pub fn send_notices_by(&self, pusher: Arc<dyn Pusher>) {
        if self.0.push.pusher.set(pusher).is_ok() {
            let (follower, sender) = (self.clone(), self.clone());
            self.spawn(async move { follower.follow_for_notices().await });
            self.spawn(async move { sender.send_notices().await });
        }
    }

    /// What browsers subscribe with; `None` where no notices are sent.
    pub fn push_key(&self) -> Option<&str> {
        self.0.push.pusher().map(|pusher| pusher.public_key())
    }
}
