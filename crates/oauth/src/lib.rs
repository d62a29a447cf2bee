//! The client's side of OAuth 2.1: authorization code with PKCE, and what has to be known and checked for it.
//!
//! ```text
//! BearerChallenge (a 401) ─► ProtectedResource (RFC 9728) ─► AuthorizationServer (RFC 8414, OpenID discovery)
//!       ─► ClientRegistration (RFC 7591) ─► AuthorizationRequest ─► AuthorizationReply (RFC 9207) ─► TokenReply
//! ```
//!
//! It knows nothing of MCP, stores or people: it is told what to ask, and says what was answered. Every body and every wait
//! has a bound in [`limits`]. Addresses that a stranger wrote are called through the guard of `egress`. No error and no
//! debug output contains a secret, or a word that the other side chose.
//!
//! What is deliberately not here: where tokens are kept, when they are renewed, and ID tokens.

mod authorize;
mod challenge;
mod error;
pub mod limits;
mod metadata;
mod pkce;
mod registration;
mod resource;
mod secret;
mod token;
mod way_out;

pub use authorize::{AuthorizationReply, AuthorizationRequest};
pub use challenge::BearerChallenge;
pub use error::OauthError;
pub use metadata::AuthorizationServer;
pub use pkce::{PkceVerifier, random_state};
pub use registration::{ClientRegistration, RegistrationRequest};
pub use resource::ProtectedResource;
pub use secret::OauthSecret;
pub use token::{OauthClient, TokenAuthMethod, TokenReply};
pub use way_out::WayOut;
