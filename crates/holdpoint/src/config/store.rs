//! `[store]`: what remembers.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::source::{ConfigSource, Result};

const PATH_DEFAULT: &str = "holdpoint-data";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreConfig {
    /// The folder that holds the database, its lock, the audit key and the traces of calls.
    Sqlite { path: PathBuf },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreTable {
    url: Option<Spanned<String>>,
}

impl StoreTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> Result<StoreConfig> {
        let Some(url) = self.url else {
            return Ok(StoreConfig::Sqlite { path: source.path(PATH_DEFAULT) });
        };
        let text = url.get_ref();
        // The address of a database may hold a password, so it is not repeated.
        let message = if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            "PostgreSQL comes with a later version; until then use `sqlite:holdpoint-data`"
        } else {
            match text.strip_prefix("sqlite:") {
                // SQLite would keep it in memory, and everything would be lost at the next start.
                Some("" | ":memory:") => "name a folder, such as `sqlite:holdpoint-data`",
                Some(path) if path.starts_with("//") => {
                    "write `sqlite:` and a path, without slashes between, such as `sqlite:holdpoint-data`"
                }
                Some(path) => return Ok(StoreConfig::Sqlite { path: source.path(path) }),
                None => "this is not the address of a store; write `sqlite:holdpoint-data`",
            }
        };
        Err(source.error(url.span(), message))
    }
}
