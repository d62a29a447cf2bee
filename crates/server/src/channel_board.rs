//! Channels as admins see them: which there are, what went wrong in them, and whether a word gets through.

use std::sync::{Arc, OnceLock};

use domain::person::PersonId;
use futures_util::future::BoxFuture;

/// The channels that are configured.
pub trait ChannelBoard: Send + Sync {
    fn channels(&self) -> Vec<ChannelInfo>;

    /// Writes a word to the person's own linked account there.
    fn send_test<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
    ) -> BoxFuture<'a, Result<(), TestNotSent>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelInfo {
    pub name: String,
    pub platform: String,
    /// Whether a word can be said to one person there.
    pub talks: bool,
}

/// A variant for each remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TestNotSent {
    /// The set-up has to be changed.
    #[error("{0}")]
    SetUp(String),
    /// It may work later.
    #[error("{0}")]
    Later(String),
}

/// Set once, when the server is put together.
#[derive(Default)]
pub(crate) struct Channels(OnceLock<Arc<dyn ChannelBoard>>);

impl Channels {
    pub(crate) fn are(&self, board: Arc<dyn ChannelBoard>) {
        let _ = self.0.set(board);
    }

    pub(crate) fn board(&self) -> Option<&Arc<dyn ChannelBoard>> {
        self.0.get()
    }
}
