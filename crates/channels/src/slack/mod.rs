//! Slack: Block Kit messages, modals for forms, and what arrives over HTTP or Socket Mode.

mod api;
pub(crate) mod bare;
mod blocks;
mod channel;
mod check;
mod event;
mod find;
mod form;
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
pub use settings::{Mode, Settings};
pub use sign::verify;
