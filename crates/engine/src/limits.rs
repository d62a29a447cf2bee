//! Every bound of the engine, with its reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Sessions kept in memory. A cache only: the rest is a short read away.
    pub cached_sessions: usize,
    /// Open holds that one caller may have opened from outside.
    pub outside_holds_per_caller: usize,
    /// How often a decision is made anew when somebody else commits first. Past this the caller is
    /// told to try again: something is hammering one session.
    pub commit_attempts: u32,
    /// Model calls at once; others wait their turn.
    pub thinking_at_once: usize,
    /// Tool calls at once; others wait their turn (their intent is on disk already).
    pub executing_at_once: usize,
    /// Between attempts to deliver a callback: doubled each time, up to the last.
    pub delivery_retry: Duration,
    pub delivery_retry_max: Duration,
    pub delivery_attempts: u32,
    /// How long a question waits in sessions that live in these channels, where no rule says.
    pub home_expires_ms: BTreeMap<Arc<str>, u64>,
    /// How long a login lasts that nobody uses.
    pub session_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            cached_sessions: 4_096,
            outside_holds_per_caller: 10_000,
            commit_attempts: 200,
            thinking_at_once: 256,
            executing_at_once: 256,
            delivery_retry: Duration::from_secs(5),
            delivery_retry_max: Duration::from_secs(3_600),
            delivery_attempts: 12,
            home_expires_ms: BTreeMap::new(),
            session_ms: 30 * 24 * 3_600_000,
        }
    }
}

/// Looks for traces of interrupted calls of one tool at once. Many, because most of them only wait; fewer than
/// there are threads for work that blocks, so that one tool that hangs leaves some to others.
pub(crate) const LOOKS_AT_ONCE: usize = 32;
/// How long one look may take once it is its turn: longer than a database server takes to come back. After
/// that its call is in doubt.
pub(crate) const LOOK_WITHIN: Duration = Duration::from_secs(5 * 60);
/// How long a look may go on when its run was cancelled.
pub(crate) const LOOK_AFTER_CANCEL: Duration = Duration::from_secs(5);
/// Attempts at one call that ended with the server. A call that ends it would do so for ever.
pub(crate) const CRASHED_ATTEMPTS_MAX: u32 = 3;
/// How long hosts may take to write down that a call has not begun. Without that a crash leaves it in doubt.
pub(crate) const ANNOUNCE_WITHIN: Duration = Duration::from_secs(2);
/// How long a freeze waits for calls that are just beginning. Hosts need milliseconds for that; one that hangs
/// must not keep people from an acknowledgement, and the gate is closed meanwhile.
pub(crate) const STARTS_WITHIN: Duration = Duration::from_secs(5);
/// How long a tool may look at an edited call while a person waits for the preview of it: longer than a count of rows
/// takes, and shorter than people stay.
pub(crate) const PREVIEW_WITHIN: Duration = Duration::from_secs(10);
/// An open hold that expires within this is about to: time enough to look at it, if it is looked at now.
pub const EXPIRING_SOON_MS: u64 = 15 * 60_000;
/// Holds alike that are looked at for "asked before". Beyond it the figures say that they are not complete.
pub(crate) const ALIKE_LOOKED_AT: usize = 2_000;
/// Of the reason of an earlier denial, so much is told beside a hold.
pub(crate) const ALIKE_REASON_CHARS: usize = 500;
/// Holds that figures are made of: a busy house in 30 days. Beyond it they say that they are not complete.
pub(crate) const FIGURES_LOOKED_AT: usize = 50_000;
/// An approval that came sooner was given without reading.
pub(crate) const GLANCE_MS: u64 = 1_000;
/// Commits that a replay of the policy reads: some seconds of work. Beyond it the replay says that it is not complete.
pub(crate) const REPLAYED_COMMITS: usize = 100_000;
/// Of these at once, so that others get their turn at the store in between.
pub(crate) const REPLAY_PAGE: usize = 500;
/// Holds that a grant would have covered, told one by one. The rest is counted.
pub(crate) const MATCHES_SHOWN: usize = 50;
/// How long a hold may be snoozed: whoever wants to see it later than that should let it go.
pub(crate) const SNOOZE_MS_MAX: u64 = 7 * 24 * 3_600_000;
/// Holds that one person has snoozed.
pub(crate) const SNOOZES_MAX: usize = 1_000;
/// What went wrong in channels is shown to admins for a week: older trouble is mended, or known.
pub(crate) const FAILURES_SHOWN_MS: u64 = 7 * 24 * 3_600_000;
pub(crate) const FAILURES_LOOKED_AT: usize = 1_000;
/// How long a reply is kept under its idempotency key: the contract's day.
pub const REPLIES_KEPT_MS: u64 = 24 * 3_600_000;
/// How long it stays on disk. Not a day: whoever sets the clock of a machine forward by one would make
/// every repeat act a second time.
pub const REPLIES_ON_DISK_MS: u64 = 7 * REPLIES_KEPT_MS;
/// How long a hold says where people could not be asked: as long as the buttons of a chat live.
pub(crate) const UNDELIVERED_KEPT_MS: u64 = 31 * 24 * 3_600_000;
/// Places that are told of one hold. More would tell nobody more.
pub(crate) const UNDELIVERED_SHOWN: usize = 100;
/// Such places that are read for all holds of a page at once: one for each hold of the longest page. Where
/// there are more, a hold is looked up by itself.
pub(crate) const UNDELIVERED_AT_ONCE: usize = 200;

/// Between attempts of a task to write what the store would not take: doubled each time, up to the last. The first is
/// short, as most trouble of a disk passes soon; the last still finds a store that is back within seconds.
pub(crate) const STORE_RETRY: Duration = Duration::from_millis(100);
pub(crate) const STORE_RETRY_MAX: Duration = Duration::from_secs(5);
