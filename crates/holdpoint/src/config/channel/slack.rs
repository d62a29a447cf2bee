//! `[channels.NAME]`, the keys of Slack.

use channels::slack::{Mode, Settings};
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
pub struct SlackConfig {
    pub app_id: String,
    pub team_id: String,
    pub bot_token: SecretSource,
    pub mode: SlackMode,
    pub base_url: Url,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlackMode {
    Socket { app_token: SecretSource },
    Http { signing_secret: SecretSource },
}

platform_table! {
    pub(in crate::config) struct SlackTable {
        app_id: Option<Spanned<String>>,
        team_id: Option<Spanned<String>>,
        bot_token_env: Option<Spanned<String>>,
        bot_token_file: Option<Spanned<String>>,
        mode: Option<Spanned<String>>,
        app_token_env: Option<Spanned<String>>,
        app_token_file: Option<Spanned<String>>,
        signing_secret_env: Option<Spanned<String>>,
        signing_secret_file: Option<Spanned<String>>,
        base_url: Option<Spanned<String>>,
    }
}

impl PlatformTable for SlackTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        let id = |key: &str, given: &Option<Spanned<String>>, letters: &[char], place: &str| {
            let like = letters[0];
            match given {
                None => {
                    let message = format!("`{key}` is missing; {place}, like `{like}0123456789`");
                    Err(source.error(at.span.clone(), message))
                }
                Some(id) if id.get_ref().starts_with(letters) => Ok(id.get_ref().clone()),
                Some(id) => {
                    let message = format!("`{key}` begins with `{like}`; {place}");
                    Err(source.error(id.span(), message))
                }
            }
        };
        let app_id = id("app_id", &self.app_id, &['A'], "it stands under Basic Information")?;
        let team_id = id(
            "team_id",
            &self.team_id,
            &['T', 'E'],
            "it stands in the address of Slack in a browser, behind /client/",
        )?;
        let bot_token = source.secret(
            "bot_token",
            at.span.clone(),
            &self.bot_token_env,
            &self.bot_token_file,
        )?;
        let over_http = match &self.mode {
            Some(mode) => source.word("mode", mode, &[("socket", false), ("http", true)])?,
            None => false,
        };
        let mode = match over_http {
            false => SlackMode::Socket {
                app_token: source.secret(
                    "app_token",
                    at.span.clone(),
                    &self.app_token_env,
                    &self.app_token_file,
                )?,
            },
            true => SlackMode::Http {
                signing_secret: source.secret(
                    "signing_secret",
                    at.span.clone(),
                    &self.signing_secret_env,
                    &self.signing_secret_file,
                )?,
            },
        };
        let base_url = address("base_url", &self.base_url, "https://slack.com/api", source)?;
        let own = SlackConfig { app_id, team_id, bot_token, mode, base_url };
        Ok(PlatformConfig::Slack(Box::new(own)))
    }
}

impl SlackConfig {
    /// With the secrets, which are read now.
    pub(crate) fn settings(
        &self,
        channel: &ChannelConfig,
    ) -> std::result::Result<Settings, String> {
        let read = |what: &str, from: &SecretSource, begins: &str| {
            let what = format!("the {what} of [channels.{}]", channel.name);
            let secret = from.read(&what)?;
            match secret.starts_with(begins) {
                true => Ok(SecretString::new(secret)),
                // They are easily taken for one another.
                false => Err(format!("{what} is another one: it begins with `{begins}`")),
            }
        };
        Ok(Settings {
            name: channel.name.to_string(),
            app_id: self.app_id.clone(),
            team_id: self.team_id.clone(),
            bot_token: read("bot token", &self.bot_token, "xoxb-")?,
            mode: match &self.mode {
                SlackMode::Socket { app_token } => {
                    Mode::Socket { app_token: read("app token", app_token, "xapp-")? }
                }
                SlackMode::Http { signing_secret } => {
                    Mode::Http { signing_secret: read("signing secret", signing_secret, "")? }
                }
            },
            base_url: self.base_url.clone(),
            language: channel.language,
            zone: channel.zone.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn told(keys: &str) -> String {
        let text = format!("[channels.slack]\n{keys}");
        match Config::parse(&text, "h.toml") {
            Ok(config) => match &config.channels[..] {
                [ChannelConfig { platform: PlatformConfig::Slack(own), .. }] => {
                    let mode = match own.mode {
                        SlackMode::Socket { .. } => "socket",
                        SlackMode::Http { .. } => "http",
                    };
                    format!("{} {} {mode} {}", own.app_id, own.team_id, own.base_url)
                }
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    #[test]
    fn an_app_needs_its_ids_and_its_secrets() {
        let app = "app_id = \"A1\"\nteam_id = \"T1\"\nbot_token_env = \"B\"\n";
        let socket = format!("{app}app_token_env = \"X\"\n");
        assert_eq!(told(&socket), "A1 T1 socket https://slack.com/api");
        let http = format!("{app}mode = \"http\"\nsigning_secret_file = \"s\"\n");
        assert_eq!(told(&http), "A1 T1 http https://slack.com/api");
        for (keys, wanted) in [
            ("", "h.toml:1: `app_id` is missing; it stands under Basic Information"),
            ("app_id = \"xoxb\"\n", "h.toml:2: `app_id` begins with `A`"),
            ("app_id = \"A1\"\n", "h.toml:1: `team_id` is missing"),
            (
                "app_id = \"A1\"\nteam_id = \"T1\"\n",
                "h.toml:1: `bot_token_env` is missing (or `bot_token_file`)",
            ),
            (app, "h.toml:1: `app_token_env` is missing (or `app_token_file`)"),
            (
                &format!("{app}mode = \"http\"\n"),
                "h.toml:1: `signing_secret_env` is missing (or `signing_secret_file`)",
            ),
            (&format!("{app}mode = \"rtm\"\n"), "h.toml:5: `mode` cannot be `rtm`"),
            (
                &format!("{socket}base_url = \"http://slack.example\"\n"),
                "h.toml:6: `base_url` must begin with https://",
            ),
        ] {
            let told = told(keys);
            assert!(told.starts_with(wanted), "{told}");
        }
    }
}
