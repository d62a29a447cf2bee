//! A value that is sent, and never shown.

use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    pub fn new(value: impl Into<String>) -> Hidden {
        Hidden(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes it out of a text that somebody else wrote: platforms like to repeat what they got.
    pub(crate) fn scrub(&self, text: &str) -> String {
        match self.0.trim() {
            "" => text.to_owned(),
            secret => text.replace(secret, "…"),
        }
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i45_a_secret_is_not_shown() {
        let secret = Hidden::new("s3cr3t");
        assert_eq!(format!("{secret:?}"), "Hidden(…)");
        assert_eq!(secret.scrub("the secret s3cr3t is bad"), "the secret … is bad");
        assert_eq!(Hidden::new("").scrub("nothing"), "nothing");
    }
}
