//! Places where word goes out to the world. Each foreign thing has its folder; none of them decides
//! anything.

#![cfg_attr(
    not(all(
        feature = "feishu",
        feature = "dingtalk",
        feature = "slack",
        feature = "telegram",
        feature = "webhook",
        feature = "email"
    )),
    allow(dead_code, unused_imports, reason = "what platforms share is not all used by each")
)]

pub mod card;
#[cfg(feature = "dingtalk")]
pub mod dingtalk;
#[cfg(feature = "email")]
pub mod email;
#[cfg(feature = "feishu")]
pub mod feishu;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod limits;
pub mod plain;
pub mod signed;
#[cfg(feature = "slack")]
pub mod slack;
#[cfg(feature = "telegram")]
pub mod telegram;
#[cfg(feature = "web-push")]
pub mod web_push;
#[cfg(feature = "webhook")]
pub mod webhook;
mod wire;
