//! From a section to a model that thinks: its secrets are read, and its client is made.

use std::sync::Arc;

use models::Settings;
use models::anthropic::{self, Anthropic};
use models::openai::chat::{self, Chat};
use models::openai::responses::{self, Responses};
use models::settings::{Key, Proxy};
use ports::clock::{Chance, Clock};
use ports::model::Model;
use ports::secret_string::SecretString;
use reqwest::Url;

use super::vendor::{HeaderSource, OpenAiApi, ProxySource, Vendor, VendorModel};
use crate::config::secret::SecretSource;

impl Vendor {
    pub(super) fn base_url(self) -> Url {
        let url = match self {
            Vendor::Anthropic => "https://api.anthropic.com",
            Vendor::OpenAi(_) => "https://api.openai.com",
        };
        Url::parse(url).expect("a URL")
    }
}

impl VendorModel {
    pub(super) fn open(
        &self,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
    ) -> Result<Arc<dyn Model>, String> {
        let settings = self.with_secrets()?;
        match self.vendor {
            Vendor::Anthropic => {
                let api = Anthropic { cache: self.cache, thinking: self.thinking };
                Ok(anthropic::model(api, settings, clock, chance))
            }
            Vendor::OpenAi(OpenAiApi::Chat) => {
                let at_vendor = self.is_at_vendor();
                let api = Chat { at_vendor, send_thinking: self.send_thinking, chance };
                Ok(chat::model(api, settings, clock))
            }
            Vendor::OpenAi(OpenAiApi::Responses) => {
                let api = Responses { keep_thinking: self.keeps_thinking(), chance };
                Ok(responses::model(api, settings, clock))
            }
        }
    }

    fn is_at_vendor(&self) -> bool {
        self.settings.base_url.host() == self.vendor.base_url().host()
    }

    /// The vendor's older models do not think, and refuse to be asked for it; other servers may not
    /// know the question. Whoever sets `effort` knows that his model does.
    fn keeps_thinking(&self) -> bool {
        let Settings { model, effort, .. } = &self.settings;
        let never = ["gpt-3", "gpt-4", "chatgpt"].iter().any(|old| model.starts_with(old));
        effort.is_some() || self.is_at_vendor() && !never
    }

    /// The secrets are read now.
    fn with_secrets(&self) -> Result<Settings, String> {
        let mut settings = self.settings.clone();
        if let Some(source) = &self.api_key {
            let secret = SecretString::new(source.read("the key")?);
            settings.key = Some(Key { secret, origin: origin(source) });
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
