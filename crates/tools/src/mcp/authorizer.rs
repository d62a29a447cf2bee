//! Who gives the credentials for requests to a service, when they are not a header of the configuration.

use std::fmt;

use async_trait::async_trait;
use domain::scrub::Scrubber;
use reqwest::header::HeaderValue;

/// Gives the header `Authorization`, and renews it. One for each server; requests share it.
#[async_trait]
pub trait McpAuthorizer: fmt::Debug + Send + Sync {
    /// The header for a request that is about to be sent, marked as sensitive. The error is told to people and to
    /// the model: it says what to do, and has no secret in it.
    async fn authorization(&self) -> Result<HeaderValue, String>;

    /// The server answered 401 to a request with this header; `challenge` is its `WWW-Authenticate`. The request is
    /// sent once more with what this gives, and not a third time.
    async fn renew(
        &self,
        rejected: &HeaderValue,
        challenge: Option<&HeaderValue>,
    ) -> Result<HeaderValue, String>;

    /// Names the consent that the credentials come from; it is no secret. `None`: there is none. What was approved or begun
    /// under one consent does not go on under another, which may be of another account.
    fn consent(&self) -> Option<String>;

    /// Takes the credentials out of what the server says: one that repeats them must not tell them to a model.
    fn scrubber(&self) -> Scrubber;

    /// Resolves when there are other credentials, or none any more: the connection is made anew.
    async fn changed(&self);
}
