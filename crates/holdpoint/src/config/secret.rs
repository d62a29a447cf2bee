//! Where a secret is to be found. The configuration never holds one, so that it can be shown,
//! committed and mailed.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;

use super::source::{Result, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The name of an environment variable.
    Env(String),
    File(PathBuf),
}

impl SecretSource {
    /// `what` it is, for whoever must mend it.
    pub(crate) fn read(&self, what: &str) -> std::result::Result<String, String> {
        let (text, place) = match self {
            SecretSource::Env(name) => {
                let text = std::env::var(name).map_err(|_| {
                    format!("{what} is missing: the environment variable `{name}` is not set")
                })?;
                (text, format!("the environment variable `{name}`"))
            }
            SecretSource::File(path) => {
                let text = std::fs::read_to_string(path).map_err(|why| {
                    format!("{what} is missing: the file {} cannot be read: {why}", path.display())
                })?;
                (text, format!("the file {}", path.display()))
            }
        };
        match text.trim() {
            "" => Err(format!("{what} is missing: {place} is empty")),
            secret => Ok(secret.to_owned()),
        }
    }
}

impl Source<'_> {
    /// Exactly one of `KEY_env` and `KEY_file`.
    pub(super) fn secret(
        &self,
        key: &str,
        owner: Range<usize>,
        env: &Option<Spanned<String>>,
        file: &Option<Spanned<String>>,
    ) -> Result<SecretSource> {
        match (env, file) {
            (Some(env), None) => Ok(SecretSource::Env(self.variable(env)?)),
            (None, Some(file)) => Ok(SecretSource::File(self.path(file.get_ref()))),
            (Some(_), Some(file)) => {
                let message = format!("give `{key}_env` or `{key}_file`, not both");
                Err(self.error(file.span(), message))
            }
            (None, None) => {
                let message = format!("`{key}_env` is missing (or `{key}_file`)");
                Err(self.error(owner, message))
            }
        }
    }

    /// One of the two, or none.
    pub(super) fn secret_if_given(
        &self,
        key: &str,
        env: &Option<Spanned<String>>,
        file: &Option<Spanned<String>>,
    ) -> Result<Option<SecretSource>> {
        match (env, file) {
            (None, None) => Ok(None),
            _ => self.secret(key, 0..0, env, file).map(Some),
        }
    }
}
