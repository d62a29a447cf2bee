//! What carries word to the outside: the callback of a hold that a program opened.

#![warn(missing_docs)]

use async_trait::async_trait;
use domain::hold::Hold;

/// Why a callback was not delivered. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum CourierError {
    /// Try again later.
    #[error("the receiver cannot be reached or did not accept: {0}")]
    Again(String),
    /// It will never work; a person should look at it.
    #[error("the callback cannot be delivered: {0}")]
    Never(String),
}

/// Tells outside programs that their holds are decided.
#[async_trait]
pub trait Courier: Send + Sync {
    /// Refuses, when a hold is opened, what could never be delivered: an unknown secret, an address
    /// that may not be called.
    fn accepts(&self, url: &str, secret_env: &str) -> Result<(), String>;

    /// Sends it once. `key` stays the same over retries, so that the receiver can recognise a repeat.
    async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CourierError>;
}
