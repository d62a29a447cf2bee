//! A model behind a vendor's API. The configuration's `[models.NAME]` becomes the same type.

use std::sync::Arc;
use std::time::Duration;

use domain::budget::Prices;
use models::ModelSettings;
#[cfg(feature = "anthropic")]
use models::anthropic::{Anthropic, Cache, Thinking};
use models::settings::{ApiKey, Proxy, TimeLimits, is_local};
use models::vendor::VendorApi;
use ports::clock::{Clock, Rng};
use ports::model::Model;
use ports::secret_string::SecretString;
use reqwest::Url;

use crate::secret_source::SecretSource;

/// A model behind a vendor's API, or behind a server that speaks one. Its key is read when
/// [`crate::Builder::build`] opens it, and a missing one is told there.
///
/// ```
/// # #[cfg(all(feature = "anthropic", feature = "openai"))] {
/// use holdpoint::prelude::*;
///
/// let far = VendorModel::anthropic("claude-sonnet-4-5").key_env("ANTHROPIC_API_KEY");
/// let near = VendorModel::openai_compatible("qwen3", "http://127.0.0.1:11434").max_tokens(4_000);
/// let agents = [Agent::new("ops", far), Agent::new("clerk", near)];
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct VendorModel {
    pub(crate) api: VendorApi,
    /// What its client takes, without the secrets: the key, the headers and the proxy are read when it is opened.
    pub(crate) settings: ModelSettings,
    /// Servers near by may want none.
    pub(crate) api_key: Option<SecretSource>,
    pub(crate) headers: Vec<(String, HeaderSource)>,
    pub(crate) proxy: ProxySource,
    pub(crate) prices: Option<Prices>,
    /// What was wrong with an address, told by the builder.
    mistake: Option<String>,
}

/// The value of a header, or where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderSource {
    /// Not a secret.
    Plain(String),
    /// A secret, by its place.
    Secret(SecretSource),
}

/// By which proxy a model is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxySource {
    /// As `HTTPS_PROXY` and its like say; none for a server near by.
    Environment,
    /// By none.
    None,
    /// By this one.
    Url(Url),
    /// By the one in this environment variable, which may hold a password.
    Env(String),
}

impl VendorModel {
    pub(crate) fn new(api: VendorApi, settings: ModelSettings) -> VendorModel {
        VendorModel {
            api,
            settings,
            api_key: None,
            headers: Vec::new(),
            proxy: ProxySource::Environment,
            prices: None,
            mistake: None,
        }
    }

    fn at_vendor(api: VendorApi, model: &str) -> VendorModel {
        VendorModel::new(api, ModelSettings::new(model, model, api.base_url()))
    }

    /// A model of Anthropic, by the vendor's own name for it.
    #[cfg(feature = "anthropic")]
    pub fn anthropic(model: &str) -> VendorModel {
        VendorModel::at_vendor(VendorApi::Anthropic(Anthropic::default()), model)
    }

    /// A model of OpenAI, by the vendor's own name for it, over the Responses API.
    #[cfg(feature = "openai")]
    pub fn openai(model: &str) -> VendorModel {
        VendorModel::at_vendor(VendorApi::Responses, model)
    }

    /// A model of any server that speaks OpenAI's Chat Completions: vLLM, Ollama, llama.cpp, a gateway.
    #[cfg(feature = "openai")]
    pub fn openai_compatible(model: &str, base_url: &str) -> VendorModel {
        VendorModel::at_vendor(VendorApi::Chat { send_thinking: true }, model).base_url(base_url)
    }

