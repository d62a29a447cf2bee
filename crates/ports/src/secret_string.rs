//! A text that is sent, and never shown: a token, a key, a password.

use std::fmt;

/// It has no `Display`, and its `Debug` tells nothing.
///
/// ```
/// use holdpoint_ports::secret_string::SecretString;
///
/// let key = SecretString::new("sk-12345");
/// assert_eq!(format!("{key:?}"), "SecretString(…)");
/// assert_eq!(key.expose(), "sk-12345");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    /// Keeps a secret.
    pub fn new(value: impl Into<String>) -> SecretString {
        SecretString(value.into())
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that a foreign service wrote: many repeat what they got.
    pub fn scrub(&self, text: &str) -> String {
        match self.0.trim() {
            "" => text.to_owned(),
            secret => text.replace(secret, "…"),
        }
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretString(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i45_a_secret_is_not_shown() {
        let secret = SecretString::new("s3cr3t");
        assert_eq!(format!("{secret:?}"), "SecretString(…)");
        assert_eq!(secret.scrub("the secret s3cr3t is bad"), "the secret … is bad");
        assert_eq!(SecretString::new("").scrub("nothing"), "nothing");
    }
}
