//! `[channels.NAME]`, the keys of DingTalk.

use channels::dingtalk::{DingTalkEnvelope, DingTalkMode, DingTalkSettings, Webhook};
use egress::Network;
use reqwest::Url;
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section, Unopened};
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let client_id = at.id(
            self.client_id,
            "`client_id` is missing; the developer console shows it under Credentials",
        )?;
        if let Some(template) = &self.card_template
            && !template.get_ref().ends_with(".schema")
        {
            let message =
                "`card_template` is the id of a published template, which ends in `.schema`";
            return Err(at.source.error(template.span(), message));
        }
        let by_webhook = at.word("mode", &self.mode, &[("stream", false), ("webhook", true)])?;
        let by_webhook = by_webhook.unwrap_or(false);
        let allow_from = networks(self.allow_from, at)?;
        let token =
            at.secret_if_given("event_token", &self.event_token_env, &self.event_token_file)?;
        let key = at.secret_if_given("event_key", &self.event_key_env, &self.event_key_file)?;
        let events = match (token, key) {
            (Some(token), Some(key)) => Some((token, key)),
            (None, None) => None,
            _ => {
                return at.wrong(
                    "`event_token_env` and `event_key_env` go together: the console shows both \
                     under Event Subscription",
                );
            }
        };
        if !by_webhook && (events.is_some() || !allow_from.is_empty()) {
            return at.wrong(
                "`event_token_env`, `event_key_env` and `allow_from` go with `mode = \
                 \"webhook\"`; the stream needs none of them",
            );
        }
        let base_url = at.address("base_url", &self.base_url, "https://api.dingtalk.com")?;
        let session_hosts = session_hosts(self.session_hosts, &base_url, at)?;
        let webhook_secrets = match by_webhook {
            false => None,
            // Bodies are not signed there, so nobody else may know the address.
            true => Some((
                at.secret("path_secret", &self.path_secret_env, &self.path_secret_file)?,
                at.secret_if_given("card_secret", &self.card_secret_env, &self.card_secret_file)?,
            )),
        };
        let client_secret =
            at.secret("client_secret", &self.client_secret_env, &self.client_secret_file)?;
        let robot_code = self.robot_code.unwrap_or_else(|| client_id.clone());
        let card_template = self.card_template.map(Spanned::into_inner);
        let (corp_id, card_route) = (self.corp_id, self.card_route);
        Ok(PlatformConfig::Dingtalk(Unopened::new(move |opening| {
            let events = || {
                let Some((token, key)) = &events else { return Ok(None) };
                let token = opening.secret("event token", token)?;
                let open = |key: &str| DingTalkEnvelope::new(token.expose(), key, &client_id);
                opening.parsed("event key", key, open).map(Some)
            };
            Ok(DingTalkSettings {
                name: opening.name(),
                client_id: client_id.clone(),
                client_secret: opening.secret("client secret", &client_secret)?,
                robot_code: robot_code.clone(),
                card_template: card_template.clone(),
                base_url: base_url.clone(),
                session_hosts: session_hosts.clone(),
                mode: match &webhook_secrets {
                    None => DingTalkMode::Stream,
                    Some((path_secret, card_secret)) => DingTalkMode::Webhook(Webhook {
                        path_secret: opening.secret("path secret", path_secret)?,
                        card_secret: opening.secret_if_given("card secret", card_secret)?,
                        card_route: card_route.clone(),
                        events: events()?,
                        allow_from: allow_from.clone(),
                    }),
                },
                corp_id: corp_id.clone(),
                language: opening.channel.language,
                zone: opening.channel.zone.clone(),
            })
        })))
    }
}

fn networks(
    given: Option<Spanned<Vec<Spanned<String>>>>,
    at: &Section<'_>,
) -> Result<Vec<Network>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if given.get_ref().is_empty() {
        let message = "`allow_from` is empty, and so nobody could call; name addresses or networks, \
                       or leave it out to be called from anywhere";
        return Err(at.source.error(given.span(), message));
    }
    let network = |network: &Spanned<String>| {
        Network::parse(network.get_ref()).ok_or_else(|| {
            let message =
                "this is no address or network, such as `203.0.113.7` or `203.0.113.0/24`";
            at.source.error(network.span(), message)
        })
    };
    given.get_ref().iter().map(network).collect()
}

/// Conversations have addresses on another host than the API. An operator who has the API elsewhere says where.
fn session_hosts(
    given: Option<Vec<Spanned<String>>>,
    base_url: &Url,
    at: &Section<'_>,
) -> Result<Vec<String>> {
    let host = |host: Spanned<String>| match is_host(host.get_ref()) {
        true => Ok(host.into_inner()),
        false => {
            let message = "this is no name of a host, such as `oapi.dingtalk.com`";
            Err(at.source.error(host.span(), message))
        }
    };
    match given {
        Some(hosts) => hosts.into_iter().map(host).collect(),
        None if base_url.host_str() == Some("api.dingtalk.com") => {
            Ok(vec!["oapi.dingtalk.com".into()])
        }
        None => Ok(Vec::new()),
    }
}

/// As addresses have it: no scheme, no port, no capital letters.
fn is_host(text: &str) -> bool {
    let url = Url::parse(&format!("https://{text}/"));
    url.is_ok_and(|url| url.host_str() == Some(text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{guide_is_taken, read_alone};
    use super::*;

    fn told(keys: &str) -> String {
        read_alone("dingtalk", keys, |channel| {
            let PlatformConfig::Dingtalk(own) = &channel.platform else { panic!("{channel:?}") };
            let own = own
                .open_with(channel, |_| "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
                .expect("settings");
            let by_webhook = matches!(own.mode, DingTalkMode::Webhook(_));
            format!("{} {by_webhook} {}", own.client_id, own.base_url)
        })
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
        guide_is_taken(include_str!("../../../../../docs/guide/dingtalk.md"));
    }
}
