//! `[channels.NAME]`, the keys of a signed webhook.

use channels::webhook::{ChannelSettings, WebhookSecret};
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section, Unopened};
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let Some(url) = self.url.map(Spanned::into_inner) else {
            return at.wrong("`url` is missing, like `https://ci.example.org/holds`");
        };
        let allow_private_addresses = self.allow_private_addresses.unwrap_or(false);
        let secret = at.secret("secret", &self.secret_env, &self.secret_file)?;
        let names = self.speaks_for.unwrap_or_default();
        let (env, file) = (&self.inbound_secret_env, &self.inbound_secret_file);
        let speaks = !names.is_empty() || env.is_some() || file.is_some();
        let inbound_secret = match speaks {
            true => Some(at.secret("inbound_secret", env, file)?),
            // It only listens.
            false => None,
        };
        if inbound_secret.as_ref() == Some(&secret) {
            return at.wrong(
                "`secret` and `inbound_secret` must differ: what we sign could be sent back to us \
                 as a decision",
            );
        }
        if let Some(empty) = names.iter().find(|name| name.get_ref().trim().is_empty()) {
            let message = "this names nobody; write what stands in `identities = { webhook = … }`";
            return Err(at.source.error(empty.span(), message));
        }
        let speaks_for: Vec<String> = names.into_iter().map(Spanned::into_inner).collect();
        Ok(PlatformConfig::Webhook {
            speaks_for: speaks_for.clone(),
            settings: Unopened::new(move |opening| {
                let inbound = inbound_secret.as_ref();
                let inbound = inbound
                    .map(|from| opening.parsed("inbound secret", from, WebhookSecret::parse));
                Ok(ChannelSettings {
                    name: opening.name(),
                    url: url.clone(),
                    secret: opening.parsed("secret", &secret, WebhookSecret::parse)?,
                    inbound_secret: inbound.transpose()?,
                    speaks_for: speaks_for.iter().cloned().collect(),
                    allow_private_addresses,
                })
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_alone;
    use super::*;

    fn told(keys: &str) -> String {
        read_alone("webhook", keys, |channel| {
            let PlatformConfig::Webhook { settings: own, .. } = &channel.platform else {
                panic!("{channel:?}")
            };
            let own = own.open_with(channel, |_| "s").expect("settings");
            let mut speaks_for: Vec<&String> = own.speaks_for.iter().collect();
            speaks_for.sort();
            format!("{} {speaks_for:?} {}", own.url, own.allow_private_addresses)
        })
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
