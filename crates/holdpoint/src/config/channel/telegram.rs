//! `[channels.NAME]`, the keys of Telegram.

use channels::telegram::{Mode, Secret, Settings, Token};
use reqwest::Url;
use toml::Spanned;

use super::common::ChannelConfig;
use super::place::address;
use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::secret::SecretSource;
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramConfig {
    pub token: SecretSource,
    /// `None`: by polling.
    pub webhook: Option<TelegramWebhook>,
    pub base_url: Url,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramWebhook {
    pub secret: SecretSource,
    pub url: Option<Url>,
}

platform_table! {
    pub(in crate::config) struct TelegramTable {
        token_env: Option<Spanned<String>>,
        token_file: Option<Spanned<String>>,
        mode: Option<Spanned<String>>,
        webhook_secret_env: Option<Spanned<String>>,
        webhook_secret_file: Option<Spanned<String>>,
        webhook_url: Option<Spanned<String>>,
        base_url: Option<Spanned<String>>,
    }
}

impl PlatformTable for TelegramTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let token = source.secret("token", at.span.clone(), &self.token_env, &self.token_file)?;
        let by_webhook = match &self.mode {
            Some(mode) => source.word("mode", mode, &[("polling", false), ("webhook", true)])?,
            None => false,
        };
        let secret = source.secret_if_given(
            "webhook_secret",
            &self.webhook_secret_env,
            &self.webhook_secret_file,
        )?;
        let webhook = match (by_webhook, secret) {
            (false, _) => {
                if let Some(url) = &self.webhook_url {
                    let message = "`webhook_url` goes with `mode = \"webhook\"`";
                    return Err(source.error(url.span(), message));
                }
                None
            }
            (true, None) => {
                let message = "with `mode = \"webhook\"` `webhook_secret_env` is needed: a text that you \
                               make up, of letters, digits, `_` and `-`";
                return Err(source.error(at.span.clone(), message));
            }
            (true, Some(secret)) => {
                let like = "https://hold.example.org/channels/telegram/events";
                let url = self.webhook_url.is_some();
                let url = url.then(|| address("webhook_url", &self.webhook_url, like, source));
                let url = url.transpose()?;
                // Theirs, and no others; it would refuse the address when the server starts.
                let known = |url: &Url| matches!(url.port(), None | Some(80 | 88 | 8443));
                if let (Some(given), Some(false)) = (&self.webhook_url, url.as_ref().map(known)) {
                    let message = "Telegram calls the ports 443, 80, 88 and 8443 only";
                    return Err(source.error(given.span(), message));
                }
                Some(TelegramWebhook { secret, url })
            }
        };
        let base_url = address("base_url", &self.base_url, "https://api.telegram.org", source)?;
        Ok(PlatformConfig::Telegram(Box::new(TelegramConfig { token, webhook, base_url })))
    }
}

impl TelegramConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let of = |what: &str| format!("the {what} of [channels.{}]", channel.name);
        let token = self.token.read(&of("token"))?;
        let token = Token::new(&token).map_err(|why| format!("{}: {why}", of("token")))?;
        let mut settings = Settings::new(&channel.name, token, self.base_url.clone());
        if let Some(webhook) = &self.webhook {
            let what = of("webhook secret");
            let secret = webhook.secret.read(&what)?;
            let secret = Secret::new(&secret).map_err(|why| format!("{what}: {why}"))?;
            settings.mode = Mode::Webhook { secret, address: webhook.url.clone() };
        }
        settings.language = channel.language;
        settings.zone = channel.zone.clone();
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn told(keys: &str) -> String {
        let text = format!("[channels.telegram]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Telegram(own), .. }] => {
                    let url = own.webhook.as_ref().map(|webhook| webhook.url.as_ref());
                    format!("{:?} {}", url.map(|url| url.map(Url::as_str)), own.base_url)
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn a_bot_needs_its_token_and_a_webhook_its_secret() {
        let bot = "token_env = \"T\"\n";
        assert_eq!(told(bot), "None https://api.telegram.org/");
        let webhook = format!("{bot}mode = \"webhook\"\nwebhook_secret_env = \"S\"\n");
        assert_eq!(told(&webhook), "Some(None) https://api.telegram.org/");
        let set =
            format!("{webhook}webhook_url = \"https://h.example/channels/telegram/events\"\n");
        assert!(
            told(&set).starts_with("Some(Some(\"https://h.example/channels/telegram/events\"))")
        );
        for (keys, wanted) in [
            ("", "h.toml:1: `token_env` is missing (or `token_file`)"),
            ("token = \"1:A\"\n", "h.toml:2: secrets do not belong in this file"),
            (&format!("{bot}mode = \"push\"\n"), "h.toml:3: `mode` cannot be `push`"),
            (&format!("{bot}mode = \"webhook\"\n"), "h.toml:1: with `mode = \"webhook\"`"),
            (
                &format!("{bot}webhook_url = \"https://h.example\"\n"),
                "h.toml:3: `webhook_url` goes with `mode = \"webhook\"`",
            ),
            (
                &format!("{webhook}webhook_url = \"http://h.example\"\n"),
                "h.toml:5: `webhook_url` must begin with https://",
            ),
            (
                &format!("{webhook}webhook_url = \"https://h.example:7420/x\"\n"),
                "h.toml:5: Telegram calls the ports 443, 80, 88 and 8443 only",
            ),
            (&format!("{bot}app_id = \"x\"\n"), "h.toml:3: "),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
