//! A chat or a mailbox in which people are asked.

use std::sync::Arc;
use std::time::Duration;

use chat::{Connector, OnAmbiguous};
use ports::channel::Channel;

use crate::checks;
use crate::platform::{EXPIRES_DEFAULT, EXPIRES_MAX, PlatformSettings};

/// A channel: the settings of a platform ([`crate::settings`]), and what people are asked there. It connects
/// when [`crate::Holdpoint::serve`] or [`crate::Holdpoint::mount`] is called, or at once with
/// [`crate::Builder::origin`].
///
/// ```
/// # #[cfg(feature = "channel-telegram")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use holdpoint::ChannelSetup;
/// use holdpoint::settings::telegram::{Settings, Token};
///
/// let bot = Settings::new("telegram", Token::new("123456:ABC-def")?, "https://api.telegram.org".parse()?);
/// let channel = ChannelSetup::new(bot).agent("ops").ask("-1001234");
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "channel-telegram"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct ChannelSetup {
    platform: PlatformSettings,
    agent: Option<String>,
    ask: Vec<String>,
    expires: Duration,
    on_ambiguous: OnAmbiguous,
}

impl ChannelSetup {
    /// A channel that only asks people who are linked to it ([`crate::Person::account`]).
    pub fn new(settings: impl Into<PlatformSettings>) -> ChannelSetup {
        ChannelSetup {
            platform: settings.into(),
            agent: None,
            ask: Vec::new(),
            expires: EXPIRES_DEFAULT,
            on_ambiguous: OnAmbiguous::default(),
        }
    }

    /// The agent that messages go to which are no answers.
    #[must_use]
    pub fn agent(self, agent: impl Into<String>) -> ChannelSetup {
        ChannelSetup { agent: Some(agent.into()), ..self }
    }

    /// A chat that sees every question, as the platform names it. May be said several times.
    #[must_use]
    pub fn ask(mut self, chat: impl Into<String>) -> ChannelSetup {
        self.ask.push(chat.into());
        self
    }

    /// How long questions wait in sessions that live here: five minutes, if nothing is said.
    #[must_use]
    pub fn expires(self, after: Duration) -> ChannelSetup {
        ChannelSetup { expires: after, ..self }
    }

    /// What becomes of a reply that could mean several things.
    #[must_use]
    pub fn on_ambiguous(self, what: OnAmbiguous) -> ChannelSetup {
        ChannelSetup { on_ambiguous: what, ..self }
    }

    pub(super) fn name(&self) -> &str {
        self.platform.name()
    }

    pub(super) fn expires_ms(&self) -> u64 {
        u64::try_from(self.expires.as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn checked(&self, agents: &[&str]) -> Result<(), String> {
        let name = self.name();
        // It stands in addresses: `/channels/NAME/events`.
        checks::name("a channel", name, "-_")?;
        let wrong = |why: &str| Err(format!("channel `{name}`: {why}"));
        if checks::DOORS.contains(&name) {
            return wrong("this is the name of a door; call the channel something else");
        }
        if self.expires.is_zero() || self.expires > EXPIRES_MAX {
            return wrong("`expires` is between a millisecond and 13 days");
        }
        if self.ask.iter().any(|chat| chat.trim().is_empty()) {
            return wrong("`ask` names no chat; write the id that the platform shows for it");
        }
        match &self.agent {
            Some(agent) => checks::known("agent", agent, agents, "give it to the builder")
                .map_err(|why| format!("channel `{name}`: {why}")),
            None => Ok(()),
        }
    }

    pub(super) fn connector(self, channel: Arc<dyn Channel>) -> Connector {
        Connector {
            channel,
            agent: self.agent.map(Into::into),
            ask: self.ask,
            on_ambiguous: self.on_ambiguous,
            language: self.platform.language(),
        }
    }

    pub(super) fn platform(&self) -> PlatformSettings {
        self.platform.clone()
    }
}
