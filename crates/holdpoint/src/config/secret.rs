//! Where a secret is to be found. The configuration never holds one, so that it can be shown,
//! committed and mailed.

use std::ops::Range;

use toml::Spanned;

use super::source::{ConfigSource, Result};
pub use crate::secret_source::SecretSource;

impl ConfigSource<'_> {
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
