//! Telegram: messages in HTML with an inline keyboard, updates by long polling or by webhook.

mod api;
pub(crate) mod bare;
mod channel;
mod check;
mod entities;
mod message;
mod poll;
mod secret;
mod settings;
mod update;

pub use channel::Telegram;
pub use message::message;
pub use secret::{BadSecret, Secret, update_key};
pub use settings::{BadToken, Mode, Settings, Token};
