//! Who we are to a service whose tokens come and go.

use async_trait::async_trait;

/// Gives the `Authorization` header of each request to one service, and hears when it was not taken.
#[async_trait]
pub trait AuthorizationSource: Send + Sync {
    /// The header's value; `None` for a request without one. The error says what to do.
    async fn header_value(&self) -> Result<Option<String>, String>;

    /// The service answered 401 to `refused`, with this `WWW-Authenticate`. Whether it is worth another try: then
    /// [`header_value`](Self::header_value) gives another value.
    async fn renew(&self, refused: Option<&str>, challenge: Option<&str>) -> bool;
}
