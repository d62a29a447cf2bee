//! The connectors of the chat platforms: on our fakes, and between the platforms' own SDKs.

mod channels;
mod email;
mod lark;
mod slack;
mod telegram;
mod webhook_channel;
