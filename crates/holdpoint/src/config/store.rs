//! `[store]`: what remembers.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use stores::PgAddress;
use toml::Spanned;

use super::secret::SecretSource;
use super::source::{ConfigSource, Result};

const PATH_DEFAULT: &str = "holdpoint-data";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreConfig {
    /// The folder that holds the database, its lock, the audit key and the traces of calls.
    Sqlite {
        path: PathBuf,
        /// Without it the folder has a key of its own.
        sealing_key: Option<SecretSource>,
    },
    /// A database that several nodes may share.
    Postgres {
        /// Without a password.
        url: String,
        password: Option<SecretSource>,
        /// This node's own: the audit key and the traces of calls.
        folder: PathBuf,
        /// Without it nothing that has to be sealed is taken.
        sealing_key: Option<SecretSource>,
    },
}

/// Shown at the start, by `doctor` and to admins.
const NO_SEALING_KEY: &str = "`[store]` names no sealing key: on PostgreSQL all nodes share one, and without it secrets in forms, `holdpoint mcp connect` \
     and notices of the page are refused. Write one with `openssl rand -hex 32`, and set `sealing_key_file` (or \
     `sealing_key_env`) to it on every node";

impl StoreConfig {
    /// What this process keeps on its own disk.
    pub fn folder(&self) -> &Path {
        match self {
            StoreConfig::Sqlite { path, .. } => path,
            StoreConfig::Postgres { folder, .. } => folder,
        }
    }

    pub fn sealing_key(&self) -> Option<&SecretSource> {
        match self {
            StoreConfig::Sqlite { sealing_key, .. } | StoreConfig::Postgres { sealing_key, .. } => {
                sealing_key.as_ref()
            }
        }
    }

    pub(super) fn warning(&self) -> Option<String> {
        let is_bare = matches!(self, StoreConfig::Postgres { sealing_key: None, .. });
        is_bare.then(|| NO_SEALING_KEY.to_owned())
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreTable {
    url: Option<Spanned<String>>,
    password_env: Option<Spanned<String>>,
    password_file: Option<Spanned<String>>,
    folder: Option<Spanned<String>>,
    sealing_key_env: Option<Spanned<String>>,
    sealing_key_file: Option<Spanned<String>>,
}

impl StoreTable {
    pub(super) fn check(self, source: &ConfigSource<'_>) -> Result<StoreConfig> {
        let Some(url) = &self.url else {
            self.nothing_of_postgres(source)?;
            let sealing_key = self.sealing_key(source)?;
            return Ok(StoreConfig::Sqlite { path: source.path(PATH_DEFAULT), sealing_key });
        };
        let text = url.get_ref();
        if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            return self.postgres(url, source);
        }
        self.nothing_of_postgres(source)?;
        // The address of a database may hold a password, so it is not repeated.
        let message = match text.strip_prefix("sqlite:") {
            // SQLite would keep it in memory, and everything would be lost at the next start.
            Some("" | ":memory:") => "name a folder, such as `sqlite:holdpoint-data`",
            Some(path) if path.starts_with("//") => {
                "write `sqlite:` and a path, without slashes between, such as `sqlite:holdpoint-data`"
            }
            Some(path) => {
                let sealing_key = self.sealing_key(source)?;
                return Ok(StoreConfig::Sqlite { path: source.path(path), sealing_key });
            }
            None => {
                "this is not the address of a store; write `sqlite:holdpoint-data`, or \
                 `postgres://user@host/database`"
            }
        };
        Err(source.error(url.span(), message))
    }

    fn postgres(&self, url: &Spanned<String>, source: &ConfigSource<'_>) -> Result<StoreConfig> {
        let text = url.get_ref();
        if PgAddress::has_password(text) {
            let message = "the address holds a password, which does not belong here: put it into a variable or a \
                           file, and name that with `password_env` or `password_file`";
            return Err(source.error(url.span(), message));
        }
        PgAddress::parse(text, None).map_err(|why| source.error(url.span(), &why))?;
        let password =
            source.secret_if_given("password", &self.password_env, &self.password_file)?;
        let folder = self.folder.as_ref().map_or(PATH_DEFAULT, |folder| folder.get_ref().as_str());
        let folder = source.path(folder);
        let sealing_key = self.sealing_key(source)?;
        Ok(StoreConfig::Postgres { url: text.clone(), password, folder, sealing_key })
    }

    fn sealing_key(&self, source: &ConfigSource<'_>) -> Result<Option<SecretSource>> {
        source.secret_if_given("sealing_key", &self.sealing_key_env, &self.sealing_key_file)
    }

    fn nothing_of_postgres(&self, source: &ConfigSource<'_>) -> Result<()> {
        let given = [
            ("password_env", &self.password_env),
            ("password_file", &self.password_file),
            ("folder", &self.folder),
        ];
        let found = given.into_iter().find_map(|(key, value)| Some((key, value.as_ref()?)));
        found.map_or(Ok(()), |(key, value)| {
            let message = format!("`{key}` goes with a `url` that begins with `postgres://`");
            Err(source.error(value.span(), message))
        })
    }
}
