//! Telegram: messages in HTML with an inline keyboard, and what arrives at the webhook.

mod message;
mod secret;

pub use message::message;
pub use secret::{BadSecret, Secret, update_key};
