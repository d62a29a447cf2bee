//! Feishu and Lark: cards 2.0, texts and posts for clients that draw none, and what arrives by webhook
//! and by long connection. [`Feishu`] is the connector that puts them together.

mod api;
mod api_result;
mod card;
mod channel;
mod check;
mod connection;
mod event;
mod frame;
mod frame_assembler;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod gesture;
mod hook;
mod identity;
mod keepalive;
mod late_reply;
mod message;
mod press_reply;
mod render;
mod replays;
mod settings;
mod sign;
mod webhook;

pub use card::{card, content};
pub use channel::Feishu;
pub use event::FeishuEvent;
pub use frame::{BadFrame, FeishuFrame};
pub use frame_assembler::FrameAssembler;
pub use message::{post, text_message};
pub use settings::{FeishuMode, FeishuSettings};
pub use webhook::{Arrival, FeishuApp};
