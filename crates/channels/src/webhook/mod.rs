//! Signed webhooks: tells a program that its hold is decided, at the address it gave.
//!
//! The form is Standard Webhooks: headers `webhook-id` (the same over retries), `webhook-timestamp`
//! and `webhook-signature`. The address comes from the program that opened the hold, so it is not trusted:
//! `egress` keeps us from being sent into our own network.

mod body;
mod callback_sender;
mod channel;
mod decision;
mod event;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod inbound;
#[cfg(test)]
pub(crate) mod sample;
mod secret;
mod target;
#[cfg(test)]
mod tests;
mod verdict;

pub use callback_sender::{WebhookCallbackSender, WebhookSettings};
pub use channel::{ChannelSettings, Webhook};
pub use egress::HostResolver;
pub use inbound::verify;
pub use secret::{BadSecret, WebhookSecret};
