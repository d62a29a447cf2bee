//! A script as it is written down, before anything is checked.

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    pub(super) default: Option<Spanned<String>>,
    pub(super) deltas: Option<Spanned<DeltasFile>>,
    #[serde(default)]
    pub(super) turn: Vec<Spanned<TurnFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TurnFile {
    pub(super) when: Spanned<WhenFile>,
    pub(super) reasoning: Option<Spanned<String>>,
    pub(super) text: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) calls: Vec<Spanned<CallFile>>,
    pub(super) deltas: Option<Spanned<DeltasFile>>,
    pub(super) fail: Option<Spanned<String>>,
    pub(super) times: Option<Spanned<u64>>,
    #[serde(default)]
    pub(super) usage: UsageFile,
}

/// What a turn is said to cost, in tokens.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UsageFile {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenFile {
    pub(super) any: Option<bool>,
    pub(super) says: Option<String>,
    pub(super) says_contains: Option<String>,
    pub(super) says_regex: Option<Spanned<String>>,
    pub(super) turn: Option<usize>,
    pub(super) result_of: Option<String>,
    pub(super) result_contains: Option<String>,
    pub(super) result_regex: Option<Spanned<String>>,
    pub(super) is_error: Option<bool>,
    pub(super) after_tools: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallFile {
    pub(super) tool: String,
    pub(super) id: Option<String>,
    pub(super) arguments: Option<toml::Table>,
    pub(super) json: Option<String>,
    pub(super) raw: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeltasFile {
    pub(super) words: Option<usize>,
    pub(super) chars: Option<usize>,
    pub(super) delay_ms: Option<u64>,
}
