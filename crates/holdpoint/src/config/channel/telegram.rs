//! `[channels.NAME]`, the keys of Telegram.

use channels::telegram::{BotToken, TelegramMode, TelegramSecret, TelegramSettings};
use reqwest::Url;
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section, Unopened};
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let token = at.secret("token", &self.token_env, &self.token_file)?;
        let by_webhook = at.word("mode", &self.mode, &[("polling", false), ("webhook", true)])?;
        let secret = at.secret_if_given(
            "webhook_secret",
            &self.webhook_secret_env,
            &self.webhook_secret_file,
        )?;
        let webhook = match (by_webhook.unwrap_or(false), secret) {
            (false, _) => {
                if let Some(url) = &self.webhook_url {
                    let message = "`webhook_url` goes with `mode = \"webhook\"`";
                    return Err(at.source.error(url.span(), message));
                }
                None
            }
            (true, None) => {
                return at.wrong(
                    "with `mode = \"webhook\"` `webhook_secret_env` is needed: a text that you \
                     make up, of letters, digits, `_` and `-`",
                );
            }
            (true, Some(secret)) => Some((secret, self.webhook_url(at)?)),
        };
        let base_url = at.address("base_url", &self.base_url, "https://api.telegram.org")?;
        Ok(PlatformConfig::Telegram(Unopened::new(move |opening| {
            Ok(TelegramSettings {
                name: opening.name(),
                token: opening.parsed("token", &token, BotToken::new)?,
                base_url: base_url.clone(),
                mode: match &webhook {
                    None => TelegramMode::Polling,
                    Some((secret, address)) => TelegramMode::Webhook {
                        secret: opening.parsed("webhook secret", secret, TelegramSecret::new)?,
                        address: address.clone(),
                    },
                },
                language: opening.channel.language,
                zone: opening.channel.zone.clone(),
            })
        })))
    }
}

impl TelegramTable {
    fn webhook_url(&self, at: &Section<'_>) -> Result<Option<Url>> {
        let Some(given) = &self.webhook_url else { return Ok(None) };
        let like = "https://hold.example.org/channels/telegram/events";
        let url = at.address("webhook_url", &self.webhook_url, like)?;
        // Theirs, and no others; it would refuse the address when the server starts.
        match url.port() {
            None | Some(80 | 88 | 8443) => Ok(Some(url)),
            Some(_) => {
                let message = "Telegram calls the ports 443, 80, 88 and 8443 only";
                Err(at.source.error(given.span(), message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_alone;
    use super::*;
    use crate::config::secret::SecretSource;

    fn told(keys: &str) -> String {
        read_alone("telegram", keys, |channel| {
            let PlatformConfig::Telegram(own) = &channel.platform else { panic!("{channel:?}") };
            let own = own
                .open_with(channel, |from| match from {
                    SecretSource::Env(name) if name == "T" => "1:A",
                    _ => "s",
                })
                .expect("settings");
            let url = match &own.mode {
                TelegramMode::Polling => None,
                TelegramMode::Webhook { address, .. } => Some(address.as_ref().map(Url::as_str)),
            };
            format!("{url:?} {}", own.base_url)
        })
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