    /// Another place than the vendor's own, with or without a version at its end.
    #[must_use]
    pub fn base_url(mut self, url: &str) -> VendorModel {
        match Url::parse(url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
                self.settings.base_url = url;
            }
            // What stands here may have a password in it, so it is not repeated.
            _ => {
                self.mistake = Some(
                    "its base URL is not one; write it like `https://models.example.com`".into(),
                );
            }
        }
        self
    }

    /// The environment variable that holds the key.
    #[must_use]
    pub fn key_env(self, variable: &str) -> VendorModel {
        VendorModel { api_key: Some(SecretSource::Env(variable.into())), ..self }
    }

    /// The key, or where it is.
    #[must_use]
    pub fn key(self, source: SecretSource) -> VendorModel {
        VendorModel { api_key: Some(source), ..self }
    }

    /// A header that goes with every request.
    #[must_use]
    pub fn header(mut self, name: &str, value: HeaderSource) -> VendorModel {
        self.headers.push((name.to_ascii_lowercase(), value));
        self
    }

    /// By which proxy it is reached: as the environment says, if nothing is said.
    #[must_use]
    pub fn proxy(self, proxy: ProxySource) -> VendorModel {
        VendorModel { proxy, ..self }
    }

    /// The most that one turn may have.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> VendorModel {
        self.settings.max_tokens = Some(tokens);
        self
    }

    /// How freely it speaks, from 0 to 2.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> VendorModel {
        self.settings.temperature = Some(temperature);
        self
    }

    /// How hard to think, in the provider's own word.
    #[must_use]
    pub fn effort(mut self, effort: &str) -> VendorModel {
        self.settings.effort = Some(effort.into());
        self
    }

    /// Whether it takes images. Unless this is said, models of the vendors' own places do, and others do not.
    #[must_use]
    pub fn takes_images(mut self, takes: bool) -> VendorModel {
        self.settings.takes_images = Some(takes);
        self
    }

    /// Attempts after the first one.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> VendorModel {
        self.settings.retries = retries;
        self
    }

    /// How long a connection, a silence and a turn may take.
    #[must_use]
    pub fn time_limits(mut self, limits: TimeLimits) -> VendorModel {
        self.settings.time_limits = limits;
        self
    }

    /// How much a model of Anthropic thinks before it speaks. Others have [`VendorModel::effort`].
    #[cfg(feature = "anthropic")]
    #[must_use]
    pub fn thinking(mut self, how_much: Thinking) -> VendorModel {
        if let VendorApi::Anthropic(api) = &mut self.api {
            api.thinking = how_much;
        }
        self
    }

    /// How long Anthropic remembers the beginning of a conversation.
    #[cfg(feature = "anthropic")]
    #[must_use]
    pub fn cache(mut self, how_long: Cache) -> VendorModel {
        if let VendorApi::Anthropic(api) = &mut self.api {
            api.cache = how_long;
        }
        self
    }

    /// What it costs, for agents that do not say so themselves.
    #[must_use]
    pub fn prices(self, prices: Prices) -> VendorModel {
        VendorModel { prices: Some(prices), ..self }
    }

    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.settings.base_url)
    }

    /// What the builder refuses.
    pub(super) fn mistake(&self) -> Option<String> {
        let name = &self.settings.model;
        let of_model =
            |why: &str| Some(format!("model `{}`: {why}", domain::visible::visible(name)));
        if let Some(why) = &self.mistake {
            return of_model(why);
        }
        let by_header =
            self.headers.iter().any(|(_, value)| matches!(value, HeaderSource::Secret(_)));
        if self.api_key.is_none() && !by_header && !self.is_local() {
            return of_model("it has no key; name the variable that holds it with `key_env`");
        }
        if self.settings.temperature.is_some_and(|given| !(0.0..=2.0).contains(&given)) {
            return of_model("`temperature` is between 0 and 2");
        }
        let TimeLimits { connect, first_byte, silence, turn } = self.settings.time_limits;
        if [connect, first_byte, silence, turn].contains(&Duration::ZERO) {
            return of_model("a time limit is more than nothing");
        }
        None
    }

    /// Ready to think. The secrets are read now.
    pub(crate) fn open(
        &self,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Result<Arc<dyn Model>, String> {
        Ok(self.api.model(self.with_secrets()?, clock, rng))
    }

    fn with_secrets(&self) -> Result<ModelSettings, String> {
        let mut settings = self.settings.clone();
        if let Some(source) = &self.api_key {
            let secret = SecretString::new(source.read("the key")?);
            settings.key = Some(ApiKey { secret, origin: origin(source) });
        }
        for (name, source) in &self.headers {
            let value = match source {
                HeaderSource::Plain(value) => value.clone(),
                HeaderSource::Secret(source) => source.read(&format!("the header `{name}`"))?,
            };
            settings.headers.push((name.clone(), SecretString::new(value)));
        }
        settings.proxy = match &self.proxy {
            // What is near is not looked for at a proxy that leads away.
            ProxySource::Environment if self.is_local() => Proxy::None,
            ProxySource::Environment => Proxy::Environment,
            ProxySource::None => Proxy::None,
            ProxySource::Url(url) => Proxy::Url(SecretString::new(url.as_str())),
            ProxySource::Env(variable) => {
                let url = SecretSource::Env(variable.clone()).read("the proxy")?;
                Proxy::Url(SecretString::new(url))
            }
        };
        Ok(settings)
    }
}

/// Where a secret is, as the configuration says it.
fn origin(source: &SecretSource) -> String {
    match source {
        SecretSource::Env(name) => format!("`api_key_env` {name}"),
        SecretSource::File(path) => format!("`api_key_file` {}", path.display()),
    }
}
