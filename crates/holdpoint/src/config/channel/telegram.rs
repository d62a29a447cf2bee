//! `[channels.NAME]`, the keys of Telegram.

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramConfig {}

platform_table! {
    pub(in crate::config) struct TelegramTable {}
}

impl PlatformTable for TelegramTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        Err(source.not_yet("channel", at.name, at.span.clone()))
    }
}
