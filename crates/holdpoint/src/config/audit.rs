//! `[audit]`: what is kept of the signed log outside of the data directory.

use std::path::PathBuf;

use serde::Deserialize;

use super::source::ConfigSource;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditConfig {
    /// A file to which signed checkpoints are appended; the next start compares the log with it.
    pub checkpoints: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditTable {
    checkpoints: Option<String>,
}

impl AuditTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> AuditConfig {
        AuditConfig { checkpoints: self.checkpoints.map(|path| source.path(&path)) }
    }
}
