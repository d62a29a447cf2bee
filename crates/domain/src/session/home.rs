//! Where a session lives.

use std::sync::Arc;

/// The door or the channel that a session was opened through, and what the conversation is called there.
/// A session of our own API has none. It is an address and gives nobody any right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Home {
    /// `worlds`, `ai_sdk`, or the name of a channel.
    pub door: Arc<str>,
    /// `my-world/chat-7`; for a chat `account:chat`, with `:thread` where there is one.
    pub place: String,
}
