//! Web Push: notices to a person's own browsers, through the push services of their makers.
//!
//! Each message is encrypted for its browser (RFC 8291), and signed with a key of our own (RFC 8292), so no account with
//! anybody is needed and a push service learns that something was sent, when, and no more. The address comes from a client, so it
//! is not trusted: `egress` keeps us from being sent into our own network.

mod encrypt;
mod pusher;
mod vapid;
mod words;

pub use pusher::{WebPush, WebPushSettings};
pub use vapid::new_vapid_key;
