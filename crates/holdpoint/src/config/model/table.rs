//! The section as it is written.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::vendor::{OpenAiApi, Vendor};
use crate::config::source::{ConfigSource, Result};

type HeaderTable = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct ModelTable {
    pub(super) provider: Spanned<String>,
    pub(super) script: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) api: Option<Spanned<String>>,
    pub(super) base_url: Option<Spanned<String>>,
    pub(super) api_key_env: Option<Spanned<String>>,
    pub(super) api_key_file: Option<Spanned<String>>,
    pub(super) headers: Option<Spanned<HeaderTable>>,
    pub(super) headers_env: Option<Spanned<HeaderTable>>,
    pub(super) headers_file: Option<Spanned<HeaderTable>>,
    pub(super) proxy: Option<Spanned<String>>,
    pub(super) proxy_env: Option<Spanned<String>>,
    pub(super) max_tokens: Option<Spanned<i64>>,
    pub(super) thinking: Option<Spanned<toml::Value>>,
    pub(super) send_thinking: Option<Spanned<bool>>,
    pub(super) effort: Option<Spanned<String>>,
    pub(super) takes: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) temperature: Option<Spanned<f64>>,
    pub(super) cache: Option<Spanned<String>>,
    pub(super) retries: Option<Spanned<i64>>,
    pub(super) time_limits: Option<Spanned<TimeLimitsTable>>,
    pub(super) price_input: Option<Spanned<f64>>,
    pub(super) price_cached: Option<Spanned<f64>>,
    pub(super) price_output: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct TimeLimitsTable {
    pub(super) connect: Option<Spanned<String>>,
    pub(super) first_byte: Option<Spanned<String>>,
    pub(super) silence: Option<Spanned<String>>,
    pub(super) turn: Option<Spanned<String>>,
}

impl ModelTable {
    /// Whose model it is; `None` for a script.
    pub(super) fn vendor(&self, source: &ConfigSource<'_>) -> Result<Option<Vendor>> {
        let known = [
            ("scripted", None),
            ("anthropic", Some(Vendor::Anthropic)),
            ("openai", Some(Vendor::OpenAi(OpenAiApi::Responses))),
        ];
        source.word("provider", &self.provider, &known)
    }

    /// The keys that are given and that a script has no use for.
    pub(super) fn vendor_keys(&self) -> Vec<(&'static str, Range<usize>)> {
        fn at<T>(given: &Option<Spanned<T>>) -> Option<Range<usize>> {
            given.as_ref().map(Spanned::span)
        }
        let keys = [
            ("model", at(&self.model)),
            ("api", at(&self.api)),
            ("base_url", at(&self.base_url)),
            ("api_key_env", at(&self.api_key_env)),
            ("api_key_file", at(&self.api_key_file)),
            ("headers", at(&self.headers)),
            ("headers_env", at(&self.headers_env)),
            ("headers_file", at(&self.headers_file)),
            ("proxy", at(&self.proxy)),
            ("proxy_env", at(&self.proxy_env)),
            ("max_tokens", at(&self.max_tokens)),
            ("thinking", at(&self.thinking)),
            ("send_thinking", at(&self.send_thinking)),
            ("effort", at(&self.effort)),
            ("takes", at(&self.takes)),
            ("temperature", at(&self.temperature)),
            ("cache", at(&self.cache)),
            ("retries", at(&self.retries)),
            ("time_limits", at(&self.time_limits)),
            ("price_input", at(&self.price_input)),
            ("price_cached", at(&self.price_cached)),
            ("price_output", at(&self.price_output)),
        ];
        keys.into_iter().filter_map(|(key, at)| Some((key, at?))).collect()
    }
}
