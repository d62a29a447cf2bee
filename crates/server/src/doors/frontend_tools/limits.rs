//! Every bound of this door, with its reason.

use std::time::Duration;

/// Prompts and results are text that a model reads; nobody types a megabyte.
pub(super) const BODY_BYTES_MAX: usize = 1 << 20;
/// How long it may take until a connection that the browser gave up is seen to be gone: it sends the
/// same body again at once.
pub(super) const GONE_WITHIN: Duration = Duration::from_millis(500);
/// Runs of one person with the very same words that may be told apart by their connections.
pub(super) const ALIKE_MAX: usize = 8;
/// For how long the same words find the run that they began. A run may wait for people that long.
pub(super) const REPEATS_KEPT_MS: u64 = 40 * 24 * 60 * 60 * 1000;
/// Of the first words, for a list of conversations.
pub(super) const TITLE_CHARS: usize = 80;
/// Questions that are named one by one when they can only be answered elsewhere.
pub(super) const HINTS_MAX: usize = 5;
pub(super) const SESSIONS_DEFAULT: usize = 50;
pub(super) const SESSIONS_MAX: usize = 100;
/// Sessions that are counted; a user with more sees this number.
pub(super) const SESSIONS_COUNTED: usize = 10_000;
pub(super) const CONVERSATIONS_DEFAULT: usize = 20;
pub(super) const CONVERSATIONS_MAX: usize = 100;
/// Parts of one form: a prompt, two names, and files that a person chose by hand.
pub(super) const PARTS_MAX: usize = 64;
/// Commits that are read at a time when looking for a place in a log.
pub(super) const PAGE: usize = 200;
/// A form with files: some photographs. A form is in memory whole, so few are read at once.
pub(super) const FILES_FORM_BYTES_MAX: usize = 20 << 20;
pub(super) const FILES_FORMS_AT_ONCE: usize = 4;
