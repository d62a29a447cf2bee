//! The APIs of vendors that are spoken here: where each is by default, and a model of it.

use std::sync::Arc;

use ports::clock::{Clock, Rng};
use ports::model::Model;
use reqwest::Url;

#[cfg(feature = "anthropic")]
use crate::anthropic::{self, Anthropic};
#[cfg(feature = "openai")]
use crate::openai::{chat, responses};
use crate::settings::ModelSettings;

/// An API, with what only that one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VendorApi {
    /// The Messages API of Anthropic.
    #[cfg(feature = "anthropic")]
    Anthropic(Anthropic),
    /// The Chat Completions API of OpenAI, which nearly every other server speaks too.
    #[cfg(feature = "openai")]
    Chat {
        /// Whether thinking goes back to a server that sent some.
        send_thinking: bool,
    },
    /// The Responses API of OpenAI.
    #[cfg(feature = "openai")]
    Responses,
}

impl VendorApi {
    /// The vendor's own place.
    pub fn base_url(self) -> Url {
        let url = match self {
            #[cfg(feature = "anthropic")]
            VendorApi::Anthropic(_) => "https://api.anthropic.com",
            #[cfg(feature = "openai")]
            VendorApi::Chat { .. } | VendorApi::Responses => "https://api.openai.com",
        };
        Url::parse(url).expect("a URL")
    }

    /// A model of this API. Nothing is sent before it is asked to think.
    pub fn model(
        self,
        settings: ModelSettings,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Arc<dyn Model> {
        match self {
            #[cfg(feature = "anthropic")]
            VendorApi::Anthropic(api) => anthropic::model(api, settings, clock, rng),
            #[cfg(feature = "openai")]
            VendorApi::Chat { send_thinking } => {
                let at_vendor = self.is_at_vendor(&settings);
                chat::model(chat::Chat { at_vendor, send_thinking, rng }, settings, clock)
            }
            #[cfg(feature = "openai")]
            VendorApi::Responses => {
                let keep_thinking = self.keeps_thinking(&settings);
                responses::model(responses::Responses { keep_thinking, rng }, settings, clock)
            }
        }
    }

    #[cfg(feature = "openai")]
    fn is_at_vendor(self, settings: &ModelSettings) -> bool {
        settings.base_url.host() == self.base_url().host()
    }

    /// The vendor's older models do not think, and refuse to be asked for it; other servers may not
    /// know the question. Settings with an `effort` are for a model that does.
    #[cfg(feature = "openai")]
    fn keeps_thinking(self, settings: &ModelSettings) -> bool {
        let ModelSettings { model, effort, .. } = settings;
        let never = ["gpt-3", "gpt-4", "chatgpt"].iter().any(|old| model.starts_with(old));
        effort.is_some() || self.is_at_vendor(settings) && !never
    }
}
