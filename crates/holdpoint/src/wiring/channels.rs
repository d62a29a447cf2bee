//! Channels, from their configuration: one line for each platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use channels::dingtalk::Dingtalk;
use channels::email::Email;
use channels::feishu::Feishu;
use channels::slack::Slack;
use channels::telegram::Telegram;
use channels::webhook::Webhook;
use domain::person::PersonId;
use futures_util::future::BoxFuture;
use ports::channel::{Channel, HookReply, Hooked};
use ports::clock::{Chance, Clock};
use server::{Hooks, LinkSender};
use switchboard::{Line, Switchboard};

use crate::config::{ChannelConfig, PlatformConfig, Unopened};

/// What a channel is built on.
pub struct Grounds {
    pub clock: Arc<dyn Clock>,
    pub chance: Arc<dyn Chance>,
}

/// A channel of a configuration, as the switchboard wants it.
pub fn line(config: &ChannelConfig, grounds: &Grounds) -> Result<Line> {
    let channel = open(config, grounds)
        .with_context(|| format!("the channel `{}` cannot be opened", config.name))?;
    Ok(Line {
        channel,
        agent: config.agent.clone(),
        ask: config.ask.clone(),
        on_ambiguous: config.on_ambiguous,
        language: config.language,
    })
}

/// How long questions wait in sessions that live in each channel.
pub fn expiries(configs: &[ChannelConfig]) -> BTreeMap<Arc<str>, u64> {
    configs.iter().map(|one| (one.name.clone(), one.expires.as_millis() as u64)).collect()
}

/// Requests of platforms go from the server's door to the switchboard's.
pub struct ChannelHooks(pub Switchboard);

impl Hooks for ChannelHooks {
    fn hook<'a>(&'a self, channel: &'a str, request: Hooked) -> BoxFuture<'a, Option<HookReply>> {
        Box::pin(self.0.hook(channel, request))
    }
}

/// Login links go from the server's door to the person's own account in a chat.
pub struct ChannelLinks(pub Switchboard);

impl LinkSender for ChannelLinks {
    fn channel_of(&self, person: &PersonId) -> Option<String> {
        self.0.direct_channel(person)
    }

    fn send<'a>(
        &'a self,
        person: &'a PersonId,
        channel: &'a str,
        url: &'a str,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let sent = self.0.send_login_link(person, channel, url).await;
            sent.map_err(|error| error.to_string())
        })
    }
}

/// Opens nothing yet: a channel connects when it is told to listen.
pub fn open(config: &ChannelConfig, grounds: &Grounds) -> Result<Arc<dyn Channel>> {
    let (clock, chance) = (grounds.clock.clone(), grounds.chance.clone());
    let unsound = |why: String| anyhow!("[channels.{}]: {why}", config.name);
    Ok(match &config.platform {
        PlatformConfig::Feishu(own) => Arc::new(Feishu::new(opened(own, config)?, clock, chance)),
        PlatformConfig::Dingtalk(own) => {
            Arc::new(Dingtalk::new(opened(own, config)?, clock, chance))
        }
        PlatformConfig::Slack(own) => Arc::new(Slack::new(opened(own, config)?, clock, chance)),
        PlatformConfig::Telegram(own) => {
            Arc::new(Telegram::new(opened(own, config)?, clock, chance))
        }
        PlatformConfig::Webhook { settings, .. } => {
            Arc::new(Webhook::new(opened(settings, config)?, clock).map_err(unsound)?)
        }
        PlatformConfig::Email(own) => {
            Arc::new(Email::new(opened(own, config)?, clock).map_err(unsound)?)
        }
    })
}

fn opened<T>(own: &Unopened<T>, config: &ChannelConfig) -> Result<T> {
    own.open(config).map_err(anyhow::Error::msg)
}
