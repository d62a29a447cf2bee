//! The file that is being read: it tells lines by position, and paths by where it lies.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeSeed;
use toml::Spanned;

use super::error::{ConfigError, listed, nearest, reworded};

pub(super) type Result<T> = std::result::Result<T, ConfigError>;

pub(super) struct ConfigSource<'a> {
    name: &'a str,
    text: &'a str,
    folder: PathBuf,
}

impl<'a> ConfigSource<'a> {
    pub(super) fn new(text: &'a str, name: &'a str) -> ConfigSource<'a> {
        let folder = Path::new(name).parent().map(Path::to_owned).unwrap_or_default();
        ConfigSource { name, text, folder }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// What only a seed can read.
    pub(super) fn read_with<S: DeserializeSeed<'a>>(&self, seed: S) -> Result<S::Value> {
        toml::Deserializer::parse(self.text).and_then(|file| seed.deserialize(file)).map_err(
            |error| self.error(error.span().unwrap_or_default(), reworded(error.message())),
        )
    }

    pub(super) fn line(&self, span: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> ConfigError {
        self.error_at(self.line(span), message)
    }

    pub(super) fn error_at(&self, line: usize, message: impl Into<String>) -> ConfigError {
        ConfigError { file: self.name.into(), line: Some(line), message: message.into() }
    }

    /// Paths are meant from where the file lies, wherever the program was started.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        given: &Spanned<String>,
        known: &[(&str, T)],
    ) -> Result<T> {
        let found = known.iter().find(|(name, _)| name == given.get_ref());
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let given_text = given.get_ref();
            let message = match nearest(given_text, &names) {
                Some(near) => format!("`{key}` cannot be `{given_text}`; did you mean `{near}`?"),
                None => {
                    format!("`{key}` cannot be `{given_text}`; it is one of {}", listed(&names))
                }
            };
            self.error(given.span(), message)
        })
    }

    /// A name that people and programs type: letters, digits, and these.
    pub(super) fn name(&self, what: &str, name: &Spanned<String>, also: &str) -> Result<()> {
        self.checked(name, crate::checks::name(what, name.get_ref(), also))
    }

    /// What one of the checks says, with the line.
    pub(super) fn checked<T>(
        &self,
        given: &Spanned<T>,
        found: std::result::Result<(), String>,
    ) -> Result<()> {
        found.map_err(|why| self.error(given.span(), why))
    }

    /// The name of an environment variable.
    pub(super) fn variable(&self, name: &Spanned<String>) -> Result<String> {
        let text = name.get_ref();
        let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if begins && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Ok(text.clone());
        }
        // What stands here by mistake may be the secret itself, so it is not repeated.
        Err(self.error(
            name.span(),
            "this is not the name of an environment variable, such as `MY_SECRET`; the value itself does not belong here",
        ))
    }
}
