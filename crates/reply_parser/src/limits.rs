//! The bounds of replies, with their reasons.

/// An answer is a word or two, with a courtesy. A longer text says more than yes or no.
pub(crate) const REPLY_CHARACTERS_MAX: usize = 120;
/// The shortest time in which a person can read a prompt about something dangerous.
pub(crate) const READING_TIME_MS: u64 = 1_500;
