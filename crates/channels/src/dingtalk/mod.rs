//! DingTalk: markdown messages, the variables of an interactive card's template, and what arrives by
//! stream and over HTTP. [`Dingtalk`] is the connector that puts them together.

mod api;
mod api_result;
mod card;
mod channel;
mod check;
mod connection;
mod envelope;
mod event;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod gesture;
mod hook;
mod markdown;
mod press_reply;
mod session;
mod settings;
mod sign;
mod stream;

pub use card::variables;
pub use channel::Dingtalk;
pub use egress::Network;
pub use envelope::{BadKey, Beside, DingTalkEnvelope};
pub use markdown::message;
pub use settings::{DingTalkMode, DingTalkSettings, Webhook};
pub use sign::{robot_sign, verify_card, verify_robot};
pub use stream::{Ack, DingTalkFrame, FrameKind};
