//! A Feishu on loopback, built from its contract: the API, the long connection, and webhooks as it
//! signs and encrypts them. Its own SDK is tried against it too, so that it is not merely our idea.

mod api;
mod card;
mod event;
mod line;
mod seal;

pub use api::{APP_ID, APP_SECRET, BOT, Sent};
pub use card::problem;
pub use event::{TENANT, VERIFICATION, envelope, message, press};
pub use line::{Acked, Pace};
pub use seal::{open, sealed, signed};

use std::sync::Arc;

use engine::SystemClock;
use ports::clock::Clock;

use crate::fake_chat::{Asked, Fault, Front, Standing};

/// A running platform. Dropping it ends it.
pub struct FakeFeishu {
    front: Front<api::Api>,
    pub line: Arc<line::Line>,
    api: Arc<api::Api>,
}

impl FakeFeishu {
    pub async fn start() -> FakeFeishu {
        FakeFeishu::start_by(Arc::new(SystemClock::new(None))).await
    }

    /// A platform that lives by this clock.
    pub async fn start_by(clock: Arc<dyn Clock>) -> FakeFeishu {
        let line = line::Line::start().await;
        let api = Arc::new(api::Api::new(line.clone(), clock));
        FakeFeishu { front: Front::start(api.clone()).await, line, api }
    }

    pub fn url(&self) -> String {
        self.front.url()
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.front.asked()
    }

    pub fn asked_of(&self, path: &str) -> Vec<Asked> {
        self.front.asked_of(path)
    }

    pub fn fail(&self, path: &str, fault: Fault) {
        self.front.fail(path, fault);
    }

    pub fn standing(&self) -> &Standing {
        self.front.standing()
    }

    /// The messages that stand, oldest first.
    pub fn messages(&self) -> Vec<Sent> {
        self.api.messages()
    }

    /// From now on it takes only so much a second, in one chat and on one message.
    pub fn limit(&self, a_second: usize) {
        self.api.limit(a_second);
    }

    /// How often that was too little.
    pub fn refusals(&self) -> usize {
        self.api.refusals()
    }

    /// No token that was given is good any more.
    pub fn forget_tokens(&self) {
        self.api.forget_tokens();
    }

    /// Permissions that the app has.
    pub fn grant(&self, scopes: &[&str]) {
        self.api.grant(scopes);
    }
}
