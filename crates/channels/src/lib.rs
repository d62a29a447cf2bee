//! Places where word goes out to the world. Each foreign thing has its folder; none of them decides
//! anything.

pub mod card;
pub mod dingtalk;
pub mod email;
pub mod feishu;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod limits;
pub mod plain;
pub mod signed;
pub mod slack;
pub mod telegram;
pub mod webhook;
mod wire;
