//! Telegram's Bot API on loopback: chats, topics, keyboards, updates by polling or webhook.
//!
//! As strict as the platform where a connector could go wrong: markup that does not parse, keys that
//! are too long, an edit that changes nothing, a second poller, a query that is answered twice. That
//! it behaves as the platform does is shown by `python-telegram-bot`, which is run against it.

mod hooks;
mod html;
mod methods;
mod people;
mod server;
mod state;

pub use people::{From, User};
pub use server::{FakeTelegram, Recorded, TOKEN};
