//! What carries word to the outside: the callback of a hold that a program opened.

use async_trait::async_trait;
use domain::hold::Hold;

/// Why a callback was not delivered. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum CallbackError {
    /// Try again later.
    #[error("the receiver cannot be reached or did not accept: {0}")]
    Again(String),
    /// It will never work; a person should look at it.
    #[error("the callback cannot be delivered: {0}")]
    Never(String),
}

/// Tells outside programs that their holds are decided.
///
/// ```
/// use async_trait::async_trait;
/// use domain::hold::Hold;
/// use holdpoint_ports::callback::{CallbackError, CallbackSender};
///
/// /// Puts word on a bus of one's own in place of HTTP.
/// struct Bus(std::sync::mpsc::SyncSender<(String, &'static str)>);
///
/// #[async_trait]
/// impl CallbackSender for Bus {
///     fn accepts(&self, url: &str, _: &str) -> Result<(), String> {
///         match url.starts_with("bus:") {
///             true => Ok(()),
///             false => Err("callbacks go to `bus:…` here".into()),
///         }
///     }
///
///     async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CallbackError> {
///         // A receiver that sees the same key again has it already.
///         let word = (key.to_owned(), hold.state.name());
///         self.0.try_send(word).map_err(|full| CallbackError::Again(full.to_string()))
///     }
/// }
///
/// let (bus, _) = std::sync::mpsc::sync_channel(8);
/// assert!(Bus(bus).accepts("https://example.org", "SECRET").is_err());
/// ```
#[async_trait]
pub trait CallbackSender: Send + Sync {
    /// Refuses, when a hold is opened, what could never be delivered: an unknown secret, an address
    /// that may not be called.
    fn accepts(&self, url: &str, secret_env: &str) -> Result<(), String>;

    /// Sends it once. `key` stays the same over retries, so that the receiver can recognise a repeat.
    async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CallbackError>;
}
