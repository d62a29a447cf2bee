//! Feishu and Lark: cards 2.0, and texts and posts for clients that draw none.

mod card;
mod message;

pub use card::{card, content};
pub use message::{post, text};
