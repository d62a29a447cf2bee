//! Every bound of this door, with its reason.

use std::time::Duration;

/// Clients of this wire take the end of the body for the end of the turn, and look whether anything
/// comes in the moment after `idle`.
pub(super) const IDLE_GRACE: Duration = Duration::from_millis(500);
/// A request without a stream waits so long at most: proxies lose patience after that.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(60);
/// Chats that are listed, and sessions that are searched for a model's id of a call; the newest.
pub(super) const CHATS_MAX: usize = 200;
/// How many times as many sessions of others are passed over while looking for the caller's own.
pub(super) const PAGES_MAX: usize = 50;
/// Messages that an agent's memory shows, the latest: a page draws no more.
pub(super) const MEMORY_MAX: usize = 500;
/// Entries read at once while looking for the moment in which a hold was decided.
pub(super) const ENTRIES_PAGE: usize = 200;
/// A file of a client's own, which is read as a whole: builds of pages have none that is larger.
pub(super) const FILE_BYTES_MAX: u64 = 16 << 20;
/// Of the first words, for the name of a chat.
pub(super) const TITLE_CHARS: usize = 60;
