//! `[channels.NAME]`, the keys of DingTalk.

use channels::Hidden;
use channels::dingtalk::{Mode, Settings, Webhook};
use reqwest::Url;
use toml::Spanned;

use super::common::ChannelConfig;
use super::place::address;
use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::secret::SecretSource;
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DingtalkConfig {
    pub client_id: String,
    pub client_secret: SecretSource,
    pub robot_code: Option<String>,
    pub card_template: Option<String>,
    pub corp_id: Option<String>,
    pub webhook: Option<DingtalkWebhook>,
    pub base_url: Url,
}

/// Instead of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DingtalkWebhook {
    pub path_secret: SecretSource,
    pub card_secret: Option<SecretSource>,
    pub card_route: Option<String>,
}

platform_table! {
    pub(in crate::config) struct DingtalkTable {
        client_id: Option<Spanned<String>>,
        client_secret_env: Option<Spanned<String>>,
        client_secret_file: Option<Spanned<String>>,
        robot_code: Option<String>,
        card_template: Option<Spanned<String>>,
        corp_id: Option<String>,
        mode: Option<Spanned<String>>,
        path_secret_env: Option<Spanned<String>>,
        path_secret_file: Option<Spanned<String>>,
        card_secret_env: Option<Spanned<String>>,
        card_secret_file: Option<Spanned<String>>,
        card_route: Option<String>,
        base_url: Option<Spanned<String>>,
    }
}

impl PlatformTable for DingtalkTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let Some(client_id) = self.client_id.filter(|id| !id.get_ref().trim().is_empty()) else {
            let message =
                "`client_id` is missing; the developer console shows it under Credentials";
            return Err(source.error(at.span.clone(), message));
        };
        if let Some(template) = &self.card_template
            && !template.get_ref().ends_with(".schema")
        {
            let message =
                "`card_template` is the id of a published template, which ends in `.schema`";
            return Err(source.error(template.span(), message));
        }
        let by_webhook = match &self.mode {
            Some(mode) => source.word("mode", mode, &[("stream", false), ("webhook", true)])?,
            None => false,
        };
        let webhook = match by_webhook {
            false => None,
            true => Some(DingtalkWebhook {
                // Bodies are not signed there, so nobody else may know the address.
                path_secret: source.secret(
                    "path_secret",
                    at.span.clone(),
                    &self.path_secret_env,
                    &self.path_secret_file,
                )?,
                card_secret: source.secret_if_given(
                    "card_secret",
                    &self.card_secret_env,
                    &self.card_secret_file,
                )?,
                card_route: self.card_route,
            }),
        };
        Ok(PlatformConfig::Dingtalk(Box::new(DingtalkConfig {
            client_id: client_id.into_inner(),
            client_secret: source.secret(
                "client_secret",
                at.span.clone(),
                &self.client_secret_env,
                &self.client_secret_file,
            )?,
            robot_code: self.robot_code,
            card_template: self.card_template.map(Spanned::into_inner),
            corp_id: self.corp_id,
            webhook,
            base_url: address("base_url", &self.base_url, "https://api.dingtalk.com", source)?,
        })))
    }
}

impl DingtalkConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let read = |what: &str, from: &SecretSource| {
            let what = format!("the {what} of [channels.{}]", channel.name);
            from.read(&what).map(Hidden::new)
        };
        let secret = read("client secret", &self.client_secret)?;
        let base_url = self.base_url.clone();
        let mut settings = Settings::new(&channel.name, &self.client_id, secret, base_url);
        if let Some(robot) = &self.robot_code {
            settings.robot_code = robot.clone();
        }
        settings.card_template = self.card_template.clone();
        settings.corp_id = self.corp_id.clone();
        if let Some(webhook) = &self.webhook {
            let card_secret = webhook.card_secret.as_ref();
            settings.mode = Mode::Webhook(Webhook {
                path_secret: read("path secret", &webhook.path_secret)?,
                card_secret: card_secret.map(|from| read("card secret", from)).transpose()?,
                card_route: webhook.card_route.clone(),
            });
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
        let text = format!("[channels.dingtalk]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Dingtalk(own), .. }] => {
                    let by_webhook = own.webhook.is_some();
                    format!("{} {by_webhook} {}", own.client_id, own.base_url)
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn an_app_needs_its_id_and_its_secret() {
        let app = "client_id = \"ding1\"\nclient_secret_env = \"S\"\n";
        assert_eq!(told(app), "ding1 false https://api.dingtalk.com/");
        let web = format!("{app}mode = \"webhook\"\npath_secret_env = \"P\"\ncard_route = \"r\"\n");
        assert_eq!(told(&web), "ding1 true https://api.dingtalk.com/");
        for (keys, wanted) in [
            ("", "h.toml:1: `client_id` is missing"),
            (
                "client_id = \"ding1\"\n",
                "h.toml:1: `client_secret_env` is missing (or `client_secret_file`)",
            ),
            (
                &format!("{app}mode = \"webhook\"\n"),
                "h.toml:1: `path_secret_env` is missing (or `path_secret_file`)",
            ),
            (&format!("{app}mode = \"http\"\n"), "h.toml:4: `mode` cannot be `http`"),
            (
                &format!("{app}card_template = \"x\"\n"),
                "h.toml:4: `card_template` is the id of a published template",
            ),
            (
                &format!(
                    "{app}card_secret_env = \"not a name\"\nmode = \"webhook\"\npath_secret_env = \"P\"\n"
                ),
                "h.toml:4: this is not the name of an environment variable",
            ),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    #[test]
    fn what_the_guide_shows_is_taken() {
        let guide = include_str!("../../../../../docs/guide/dingtalk.md");
        let blocks: Vec<&str> = guide.split("```toml\n").skip(1).collect();
        assert!(blocks.len() >= 2);
        for block in blocks {
            let text = block.split("```").next().unwrap_or_default();
            let config = Config::parse(text, "dingtalk.md").unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(config.channels.len(), 1);
        }
    }
}
