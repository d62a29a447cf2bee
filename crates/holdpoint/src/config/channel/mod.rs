//! `[channels.NAME]`: the chats and mailboxes in which people are asked.
//!
//! What every channel has is read in `common.rs`. Each platform has a file for its own keys; a key of
//! another platform is a mistake rather than something to ignore.

mod common;
mod dingtalk;
mod email;
mod feishu;
mod place;
mod slack;
mod table;
mod telegram;
mod webhook;
mod zone;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::agent::AgentConfig;
use super::mistakes::Mistakes;
use super::source::{Result, Source};

pub use common::ChannelConfig;
pub use dingtalk::{DingtalkConfig, DingtalkWebhook};
pub use email::EmailConfig;
pub use feishu::FeishuConfig;
pub use slack::{SlackConfig, SlackMode};
pub use telegram::{TelegramConfig, TelegramWebhook};
pub use webhook::WebhookConfig;

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

/// What only one platform needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformConfig {
    Feishu(Box<FeishuConfig>),
    Dingtalk(Box<DingtalkConfig>),
    Slack(Box<SlackConfig>),
    Telegram(Box<TelegramConfig>),
    Webhook(Box<WebhookConfig>),
    Email(Box<EmailConfig>),
}

/// The channels of the file, without those that are switched off.
pub(super) fn check(
    channels: &BTreeMap<Spanned<String>, Spanned<CommonTable>>,
    agents: &[AgentConfig],
    source: &Source<'_>,
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
    source: &Source<'_>,
) -> Result<Option<ChannelConfig>> {
    let at = Section {
        name: name.get_ref(),
        span: common.span(),
        enabled: common.get_ref().is_enabled(),
    };
    let platform = match common.get_ref().platform(name, source)? {
        "feishu" => own::<FeishuTable>(&at, source)?,
        "dingtalk" => own::<DingtalkTable>(&at, source)?,
        "slack" => own::<SlackTable>(&at, source)?,
        "telegram" => own::<TelegramTable>(&at, source)?,
        "webhook" => own::<WebhookTable>(&at, source)?,
        _ => own::<EmailTable>(&at, source)?,
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
fn own<'a, T: PlatformTable + Deserialize<'a>>(
    at: &Section<'_>,
    source: &Source<'a>,
) -> Result<Option<PlatformConfig>> {
    let table: T = at.read(source)?;
    at.enabled.then(|| table.check(at, source)).transpose()
}

/// Where a platform's own keys stand.
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    /// For what is missing.
    pub(super) span: Range<usize>,
    enabled: bool,
}
