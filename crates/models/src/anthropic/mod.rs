//! The Messages API of Anthropic, and whatever speaks it.

mod reader;
mod request;

use std::borrow::Cow;
use std::sync::Arc;

use ports::clock::{Clock, Rng};
use ports::model::{Model, ModelRequest};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::{Client, ModelApi};
use crate::fault::ProviderError;
use crate::names::Names;
use crate::settings::ModelSettings;

pub use request::{Cache, Thinking};

/// The version of the API that is spoken here.
const VERSION: &str = "2023-06-01";

/// What only this API has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anthropic {
    pub cache: Cache,
    pub thinking: Thinking,
}

pub fn model(
    api: Anthropic,
    settings: ModelSettings,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
) -> Arc<dyn Model> {
    Arc::new(Client::new(api, settings, clock, rng))
}

impl ModelApi for Anthropic {
    type Reader = reader::Messages;

    fn path(&self) -> &'static str {
        "messages"
    }

    fn headers<'a>(&self, key: Option<&'a str>) -> Vec<(&'static str, Cow<'a, str>)> {
        let version = ("anthropic-version", Cow::Borrowed(VERSION));
        let key = key.map(|key| ("x-api-key", Cow::Borrowed(key)));
        [version].into_iter().chain(key).collect()
    }

    fn body(
        &self,
        settings: &ModelSettings,
        request: &ModelRequest<'_>,
        names: &Names,
        paused: &[Box<RawValue>],
    ) -> Result<Vec<u8>, serde_json::Error> {
        request::messages_body(self, settings, request, names, paused)
    }

    fn reader(&self, _: &ModelSettings) -> reader::Messages {
        reader::Messages::default()
    }

    fn takes_images(&self, _: &ModelSettings) -> bool {
        true
    }

    fn problem(&self, body: &[u8]) -> ProviderError {
        let envelope: AnthropicErrorBody = serde_json::from_slice(body).unwrap_or_default();
        envelope.problem()
    }
}

#[derive(Default, Deserialize)]
struct AnthropicErrorBody {
    error: Option<AnthropicError>,
}

#[derive(Default, Deserialize)]
struct AnthropicError {
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
}

impl AnthropicErrorBody {
    fn problem(self) -> ProviderError {
        let said = self.error.unwrap_or_default();
        ProviderError { kind: said.kind, code: None, message: said.message }
    }
}

#[cfg(test)]
pub(crate) mod tests;
