//! `[callbacks]`: how outside programs are told that their holds are decided.

use serde::Deserialize;
use toml::Spanned;

use super::source::{ConfigSource, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallbacksConfig {
    /// Environment variables that a hold's `callback.secret_env` may name. Others are refused, or a
    /// caller could have any of our secrets used as a key.
    pub secret_envs: Vec<String>,
    /// Callbacks may go to this machine and to private networks.
    pub allow_private_addresses: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallbacksTable {
    #[serde(default)]
    secret_envs: Vec<Spanned<String>>,
    #[serde(default)]
    allow_private_addresses: bool,
}

impl CallbacksTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> Result<CallbacksConfig> {
        let secret_envs = self.secret_envs.iter().map(|name| source.variable(name));
        Ok(CallbacksConfig {
            secret_envs: secret_envs.collect::<Result<_>>()?,
            allow_private_addresses: self.allow_private_addresses,
        })
    }
}
