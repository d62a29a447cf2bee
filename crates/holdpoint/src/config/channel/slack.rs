//! `[channels.NAME]`, the keys of Slack.

use channels::slack::{SlackMode, SlackSettings};
use ports::secret_string::SecretString;
use toml::Spanned;

use super::table::{PlatformTable, platform_table};
use super::unopened::Opening;
use super::{PlatformConfig, Section, Unopened};
use crate::config::secret::SecretSource;
use crate::config::source::Result;

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
    fn check(self, at: &Section<'_>) -> Result<PlatformConfig> {
        let id = |key: &str, given: Option<Spanned<String>>, letters: &[char], place: &str| {
            let like = letters[0];
            match given {
                None => at.wrong(format!("`{key}` is missing; {place}, like `{like}0123456789`")),
                Some(id) if id.get_ref().starts_with(letters) => Ok(id.into_inner()),
                Some(id) => Err(at
                    .source
                    .error(id.span(), format!("`{key}` begins with `{like}`; {place}"))),
            }
        };
        let app_id = id("app_id", self.app_id, &['A'], "it stands under Basic Information")?;
        let place = "it stands in the address of Slack in a browser, behind /client/";
        let team_id = id("team_id", self.team_id, &['T', 'E'], place)?;
        let bot_token = at.secret("bot_token", &self.bot_token_env, &self.bot_token_file)?;
        let over_http = at.word("mode", &self.mode, &[("socket", false), ("http", true)])?;
        let over_http = over_http.unwrap_or(false);
        let own_secret = match over_http {
            false => at.secret("app_token", &self.app_token_env, &self.app_token_file)?,
            true => {
                at.secret("signing_secret", &self.signing_secret_env, &self.signing_secret_file)?
            }
        };
        let base_url = at.address("base_url", &self.base_url, "https://slack.com/api")?;
        Ok(PlatformConfig::Slack(Unopened::new(move |opening| {
            Ok(SlackSettings {
                name: opening.name(),
                app_id: app_id.clone(),
                team_id: team_id.clone(),
                bot_token: token(opening, "bot token", &bot_token, "xoxb-")?,
                mode: match over_http {
                    false => SlackMode::Socket {
                        app_token: token(opening, "app token", &own_secret, "xapp-")?,
                    },
                    true => SlackMode::Http {
                        signing_secret: opening.secret("signing secret", &own_secret)?,
                    },
                },
                base_url: base_url.clone(),
                language: opening.channel.language,
                zone: opening.channel.zone.clone(),
            })
        })))
    }
}

/// Tokens are easily taken for one another.
fn token(
    opening: &Opening<'_>,
    what: &str,
    from: &SecretSource,
    begins: &str,
) -> std::result::Result<SecretString, String> {
    let token = opening.secret(what, from)?;
    match token.expose().starts_with(begins) {
        true => Ok(token),
        false => Err(format!(
            "the {what} of [channels.{}] is another one: it begins with `{begins}`",
            opening.channel.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_alone;
    use super::*;

    fn told(keys: &str) -> String {
        read_alone("slack", keys, |channel| {
            let PlatformConfig::Slack(own) = &channel.platform else { panic!("{channel:?}") };
            let own = own
                .open_with(channel, |from| match from {
                    SecretSource::Env(name) if name == "B" => "xoxb-1",
                    _ => "xapp-1",
                })
                .expect("settings");
            let mode = match own.mode {
                SlackMode::Socket { .. } => "socket",
                SlackMode::Http { .. } => "http",
            };
            format!("{} {} {mode} {}", own.app_id, own.team_id, own.base_url)
        })
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
