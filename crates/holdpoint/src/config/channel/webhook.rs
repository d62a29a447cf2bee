//! `[channels.NAME]`, the keys of signed webhooks.

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfig {}

platform_table! {
    pub(in crate::config) struct WebhookTable {}
}

impl PlatformTable for WebhookTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        Err(source.not_yet("channel", at.name, at.span.clone()))
    }
}
