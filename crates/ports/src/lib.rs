//! The traits through which the engine reaches the world, with their errors.
//! Each has one conformance suite that every adapter passes.

#![warn(missing_docs)]

pub mod backoff;
pub mod callback;
pub mod channel;
pub mod clock;
pub mod durable;
pub mod failpoint;
pub mod file_store;
pub mod hold_query;
mod login_secret;
pub mod mcp_connections;
pub mod model;
pub mod nested_question;
mod note;
pub mod outbox;
pub mod push;
pub mod secret_string;
pub mod sse;
pub mod start_gate;
pub mod store;
pub mod tool_host;
pub mod toolbox;
pub mod unpoisoned;
