//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;

pub(crate) use crate::near_names::{listed, nearest};

/// One mistake. The message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub file: String,
    /// Counted from 1; `None` where the file as a whole is meant.
    pub line: Option<usize>,
    pub message: String,
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// All mistakes of one file, in the order of its lines. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl std::error::Error for ConfigErrors {}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, mistake) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { "\n" };
            write!(f, "{between}{mistake}")?;
        }
        Ok(())
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(one: ConfigError) -> ConfigErrors {
        ConfigErrors(vec![one])
    }
}

/// Says in our words what the reader of TOML found.
pub(super) fn reworded(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = quoted(rest);
        let unknown = names.next().unwrap_or_default();
        return unknown_key(unknown, &names.collect::<Vec<_>>());
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("`{}` is missing", quoted(rest).next().unwrap_or_default());
    }
    if let Some((found, wanted)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.split_once(", expected "))
    {
        return format!("{wanted} is expected here, and not {found}");
    }
    message.replace('\n', ", ")
}

pub(super) fn unknown_key(unknown: &str, known: &[&str]) -> String {
    // The one mistake that must not be mended by trying other spellings.
    for (suffix, other) in [("_env", "_file"), ("_file", "_env")] {
        let by_reference = format!("{unknown}{suffix}");
        if known.contains(&by_reference.as_str()) {
            let or = match known.contains(&format!("{unknown}{other}").as_str()) {
                true => format!(" or `{unknown}{other}`"),
                false => String::new(),
            };
            return format!(
                "secrets do not belong in this file: take `{unknown}` out and use \
                 `{by_reference}`{or}"
            );
        }
    }
    match nearest(unknown, known) {
        Some(near) => format!("unknown key `{unknown}`; did you mean `{near}`?"),
        None => format!("unknown key `{unknown}`; the keys here are {}", listed(known)),
    }
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_secrets_are_sent_elsewhere() {
        assert_eq!(
            unknown_key("api_key", &["model", "api_key_env", "api_key_file"]),
            "secrets do not belong in this file: take `api_key` out and use `api_key_env` or `api_key_file`"
        );
    }
}
