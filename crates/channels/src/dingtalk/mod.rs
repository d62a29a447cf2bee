//! DingTalk: markdown messages, the variables of an interactive card's template, and what arrives by
//! stream and over HTTP.

mod card;
mod envelope;
mod markdown;
mod sign;
mod stream;

pub use card::variables;
pub use envelope::{BadKey, Beside, Envelope};
pub use markdown::message;
pub use sign::{robot_sign, verify_card, verify_robot};
pub use stream::{Ack, Frame, Kind};
