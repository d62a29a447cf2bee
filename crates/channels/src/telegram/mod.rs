//! Telegram: messages in HTML with an inline keyboard, updates by long polling or by webhook.

mod api;
mod channel;
mod check;
mod entities;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod message;
mod poll;
mod secret;
mod settings;
mod update;

pub use channel::Telegram;
pub use message::message;
pub use secret::{BadSecret, TelegramSecret, update_key};
pub use settings::{BadToken, BotToken, TelegramMode, TelegramSettings};
