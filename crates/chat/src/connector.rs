//! A channel as the chat service knows it: who speaks there, and whom it asks.

use std::sync::Arc;

use ports::channel::Channel;
use reply_parser::Language;

/// One channel with its settings.
#[derive(Clone)]
pub struct Connector {
    pub channel: Arc<dyn Channel>,
    /// Whom messages go to that are no answers.
    pub agent: Option<Arc<str>>,
    /// Chats that see every question.
    pub ask: Vec<String>,
    pub on_ambiguous: OnAmbiguous,
    pub language: Language,
}

/// What becomes of a reply that could mean several things. The hold stays as it is in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAmbiguous {
    /// Asked again, and the text goes to the agent after the decision.
    #[default]
    ReaskAndQueue,
    ReaskOnly,
    /// The agent has it at once.
    ForwardNow,
}

impl OnAmbiguous {
    pub const ALL: [OnAmbiguous; 3] =
        [OnAmbiguous::ReaskAndQueue, OnAmbiguous::ReaskOnly, OnAmbiguous::ForwardNow];

    pub fn name(self) -> &'static str {
        match self {
            OnAmbiguous::ReaskAndQueue => "reask_and_queue",
            OnAmbiguous::ReaskOnly => "reask_only",
            OnAmbiguous::ForwardNow => "forward_now",
        }
    }
}
