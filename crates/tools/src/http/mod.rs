//! Tools that are one HTTP request: the operator writes a template, the model fills in arguments.
//!
//! The shape of the request is fixed by the configuration. An argument can become one segment of the
//! path, one value of the query, one header or one value of the body, encoded for exactly that place,
//! and nothing else: never the scheme, and the host only out of a list. The whole request is written
//! out before anybody is asked, is part of what is approved, and is compared once more before it is
//! sent.
//!
//! What a failure means depends on whether a byte may have left. Before the connection stands, nothing
//! was sent. After that nobody knows what the other side did, and a tool that is not harmless to
//! repeat leaves its call in doubt.

mod address;
mod answer;
mod body;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod header;
mod host;
mod request;
mod send;
mod template;

pub use header::SecretHeader;
pub use host::{HttpConfig, HttpTool};
pub use request::BodyTemplate;
