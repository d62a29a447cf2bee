//! Feishu and Lark: cards 2.0, texts and posts for clients that draw none, and what arrives by webhook
//! and by long connection. [`Feishu`] is the connector that puts them together.

mod api;
mod card;
mod channel;
mod check;
mod drawn;
mod event;
mod frame;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod gesture;
mod heard;
mod hook;
mod late;
mod line;
mod message;
mod parts;
mod replays;
mod settings;
mod sign;
mod tempo;
mod told;
mod webhook;
mod who;

pub use card::{card, content};
pub use channel::Feishu;
pub use event::Event;
pub use frame::{BadFrame, Frame};
pub use message::{post, text};
pub use parts::Parts;
pub use settings::{Mode, Settings};
pub use webhook::{App, Arrival};
