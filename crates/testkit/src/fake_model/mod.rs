//! A model server that nobody pays for: Anthropic Messages, OpenAI Chat Completions and OpenAI
//! Responses on one port, saying what a script tells it to say.
//!
//! It is as strict as the vendors are: a call without its result, a result without its call or a
//! thinking block that did not come back as it was sent gets the vendor's own error. So a
//! conversation that goes well here is one that a vendor takes. That it behaves as the vendors do is
//! shown by their own clients, which are run against it (`tests/sdk`).
//!
//! It does not think, and it does not check what a vendor does not check.

mod anthropic;
mod api;
mod asked;
mod chat;
mod frame;
mod manner;
mod memory;
mod pour;
mod record;
mod responses;
mod said;
mod script;
mod server;
mod turn;

#[cfg(test)]
mod tests;

pub use api::Api;
pub use manner::{Manner, Then};
pub use record::{Ended, Recorded};
pub use script::{KEY, MODEL, Script};
pub use server::FakeModel;
pub use turn::{Block, Call, Failure, Stop, Turn, When};
