//! The platforms that people are asked on: the settings of each, complete with their secrets, and the
//! channel that is made of them. The configuration's `[channels.NAME]` and the builder both end here.

use std::sync::Arc;
use std::time::Duration;

use channels::card::Language;
use ports::channel::Channel;
use ports::clock::{Clock, Rng};

/// In a chat people are there or they are not.
pub(crate) const EXPIRES_DEFAULT: Duration = Duration::from_secs(5 * 60);
/// Feishu's cards can be changed for 14 days; none may look alive after its question is over.
pub(crate) const EXPIRES_MAX: Duration = Duration::from_secs(13 * 24 * 60 * 60);

/// The settings of one platform.
#[derive(Clone)]
#[non_exhaustive]
pub enum PlatformSettings {
    /// An app of Feishu or Lark.
    #[cfg(feature = "channel-feishu")]
    Feishu(channels::feishu::FeishuSettings),
    /// An app of DingTalk.
    #[cfg(feature = "channel-dingtalk")]
    Dingtalk(channels::dingtalk::DingTalkSettings),
    /// An app of Slack.
    #[cfg(feature = "channel-slack")]
    Slack(channels::slack::SlackSettings),
    /// A bot of Telegram.
    #[cfg(feature = "channel-telegram")]
    Telegram(channels::telegram::TelegramSettings),
    /// A program that is told by signed webhooks.
    #[cfg(feature = "channel-webhook")]
    Webhook(channels::webhook::ChannelSettings),
    /// Mail, with links to the page.
    #[cfg(feature = "channel-email")]
    Email(channels::email::EmailSettings),
}

macro_rules! from_settings {
    ($($feature:literal $variant:ident $settings:ty),* $(,)?) => {
        $(#[cfg(feature = $feature)]
        impl From<$settings> for PlatformSettings {
            fn from(settings: $settings) -> PlatformSettings {
                PlatformSettings::$variant(settings)
            }
        })*
    };
}

from_settings! {
    "channel-feishu" Feishu channels::feishu::FeishuSettings,
    "channel-dingtalk" Dingtalk channels::dingtalk::DingTalkSettings,
    "channel-slack" Slack channels::slack::SlackSettings,
    "channel-telegram" Telegram channels::telegram::TelegramSettings,
    "channel-webhook" Webhook channels::webhook::ChannelSettings,
    "channel-email" Email channels::email::EmailSettings,
}

impl PlatformSettings {
    /// As the settings name the channel.
    pub(crate) fn name(&self) -> &str {
        match self {
            #[cfg(feature = "channel-feishu")]
            PlatformSettings::Feishu(own) => &own.name,
            #[cfg(feature = "channel-dingtalk")]
            PlatformSettings::Dingtalk(own) => &own.name,
            #[cfg(feature = "channel-slack")]
            PlatformSettings::Slack(own) => &own.name,
            #[cfg(feature = "channel-telegram")]
            PlatformSettings::Telegram(own) => &own.name,
            #[cfg(feature = "channel-webhook")]
            PlatformSettings::Webhook(own) => &own.name,
            #[cfg(feature = "channel-email")]
            PlatformSettings::Email(own) => &own.name,
        }
    }

    pub(crate) fn language(&self) -> Language {
        match self {
            #[cfg(feature = "channel-feishu")]
            PlatformSettings::Feishu(own) => own.language,
            #[cfg(feature = "channel-dingtalk")]
            PlatformSettings::Dingtalk(own) => own.language,
            #[cfg(feature = "channel-slack")]
            PlatformSettings::Slack(own) => own.language,
            #[cfg(feature = "channel-telegram")]
            PlatformSettings::Telegram(own) => own.language,
            // Programs read no words.
            #[cfg(feature = "channel-webhook")]
            PlatformSettings::Webhook(_) => Language::default(),
            #[cfg(feature = "channel-email")]
            PlatformSettings::Email(own) => own.language,
        }
    }

    /// Opens nothing yet: a channel connects when it is told to listen.
    pub(crate) fn open(
        self,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Result<Arc<dyn Channel>, String> {
        // Mail and webhooks take no chances.
        let _ = &rng;
        Ok(match self {
            #[cfg(feature = "channel-feishu")]
            PlatformSettings::Feishu(own) => {
                Arc::new(channels::feishu::Feishu::new(own, clock, rng))
            }
            #[cfg(feature = "channel-dingtalk")]
            PlatformSettings::Dingtalk(own) => {
                Arc::new(channels::dingtalk::Dingtalk::new(own, clock, rng))
            }
            #[cfg(feature = "channel-slack")]
            PlatformSettings::Slack(own) => Arc::new(channels::slack::Slack::new(own, clock, rng)),
            #[cfg(feature = "channel-telegram")]
            PlatformSettings::Telegram(own) => {
                Arc::new(channels::telegram::Telegram::new(own, clock, rng))
            }
            #[cfg(feature = "channel-webhook")]
            PlatformSettings::Webhook(own) => {
                Arc::new(channels::webhook::Webhook::new(own, clock)?)
            }
            #[cfg(feature = "channel-email")]
            PlatformSettings::Email(own) => Arc::new(channels::email::Email::new(own, clock)?),
        })
    }
}
