//! `[channels.NAME]`, the keys of DingTalk.

use channels::dingtalk::{Envelope, Mode, Settings, Webhook};
use egress::Network;
use ports::secret_string::SecretString;
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
    pub session_hosts: Vec<String>,
}

/// Instead of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DingtalkWebhook {
    pub path_secret: SecretSource,
    pub card_secret: Option<SecretSource>,
    pub card_route: Option<String>,
    pub events: Option<DingtalkEvents>,
    pub allow_from: Vec<Network>,
}

/// What the console made up for the events of the organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DingtalkEvents {
    pub token: SecretSource,
    pub key: SecretSource,
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
        event_token_env: Option<Spanned<String>>,
        event_token_file: Option<Spanned<String>>,
        event_key_env: Option<Spanned<String>>,
        event_key_file: Option<Spanned<String>>,
        allow_from: Option<Spanned<Vec<Spanned<String>>>>,
        base_url: Option<Spanned<String>>,
        session_hosts: Option<Vec<Spanned<String>>>,
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
        if let Some(given) = &self.allow_from
            && given.get_ref().is_empty()
        {
            let message = "`allow_from` is empty, and so nobody could call; name addresses or networks, \
                           or leave it out to be called from anywhere";
            return Err(source.error(given.span(), message));
        }
        let allow_from = self.allow_from.map(Spanned::into_inner).unwrap_or_default();
        let allow_from = allow_from.iter().map(|network| {
            Network::parse(network.get_ref()).ok_or_else(|| {
                let message =
                    "this is no address or network, such as `203.0.113.7` or `203.0.113.0/24`";
                source.error(network.span(), message)
            })
        });
        let allow_from = allow_from.collect::<Result<Vec<Network>>>()?;
        let token =
            source.secret_if_given("event_token", &self.event_token_env, &self.event_token_file)?;
        let key = source.secret_if_given("event_key", &self.event_key_env, &self.event_key_file)?;
        let events = match (token, key) {
            (Some(token), Some(key)) => Some(DingtalkEvents { token, key }),
            (None, None) => None,
            _ => {
                let message = "`event_token_env` and `event_key_env` go together: the console shows both \
                               under Event Subscription";
                return Err(source.error(at.span.clone(), message));
            }
        };
        if !by_webhook && (events.is_some() || !allow_from.is_empty()) {
            let message = "`event_token_env`, `event_key_env` and `allow_from` go with \
                           `mode = \"webhook\"`; the stream needs none of them";
            return Err(source.error(at.span.clone(), message));
        }
        let base_url = address("base_url", &self.base_url, "https://api.dingtalk.com", source)?;
        let session_hosts = match self.session_hosts {
            None => hosts_of(&base_url),
            Some(hosts) => {
                let host = |host: Spanned<String>| match is_host(host.get_ref()) {
                    true => Ok(host.into_inner()),
                    false => {
                        let message = "this is no name of a host, such as `oapi.dingtalk.com`";
                        Err(source.error(host.span(), message))
                    }
                };
                hosts.into_iter().map(host).collect::<Result<_>>()?
            }
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
                events,
                allow_from,
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
            base_url,
            session_hosts,
        })))
    }
}

/// Conversations have addresses on another host than the API. Whoever has the API elsewhere says where.
fn hosts_of(base_url: &Url) -> Vec<String> {
    match base_url.host_str() {
        Some("api.dingtalk.com") => vec!["oapi.dingtalk.com".into()],
        _ => Vec::new(),
    }
}

/// As addresses have it: no scheme, no port, no capital letters.
fn is_host(text: &str) -> bool {
    let url = Url::parse(&format!("https://{text}/"));
    url.is_ok_and(|url| url.host_str() == Some(text))
}

impl DingtalkConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let read = |what: &str, from: &SecretSource| {
            let what = format!("the {what} of [channels.{}]", channel.name);
            from.read(&what).map(SecretString::new)
        };
        let secret = read("client secret", &self.client_secret)?;
        let base_url = self.base_url.clone();
        let mut settings = Settings::new(&channel.name, &self.client_id, secret, base_url);
        if let Some(robot) = &self.robot_code {
            settings.robot_code = robot.clone();
        }
        settings.card_template = self.card_template.clone();
        settings.corp_id = self.corp_id.clone();
        settings.session_hosts = self.session_hosts.clone();
        if let Some(webhook) = &self.webhook {
            let card_secret = webhook.card_secret.as_ref();
            let events = webhook.events.as_ref().map(|events| {
                let of = |what: &str| format!("the {what} of [channels.{}]", channel.name);
                let token = events.token.read(&of("event token"))?;
                let key = events.key.read(&of("event key"))?;
                Envelope::new(&token, &key, &self.client_id)
                    .map_err(|why| format!("{}: {why}", of("event key")))
            });
            settings.mode = Mode::Webhook(Webhook {
                path_secret: read("path secret", &webhook.path_secret)?,
                card_secret: card_secret.map(|from| read("card secret", from)).transpose()?,
                card_route: webhook.card_route.clone(),
                events: events.transpose()?,
                allow_from: webhook.allow_from.clone(),
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
        let events = "event_token_env = \"T\"\nevent_key_env = \"K\"\n";
        let hosts = "session_hosts = [\"oapi.dingtalk.com\"]\n";
        let all = format!("{web}{events}allow_from = [\"203.0.113.0/24\", \"::1\"]\n{hosts}");
        assert_eq!(told(&all), "ding1 true https://api.dingtalk.com/");
        for (keys, wanted) in [
            (&*format!("{app}{events}"), "h.toml:1: `event_token_env`, `event_key_env` and"),
            (
                &format!("{app}allow_from = [\"::1\"]\n"),
                "h.toml:1: `event_token_env`, `event_key_env` and",
            ),
            (
                &format!("{web}event_key_env = \"K\"\n"),
                "h.toml:1: `event_token_env` and `event_key_env` go together",
            ),
            (
                &format!("{web}allow_from = [\"dingtalk\"]\n"),
                "h.toml:7: this is no address or network",
            ),
            (
                &format!("{web}allow_from = []\n"),
                "h.toml:7: `allow_from` is empty, and so nobody could call; name addresses or networks, or \
                 leave it out to be called from anywhere",
            ),
            (
                &format!("{app}session_hosts = [\"https://oapi.dingtalk.com\"]\n"),
                "h.toml:4: this is no name of a host",
            ),
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
