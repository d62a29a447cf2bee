//! Channels, from their configuration: one line for each platform.

use std::sync::Arc;

use anyhow::Result;
use channels::dingtalk::Dingtalk;
use channels::feishu::Feishu;
use channels::slack::Slack;
use channels::telegram::Telegram;
use ports::channel::Channel;
use ports::clock::{Chance, Clock};

use crate::config::{ChannelConfig, PlatformConfig};

/// What a channel is built on.
pub struct Grounds {
    pub clock: Arc<dyn Clock>,
    pub chance: Arc<dyn Chance>,
}

/// Opens nothing yet: a channel connects when it is told to listen.
pub fn open(config: &ChannelConfig, grounds: &Grounds) -> Result<Arc<dyn Channel>> {
    match &config.platform {
        PlatformConfig::Feishu(own) => {
            let settings = own.settings(config).map_err(anyhow::Error::msg)?;
            let (clock, chance) = (grounds.clock.clone(), grounds.chance.clone());
            Ok(Arc::new(Feishu::new(settings, clock, chance)))
        }
        PlatformConfig::Dingtalk(own) => {
            let settings = own.settings(config).map_err(anyhow::Error::msg)?;
            let (clock, chance) = (grounds.clock.clone(), grounds.chance.clone());
            Ok(Arc::new(Dingtalk::new(settings, clock, chance)))
        }
        PlatformConfig::Slack(own) => {
            let settings = own.settings(config).map_err(anyhow::Error::msg)?;
            Ok(Arc::new(Slack::new(settings, grounds.clock.clone())))
        }
        PlatformConfig::Telegram(own) => {
            let settings = own.settings(config).map_err(anyhow::Error::msg)?;
            Ok(Arc::new(Telegram::new(settings, grounds.clock.clone())))
        }
        PlatformConfig::Webhook(_) => absent(config),
        PlatformConfig::Email(_) => absent(config),
    }
}

/// The configuration has refused it already.
fn absent(config: &ChannelConfig) -> Result<Arc<dyn Channel>> {
    anyhow::bail!("the channel `{}` is not available in this version", config.name)
}
