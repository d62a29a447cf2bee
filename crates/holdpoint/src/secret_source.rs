//! Where a secret is to be found. Nothing that is shown, committed or mailed holds one.

use std::path::PathBuf;

/// The place of a secret, which is read when what needs it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretSource {
    /// The name of an environment variable.
    Env(String),
    /// A file that holds nothing else.
    File(PathBuf),
}

impl SecretSource {
    /// `what` it is, for the operator who must mend it.
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
