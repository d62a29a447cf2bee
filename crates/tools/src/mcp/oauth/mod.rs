//! OAuth for MCP servers: an admin connects a server once, and its requests carry tokens from then on.
//!
//! ```text
//! McpOauthDesk (all servers; what doors call) ── begin ─► PendingConnection ── finish ─► OauthGrant, kept by GrantStore
//!      └── McpOauth, one for each server: the McpAuthorizer of its transport, which renews the grant
//! ```
//!
//! The protocol itself is the crate `oauth`. A grant is for one address: another `url` in the configuration gets no token.

mod begin;
mod desk;
mod grant;
mod grant_store;
mod settings;
mod upstream;

pub use desk::McpOauthDesk;
pub use settings::McpOauthSettings;
pub use upstream::McpOauth;
