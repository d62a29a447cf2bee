//! What every channel has.

use std::sync::Arc;
use std::time::Duration;

use channels::card::{Language, Zone};
use chat::OnAmbiguous;
use serde::Deserialize;
use toml::Spanned;

use super::{PLATFORMS, PlatformConfig, zone};
use crate::config::agent::{AgentConfig, refer};
use crate::config::doors::DOORS;
use crate::config::error::listed;
use crate::config::source::{ConfigSource, Result};
use crate::platform::{EXPIRES_DEFAULT, EXPIRES_MAX};

#[derive(Clone, Debug)]
pub struct ChannelConfig {
    pub name: Arc<str>,
    pub platform: PlatformConfig,
    /// Whom messages go to that are no answers. Without one, people are only asked here.
    pub agent: Option<Arc<str>>,
    /// Chats that see every question, as the platform names them.
    pub ask: Vec<String>,
    pub expires: Duration,
    pub on_ambiguous: OnAmbiguous,
    pub language: Language,
    pub zone: Zone,
}

/// Unknown keys are told by the platform's own table.
#[derive(Deserialize)]
pub(in crate::config) struct CommonTable {
    platform: Option<Spanned<String>>,
    enabled: Option<bool>,
    agent: Option<Spanned<String>>,
    #[serde(default)]
    ask: Vec<Spanned<String>>,
    expires: Option<Spanned<String>>,
    on_ambiguous: Option<Spanned<String>>,
    language: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
}

impl CommonTable {
    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// What it says it is; else what it is called.
    pub(super) fn platform_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.platform.as_ref().map_or(name, |platform| platform.get_ref())
    }

    pub(super) fn platform(
        &self,
        name: &Spanned<String>,
        source: &ConfigSource<'_>,
    ) -> Result<&'static str> {
        // It stands in addresses: `/channels/NAME/events`.
        source.name("channel", name, "-_")?;
        // Sessions know where they live by this name, and in a chat others may speak.
        if DOORS.contains(&name.get_ref().as_str()) {
            let message = format!(
                "`{}` is the name of a door; call the channel something else",
                name.get_ref()
            );
            return Err(source.error(name.span(), message));
        }
        let known = PLATFORMS.map(|platform| (platform, platform));
        match &self.platform {
            Some(platform) => source.word("platform", platform, &known),
            None => {
                let named = PLATFORMS.into_iter().find(|platform| *platform == name.get_ref());
                named.ok_or_else(|| {
                    let message = format!(
                        "`platform` is missing in `[channels.{}]`; it is one of {}",
                        name.get_ref(),
                        listed(&PLATFORMS)
                    );
                    source.error(name.span(), message)
                })
            }
        }
    }

    pub(super) fn check(
        &self,
        name: &Spanned<String>,
        platform: Option<PlatformConfig>,
        agents: &[AgentConfig],
        source: &ConfigSource<'_>,
    ) -> Result<Option<ChannelConfig>> {
        if let Some(agent) = &self.agent {
            let ids: Vec<&str> = agents.iter().map(|agent| &*agent.id).collect();
            refer(source, "agent", agent, &ids, "add it under `[[agents]]`")?;
        }
        if let Some(empty) = self.ask.iter().find(|chat| chat.get_ref().trim().is_empty()) {
            let message = "this names no chat; write the id that the platform shows for it";
            return Err(source.error(empty.span(), message));
        }
        let expires = match &self.expires {
            Some(given) => {
                let expires = source.duration(given)?;
                if expires.is_zero() || expires > EXPIRES_MAX {
                    let message = "`expires` is between `1ms` and `13d`";
                    return Err(source.error(given.span(), message));
                }
                expires
            }
            None => EXPIRES_DEFAULT,
        };
        let on_ambiguous = match &self.on_ambiguous {
            Some(given) => {
                let words = OnAmbiguous::ALL.map(|one| (one.name(), one));
                source.word("on_ambiguous", given, &words)?
            }
            None => OnAmbiguous::default(),
        };
        let language = match &self.language {
            Some(given) => {
                let words = [("en", Language::English), ("zh", Language::Chinese)];
                source.word("language", given, &words)?
            }
            None => Language::default(),
        };
        let zone = match &self.zone {
            Some(given) => zone::parse(given, source)?,
            None => Zone::default(),
        };
        Ok(platform.map(|platform| ChannelConfig {
            name: name.get_ref().as_str().into(),
            platform,
            agent: self.agent.as_ref().map(|agent| agent.get_ref().as_str().into()),
            ask: self.ask.iter().map(|chat| chat.get_ref().clone()).collect(),
            expires,
            on_ambiguous,
            language,
            zone,
        }))
    }
}
