//! A DingTalk on loopback, built from its contract: the API, the stream, and requests as it signs them.
//! Its own SDK is tried against it too, so that it is not merely our idea.

mod api;
mod event;
mod line;

pub use api::{CLIENT_ID, CLIENT_SECRET, Card, Said, TEMPLATE};
pub use event::{CORP, message, press, signed_card, signed_robot};
pub use line::Acked;

use std::sync::Arc;

use crate::fake_chat::{Asked, Fault, Front, Standing};

/// A running platform. Dropping it ends it.
pub struct FakeDingtalk {
    front: Front<api::Api>,
    pub line: Arc<line::Line>,
    api: Arc<api::Api>,
}

impl FakeDingtalk {
    pub async fn start() -> FakeDingtalk {
        let line = line::Line::start().await;
        let api = Arc::new(api::Api::new(line.clone()));
        FakeDingtalk { front: Front::start(api.clone()).await, line, api }
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

    pub fn cards(&self) -> Vec<Card> {
        self.api.cards()
    }

    pub fn said(&self) -> Vec<Said> {
        self.api.said()
    }

    /// The card is no more.
    pub fn delete(&self, card: &str) {
        self.api.delete(card);
    }

    /// No token that was given is good any more.
    pub fn forget_tokens(&self) {
        self.api.forget_tokens();
    }
}
