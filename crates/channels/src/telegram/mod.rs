//! Telegram: messages in HTML, with an inline keyboard.

mod message;

pub use message::message;
