//! The vendors' own SDKs as judges of our channels and of the fakes that they are tried on. They are
//! installed, pinned, by `cargo xtask test --only channels`; each platform has its folder in `judges/`.

mod dingtalk;
mod feishu;
mod feishu_node;
mod judge;
mod slack;
mod telegram;
mod webhook;
