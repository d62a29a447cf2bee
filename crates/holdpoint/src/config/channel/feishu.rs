//! `[channels.NAME]`, the keys of Feishu and Lark.

use super::table::{PlatformTable, platform_table};
use super::{PlatformConfig, Section};
use crate::config::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeishuConfig {}

platform_table! {
    pub(in crate::config) struct FeishuTable {}
}

impl PlatformTable for FeishuTable {
    fn check(self, at: &Section<'_>, source: &Source<'_>) -> Result<PlatformConfig> {
        Err(source.not_yet("channel", at.name, at.span.clone()))
    }
}
