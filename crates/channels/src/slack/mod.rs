//! Slack: Block Kit messages, and modals for forms.

mod blocks;
mod modal;

pub use blocks::message;
pub use modal::modal;
