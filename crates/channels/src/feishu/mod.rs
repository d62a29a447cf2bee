//! Feishu and Lark: cards 2.0, texts and posts for clients that draw none, and what arrives by webhook
//! and by long connection.

mod card;
mod event;
mod frame;
mod message;
mod parts;
mod sign;
mod webhook;

pub use card::{card, content};
pub use event::Event;
pub use frame::{BadFrame, Frame};
pub use message::{post, text};
pub use parts::Parts;
pub use webhook::{App, Arrival};
