//! Responses: OpenAI's newer API. Nothing is kept at the provider (`store` is false): our store is the
//! history, and every request carries all of it, with encrypted thinking as it came.

mod item;
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
pub struct Responses {
    /// Whether to ask for thinking in a form that can be sent back. Models that do not think refuse
    /// to be asked for it.
    pub keep_thinking: bool,
    /// For the ids of calls that came without one.
    pub rng: Arc<dyn Rng>,
}

pub fn model(api: Responses, settings: ModelSettings, clock: Arc<dyn Clock>) -> Arc<dyn Model> {
    let rng = api.rng.clone();
    Arc::new(Client::new(api, settings, clock, rng))
}

impl ModelApi for Responses {
    type Reader = reader::Items;

    fn path(&self) -> &'static str {
        "responses"
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
        request::responses_body(self, settings, request, names)
    }

    fn reader(&self, settings: &ModelSettings) -> reader::Items {
        reader::Items::new(&settings.model, self.rng.clone())
    }

    fn takes_images(&self, _: &ModelSettings) -> bool {
        true
    }

    fn problem(&self, body: &[u8]) -> ProviderError {
        super::problem(body)
    }
}

#[cfg(test)]
mod tests;
