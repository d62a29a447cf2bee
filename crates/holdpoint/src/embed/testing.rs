//! For the tests of programs that embed us: time that passes when the test says so.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> anyhow::Result<()> {
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use holdpoint::prelude::*;
//! use holdpoint::testing::TestClock;
//!
//! let script = r#"
//!     [[turn]]
//!     when = { says = "ask" }
//!     calls = [{ tool = "human_intervention.request", arguments = { prompt = "Well?", options = ["yes"] } }]
//!
//!     [[turn]]
//!     when = { result_of = "human_intervention.request" }
//!     text = "{result}"
//! "#;
//! let clock = TestClock::new();
//! let holdpoint = Holdpoint::builder()
//!     .clock(clock.clone())
//!     .person(Person::new("ana").admin())
//!     .agent(Agent::new("shy", Arc::new(ScriptedModel::parse(script)?)).tool(Tool::human()))
//!     .build()
//!     .await?;
//! let ana = holdpoint.vouch("ana", "the test says so")?;
//! let session = holdpoint.open(&ana, "shy").await?;
//! assert_eq!(session.ask("ask").await?.holds().len(), 1);
//!
//! clock.advance(Duration::from_secs(25 * 60 * 60));
//! let rest = session.wait().await?;
//! assert!(rest.text().unwrap().starts_with("Expired: nobody decided"), "{rest:?}");
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::clock::Clock;
use tokio::sync::watch;

/// Stands still until somebody moves it on. Give it to [`crate::Builder::clock`].
#[derive(Debug)]
pub struct TestClock(watch::Sender<Timestamp>);

impl TestClock {
    /// Begins on some morning.
    pub fn new() -> Arc<TestClock> {
        Arc::new(TestClock(watch::Sender::new(Timestamp::from_ms(1_800_000_000_000))))
    }

    /// Lets so much time pass. What is due by then happens soon after.
    pub fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.0.send_modify(|now| *now = now.plus_ms(ms));
    }
}

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    async fn sleep(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let due = self.now().plus_ms(ms);
        // The sender is ours, so this ends only when the time has come.
        let _ = self.0.subscribe().wait_for(|now| *now >= due).await;
    }
}
