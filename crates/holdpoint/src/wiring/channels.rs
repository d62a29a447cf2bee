//! Channels, from their configuration: one line for each platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use chat::Connector;
use ports::channel::Channel;
use ports::clock::{Clock, Rng};

use crate::config::{ChannelConfig, PlatformConfig, Unopened};
use crate::platform::PlatformSettings;

/// What a channel is built on.
pub struct Grounds {
    pub clock: Arc<dyn Clock>,
    pub rng: Arc<dyn Rng>,
}

/// A channel of a configuration, as the chat service wants it.
pub fn connector_for(config: &ChannelConfig, grounds: &Grounds) -> Result<Connector> {
    let channel = open_channel(config, grounds)
        .with_context(|| format!("the channel `{}` cannot be opened", config.name))?;
    Ok(Connector {
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

/// Opens nothing yet: a channel connects when it is told to listen.
pub fn open_channel(config: &ChannelConfig, grounds: &Grounds) -> Result<Arc<dyn Channel>> {
    let settings: PlatformSettings = match &config.platform {
        PlatformConfig::Feishu(own) => opened(own, config)?.into(),
        PlatformConfig::Dingtalk(own) => opened(own, config)?.into(),
        PlatformConfig::Slack(own) => opened(own, config)?.into(),
        PlatformConfig::Telegram(own) => opened(own, config)?.into(),
        PlatformConfig::Webhook { settings, .. } => opened(settings, config)?.into(),
        PlatformConfig::Email(own) => opened(own, config)?.into(),
    };
    let channel = settings.open(grounds.clock.clone(), grounds.rng.clone());
    channel.map_err(|why| anyhow!("[channels.{}]: {why}", config.name))
}

fn opened<T>(own: &Unopened<T>, config: &ChannelConfig) -> Result<T> {
    own.open(config).map_err(anyhow::Error::msg)
}
