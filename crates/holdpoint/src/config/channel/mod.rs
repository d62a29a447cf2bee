//! `[channels.NAME]`: the chats and mailboxes in which people are asked.
//!
//! What every channel has is read in `common.rs`. Each platform has a file for its own keys; a key of
//! another platform is a mistake rather than something to ignore.

mod common;
mod dingtalk;
mod email;
mod feishu;
mod section;
mod slack;
mod table;
mod telegram;
mod unopened;
mod webhook;
mod zone;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::agent::AgentConfig;
use super::mistakes::Mistakes;
use super::source::{ConfigSource, Result};

pub use common::ChannelConfig;
pub use unopened::Unopened;

use section::Section;
use table::PlatformTable;

pub(super) use common::CommonTable;
pub(super) use dingtalk::DingtalkTable;
pub(super) use email::EmailTable;
pub(super) use feishu::FeishuTable;
pub(super) use slack::SlackTable;
pub(super) use telegram::TelegramTable;
pub(super) use webhook::WebhookTable;

/// The platforms that we speak, by the names under which people's identities are kept.
pub(super) const PLATFORMS: [&str; 6] =
    ["feishu", "dingtalk", "slack", "telegram", "webhook", "email"];

/// The settings of a platform: one type for each, which its channel takes.
#[derive(Clone, Debug)]
pub enum PlatformConfig {
    Feishu(Unopened<channels::feishu::FeishuSettings>),
    Dingtalk(Unopened<channels::dingtalk::DingTalkSettings>),
    Slack(Unopened<channels::slack::SlackSettings>),
    Telegram(Unopened<channels::telegram::TelegramSettings>),
    Webhook {
        settings: Unopened<channels::webhook::ChannelSettings>,
        /// Identities of people under `webhook`.
        speaks_for: Vec<String>,
    },
    Email(Unopened<channels::email::EmailSettings>),
}

/// The channels of the file, without those that are switched off.
pub(super) fn check(
    channels: &BTreeMap<Spanned<String>, Spanned<CommonTable>>,
    agents: &[AgentConfig],
    source: &ConfigSource<'_>,
    mistakes: &mut Mistakes,
) -> Vec<ChannelConfig> {
    let mut checked = Vec::new();
    for (name, common) in channels {
        let channel = check_one(name, common, agents, source);
        checked.extend(mistakes.note(channel).flatten());
    }
    checked
}

fn check_one(
    name: &Spanned<String>,
    common: &Spanned<CommonTable>,
    agents: &[AgentConfig],
    source: &ConfigSource<'_>,
) -> Result<Option<ChannelConfig>> {
    let at = Section {
        name: name.get_ref(),
        span: common.span(),
        enabled: common.get_ref().is_enabled(),
        source,
    };
    let platform = match common.get_ref().platform(name, source)? {
        "feishu" => own::<FeishuTable>(&at)?,
        "dingtalk" => own::<DingtalkTable>(&at)?,
        "slack" => own::<SlackTable>(&at)?,
        "telegram" => own::<TelegramTable>(&at)?,
        "webhook" => own::<WebhookTable>(&at)?,
        _ => own::<EmailTable>(&at)?,
    };
    common.get_ref().check(name, platform, agents, source)
}

/// The name and the platform of each channel, whether it is switched on or not. What has no platform is
/// told by `check`.
pub(super) fn platforms(
    channels: &BTreeMap<Spanned<String>, Spanned<CommonTable>>,
) -> Vec<(&str, &str)> {
    let named = channels.iter().map(|(name, common)| {
        let name = name.get_ref().as_str();
        (name, common.get_ref().platform_of(name))
    });
    named.filter(|(_, platform)| PLATFORMS.contains(platform)).collect()
}

/// A channel that is switched off may lack something, but has no key that there is not.
fn own<'a, T: PlatformTable + Deserialize<'a>>(at: &Section<'a>) -> Result<Option<PlatformConfig>> {
    let table: T = at.read()?;
    at.enabled.then(|| table.check(at)).transpose()
}

#[cfg(test)]
mod tests {
    use super::ChannelConfig;
    use crate::config::Config;

    /// What `show` says of the only channel, which has these keys; or the mistakes.
    pub(super) fn read_alone(
        platform: &str,
        keys: &str,
        show: impl Fn(&ChannelConfig) -> String,
    ) -> String {
        let text = format!("[channels.{platform}]\n{keys}");
        match Config::parse(&text, "h.toml").map(|config| config.channels) {
            Ok(channels) => match &channels[..] {
                [channel] => show(channel),
                other => panic!("{other:?}"),
            },
            Err(why) => why.to_string(),
        }
    }

    /// Every block of a guide is a configuration with one channel.
    pub(super) fn guide_is_taken(guide: &str) {
        let blocks: Vec<&str> = guide.split("```toml\n").skip(1).collect();
        assert!(blocks.len() >= 2);
        for block in blocks {
            let text = block.split("```").next().unwrap_or_default();
            let config = Config::parse(text, "guide.md").unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(config.channels.len(), 1);
        }
    }
}
