//! Slack: Block Kit messages, modals for forms, and what arrives over HTTP or Socket Mode.

mod api;
mod blocks;
mod channel;
mod check;
mod event;
mod find;
mod form;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod hook;
mod inbound;
mod key;
mod mention;
mod modal;
mod press;
mod settings;
mod sign;
mod socket;

pub use blocks::message;
pub use channel::Slack;
pub use key::{action_key, event_key};
pub use modal::modal;
pub use settings::{SlackMode, SlackSettings};
pub use sign::verify;
