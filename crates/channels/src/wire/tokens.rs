//! A token that a platform gives for a while: fetched before it dies, by one for all.

use std::future::Future;
use std::sync::{Arc, Mutex};

use domain::time::Timestamp;
use ports::channel::ChannelError;
use ports::clock::Clock;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::Semaphore;

#[derive(Clone)]
pub(crate) struct AccessToken {
    pub(crate) value: String,
    pub(crate) ends: Timestamp,
}

pub(crate) struct Tokens {
    clock: Arc<dyn Clock>,
    /// One with less than this to live is replaced.
    left_ms: u64,
    kept: Mutex<Option<AccessToken>>,
    /// One asks for a token; the others wait for what it brings.
    asking: Semaphore,
}

impl Tokens {
    pub(crate) fn new(clock: Arc<dyn Clock>, left_ms: u64) -> Tokens {
        Tokens { clock, left_ms, kept: Mutex::new(None), asking: Semaphore::new(1) }
    }

    /// The token to use now, if need be a new one. Never the one that was refused.
    pub(crate) async fn get(
        &self,
        refused: Option<&str>,
        fetch: impl Future<Output = Result<AccessToken, ChannelError>>,
    ) -> Result<String, ChannelError> {
        if let Some(token) = self.good(refused, self.left_ms) {
            return Ok(token);
        }
        // It is never closed.
        let _one = self.asking.acquire().await;
        if let Some(token) = self.good(refused, self.left_ms) {
            return Ok(token);
        }
        match fetch.await {
            Ok(token) => {
                let value = token.value.clone();
                self.keep(token);
                Ok(value)
            }
            // The old one still lives: a bad moment of theirs costs nothing.
            Err(error) => self.good(refused, 0).ok_or(error),
        }
    }

    pub(crate) fn keep(&self, token: AccessToken) {
        *self.kept.lock().unpoisoned() = Some(token);
    }

    /// The token that we have, if it lives so much longer and is not the refused one.
    fn good(&self, refused: Option<&str>, left_ms: u64) -> Option<String> {
        let token = self.kept.lock().unpoisoned().clone()?;
        let lives = token.ends.minus_ms(left_ms) > self.clock.now();
        (lives && refused != Some(&token.value)).then_some(token.value)
    }
}
