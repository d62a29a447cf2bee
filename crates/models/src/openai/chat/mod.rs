//! Chat Completions: OpenAI's older API, and the one that vLLM, Ollama, llama.cpp and gateways have.
//! It is written as the vendor wants it and read as leniently as is safe.

mod reader;
mod request;

use std::borrow::Cow;
use std::sync::Arc;

use ports::clock::{Clock, Rng};
use ports::model::{Model, ModelRequest};
use serde_json::value::RawValue;

use crate::client::{Client, ModelApi};
use crate::fault::ProviderError;
use crate::names::Names;
use crate::settings::ModelSettings;

/// What only this API has.
#[derive(Clone)]
pub struct Chat {
    /// At the vendor's own place: it calls one field otherwise than all others do.
    pub at_vendor: bool,
    /// Whether thinking goes back to a server that sent some.
    pub send_thinking: bool,
    /// For the ids of calls that came without one.
    pub rng: Arc<dyn Rng>,
}

pub fn model(api: Chat, settings: ModelSettings, clock: Arc<dyn Clock>) -> Arc<dyn Model> {
    let rng = api.rng.clone();
    Arc::new(Client::new(api, settings, clock, rng))
}

impl ModelApi for Chat {
    type Reader = reader::Chunks;

    fn path(&self) -> &'static str {
        "chat/completions"
    }

    fn headers<'a>(&self, key: Option<&'a str>) -> Vec<(&'static str, Cow<'a, str>)> {
        super::bearer(key)
    }

    fn body(
        &self,
        settings: &ModelSettings,
        request: &ModelRequest<'_>,
        names: &Names,
        _: &[Box<RawValue>],
    ) -> Result<Vec<u8>, serde_json::Error> {
        request::chat_body(self, settings, request, names)
    }

    fn reader(&self, _: &ModelSettings) -> reader::Chunks {
        reader::Chunks::new(self.rng.clone())
    }

    /// The vendor's models do. Of other servers most do not, and some fail on the question.
    fn takes_images(&self, settings: &ModelSettings) -> bool {
        self.at_vendor && !settings.model.starts_with("gpt-3")
    }

    fn problem(&self, body: &[u8]) -> ProviderError {
        super::problem(body)
    }
}

#[cfg(test)]
mod tests;
