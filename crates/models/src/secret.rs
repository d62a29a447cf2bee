//! A value that is sent, and never shown.

use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes it out of a text that somebody else wrote: providers like to repeat what they got.
    pub(crate) fn scrub(&self, text: &str) -> String {
        match self.0.trim() {
            "" => text.to_owned(),
            secret => text.replace(secret, "…"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("sk-12345");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.scrub("the key sk-12345 is bad"), "the key … is bad");
        assert_eq!(Secret::new("").scrub("nothing"), "nothing");
    }
}
