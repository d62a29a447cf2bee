//! Reading a secret that the configuration only points to.

use anyhow::{Context as _, Result, ensure};

use crate::config::SecretSource;

/// What the secret is called where people can see it, and the secret.
pub(super) fn read_secret(source: &SecretSource) -> Result<(String, String)> {
    let (name, value) = match source {
        SecretSource::Env(name) => {
            let value = std::env::var(name)
                .with_context(|| format!("the environment variable `{name}` is not set"))?;
            (name.clone(), value)
        }
        SecretSource::File(path) => {
            let value = std::fs::read_to_string(path)
                .with_context(|| format!("the file `{}` cannot be read", path.display()))?;
            (path.display().to_string(), value)
        }
    };
    let value = value.trim_end_matches(['\r', '\n']).to_owned();
    ensure!(!value.is_empty(), "`{name}` is empty");
    Ok((name, value))
}
