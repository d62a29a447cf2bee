//! Slack: Block Kit messages, modals for forms, and what arrives over HTTP.

mod blocks;
mod key;
mod modal;
mod sign;

pub use blocks::message;
pub use key::{action_key, event_key};
pub use modal::modal;
pub use sign::verify;
