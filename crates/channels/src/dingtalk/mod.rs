//! DingTalk: markdown messages, and the variables of an interactive card's template.

mod card;
mod markdown;

pub use card::variables;
pub use markdown::message;
