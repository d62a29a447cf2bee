//! `[channels.NAME]`, the keys of a signed webhook.

use channels::webhook::{ChannelSettings, Secret};
use toml::Spanned;

use super::common::ChannelConfig;
use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::secret::SecretSource;
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfig {
    pub url: String,
    pub secret: SecretSource,
    /// Without one it only listens.
    pub inbound_secret: Option<SecretSource>,
    /// Identities of people under `webhook`.
    pub speaks_for: Vec<String>,
    pub allow_private_addresses: bool,
}

platform_table! {
    pub(in crate::config) struct WebhookTable {
        url: Option<Spanned<String>>,
        secret_env: Option<Spanned<String>>,
        secret_file: Option<Spanned<String>>,
        inbound_secret_env: Option<Spanned<String>>,
        inbound_secret_file: Option<Spanned<String>>,
        speaks_for: Option<Vec<Spanned<String>>>,
        allow_private_addresses: Option<bool>,
    }
}

impl PlatformTable for WebhookTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let Some(url) = self.url else {
            let message = "`url` is missing, like `https://ci.example.org/holds`";
            return Err(source.error(at.span.clone(), message));
        };
        let allow_private_addresses = self.allow_private_addresses.unwrap_or(false);
        let secret =
            source.secret("secret", at.span.clone(), &self.secret_env, &self.secret_file)?;
        let names = self.speaks_for.unwrap_or_default();
        let (env, file) = (&self.inbound_secret_env, &self.inbound_secret_file);
        let speaks = !names.is_empty() || env.is_some() || file.is_some();
        let inbound_secret = match speaks {
            true => Some(source.secret("inbound_secret", at.span.clone(), env, file)?),
            false => None,
        };
        if inbound_secret.as_ref() == Some(&secret) {
            let message = "`secret` and `inbound_secret` must differ: what we sign could be sent back to \
                           us as a decision";
            return Err(source.error(at.span.clone(), message));
        }
        if let Some(empty) = names.iter().find(|name| name.get_ref().trim().is_empty()) {
            let message = "this names nobody; write what stands in `identities = { webhook = … }`";
            return Err(source.error(empty.span(), message));
        }
        Ok(PlatformConfig::Webhook(Box::new(WebhookConfig {
            url: url.into_inner(),
            secret,
            inbound_secret,
            speaks_for: names.into_iter().map(Spanned::into_inner).collect(),
            allow_private_addresses,
        })))
    }
}

impl WebhookConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<ChannelSettings, String> {
        let read = |what: &str, from: &SecretSource| {
            let what = format!("the {what} of [channels.{}]", channel.name);
            Secret::parse(&from.read(&what)?).map_err(|why| format!("{what}: {why}"))
        };
        Ok(ChannelSettings {
            name: channel.name.to_string(),
            url: self.url.clone(),
            secret: read("secret", &self.secret)?,
            inbound_secret: self
                .inbound_secret
                .as_ref()
                .map(|from| read("inbound secret", from))
                .transpose()?,
            speaks_for: self.speaks_for.iter().cloned().collect(),
            allow_private_addresses: self.allow_private_addresses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn told(keys: &str) -> String {
        let text = format!("[channels.webhook]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Webhook(own), .. }] => {
                    format!("{} {:?} {}", own.url, own.speaks_for, own.allow_private_addresses)
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_webhook_needs_an_address_a_secret_and_to_speak_another_one() {
        let hook =
            "url = \"https://ci.example/\"\nsecret_env = \"A\"\ninbound_secret_env = \"B\"\n";
        assert_eq!(told(hook), "https://ci.example/ [] false");
        let speaks = format!("{hook}speaks_for = [\"ana-42\"]\n");
        assert_eq!(told(&speaks), "https://ci.example/ [\"ana-42\"] false");
        for (keys, wanted) in [
            ("", "h.toml:1: `url` is missing"),
            ("url = \"x\"\n", "h.toml:1: `secret_env` is missing (or `secret_file`)"),
            ("url = \"x\"\nsecret_env = \"A\"\n", "x [] false"),
            (
                "url = \"x\"\nsecret_env = \"A\"\nspeaks_for = [\"ana-42\"]\n",
                "h.toml:1: `inbound_secret_env` is missing (or `inbound_secret_file`)",
            ),
            (
                "url = \"x\"\nsecret_env = \"A\"\ninbound_secret_env = \"A\"\n",
                "h.toml:1: `secret` and `inbound_secret` must differ",
            ),
            (&format!("{hook}speaks_for = [\"\"]\n"), "h.toml:5: this names nobody"),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
