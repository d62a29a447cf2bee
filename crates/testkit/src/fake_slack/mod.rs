//! Slack on loopback: the Web API, Socket Mode, and what people do there.
//!
//! As strict as the platform where a connector could go wrong: tokens of the wrong kind, blocks that are
//! too long, a form without a fresh trigger, envelopes that nobody acknowledges. That it behaves as the
//! platform does is shown by `slack_sdk` and `slack_bolt`, which are run against it.

mod api;
mod blocks;
mod line;
mod people;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::SystemClock;
use ports::clock::Clock as _;
use ring::hmac;
use serde_json::Value;

use crate::fake_chat::{Asked, Fault, Front, Standing};

pub use line::Line;

pub const APP_ID: &str = "A0FAKE";
pub const TEAM_ID: &str = "T0FAKE";
pub const BOT_TOKEN: &str = "xoxb-fake-bot-token";
pub const APP_TOKEN: &str = "xapp-1-A0FAKE-fake-app-token";
pub const SIGNING_SECRET: &str = "fake-signing-secret";
pub const BOT_USER: &str = "U0BOT";
pub const BOT_ID: &str = "B0BOT";

/// A running platform. Dropping it ends it.
pub struct FakeSlack {
    front: Front<Api>,
    api: Arc<Api>,
    pub line: Line,
}

pub(crate) struct Api {
    /// Where Socket Mode is.
    address: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By channel, in the order in which they were said.
    messages: BTreeMap<String, Vec<Value>>,
    ephemerals: Vec<Value>,
    views: Vec<Value>,
    /// Triggers that have not been used.
    triggers: BTreeSet<String>,
    /// Channels without us.
    closed: BTreeSet<String>,
    scopes: Option<String>,
    count: u64,
}

impl FakeSlack {
    pub async fn start() -> FakeSlack {
        let line = Line::start().await;
        let api = Arc::new(Api { address: line.url(), state: Mutex::default() });
        FakeSlack { front: Front::start(api.clone()).await, api, line }
    }

    /// With the methods below it.
    pub fn url(&self) -> String {
        format!("{}/api", self.front.url())
    }

    pub fn fail(&self, method: &str, fault: Fault) {
        self.front.fail(&format!("/api/{method}"), fault);
    }

    pub fn standing(&self) -> &Standing {
        self.front.standing()
    }

    pub fn asked(&self, method: &str) -> Vec<Asked> {
        let path = format!("/api/{method}");
        self.front.asked().into_iter().filter(|asked| asked.path == path).collect()
    }

    /// What people see in a channel.
    pub fn messages(&self, channel: &str) -> Vec<Value> {
        self.state().messages.get(channel).cloned().unwrap_or_default()
    }

    /// What single people see, and nobody else.
    pub fn ephemerals(&self) -> Vec<Value> {
        self.state().ephemerals.clone()
    }

    /// Forms that were opened.
    pub fn views(&self) -> Vec<Value> {
        self.state().views.clone()
    }

    /// The app is thrown out.
    pub fn close(&self, channel: &str) {
        self.state().closed.insert(channel.to_owned());
    }

    pub fn delete(&self, channel: &str) {
        self.state().messages.remove(channel);
    }

    /// Other scopes than those that are needed.
    pub fn grant(&self, scopes: &str) {
        self.state().scopes = Some(scopes.to_owned());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.api.state()
    }
}

impl Api {
    fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed inside says so itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A number that no other thing has.
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn ts(&mut self) -> String {
        let now = SystemClock::new(None).now().as_ms() / 1000;
        format!("{now}.{:06}", self.next())
    }
}

/// The headers with which Slack signs a request.
pub fn signed(body: &[u8], secret: &str, at_s: i64) -> Vec<(String, String)> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [format!("v0:{at_s}:").as_bytes(), body].concat();
    let hex: String =
        hmac::sign(&key, &signed).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    vec![
        ("x-slack-request-timestamp".into(), at_s.to_string()),
        ("x-slack-signature".into(), format!("v0={hex}")),
    ]
}
