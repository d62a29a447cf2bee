//! What the configuration says about an app.

use ports::secret_string::SecretString;
use reqwest::Url;

use crate::card::{Language, Zone};

#[derive(Clone, Debug)]
pub struct SlackSettings {
    /// As the configuration names the channel.
    pub name: String,
    /// `A…`: what is meant for another app is not taken.
    pub app_id: String,
    /// `T…`: the workspace. What comes from another is not taken.
    pub team_id: String,
    /// `xoxb-…`
    pub bot_token: SecretString,
    pub mode: SlackMode,
    /// With the methods below it: `https://slack.com/api`.
    pub base_url: Url,
    pub language: Language,
    pub zone: Zone,
}

#[derive(Clone, Debug)]
pub enum SlackMode {
    /// A connection of ours, which needs no address that Slack could reach; with a token `xapp-…`.
    Socket { app_token: SecretString },
    /// Slack calls, and signs with this.
    Http { signing_secret: SecretString },
}
