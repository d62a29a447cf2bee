//! Every bound of the engine, with its reason.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ports::file_store::FileQuota;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Sessions kept in memory. A cache only: the rest is a short read away.
    pub cached_sessions: usize,
    /// Open holds that one caller may have opened from outside.
    pub outside_holds_per_caller: usize,
    /// How often a decision is made anew when somebody else commits first. Past this the caller is
    /// told to try again: something is hammering one session.
    pub commit_attempts: u32,
    /// Model calls at once; others wait.
    pub thinking_at_once: usize,
    /// Tool calls at once; others wait (their intent is on disk already).
    pub executing_at_once: usize,
    /// Between attempts to deliver a callback: doubled each time, up to the last.
    pub delivery_retry: Duration,
    pub delivery_retry_max: Duration,
    pub delivery_attempts: u32,
    /// How long a question waits in sessions that live in these channels, where no rule says.
    pub home_expires_ms: BTreeMap<Arc<str>, u64>,
    /// How long a login lasts that nobody uses.
    pub session_ms: u64,
    /// One uploaded file: a photograph or a long report. Nothing of it is held in memory whole.
    pub file_bytes: u64,
    pub file_quota: FileQuota,
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
            file_bytes: 20 << 20,
            file_quota: FileQuota { owner_files: 10_000, owner_bytes: 2 << 30, bytes: 20 << 30 },
        }
    }
}

/// Looks for traces of interrupted calls of one tool at once. Many, because most of them only wait; fewer than
/// there are threads for work that blocks, so that one tool that hangs leaves some to others.
pub(crate) const LOOKS_AT_ONCE: usize = 32;
/// How long one look may take once it has a permit: longer than a database server takes to come back. After
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
/// How long a freeze waits for other nodes. One that is silent is taken for gone within ten seconds, and then it is
/// waited for no longer.
pub(crate) const SEEN_BY_ALL_WITHIN: Duration = Duration::from_secs(15);
/// How often it is looked meanwhile: a node needs a few milliseconds to hear of it, and some to say so.
pub(crate) const LOOK_AT_OTHERS_EVERY: Duration = Duration::from_millis(20);
/// How often it is looked whether this node's lease is renewed while calls wait for that. A node renews once a second.
pub(crate) const LOOK_AT_LEASE_EVERY: Duration = Duration::from_millis(100);
/// Sessions that are woken at once, after a thaw or when a lease was renewed.
pub(crate) const WAKES_AT_ONCE: usize = 32;
/// How long a tool may look at an edited call while a person waits for the preview of it: longer than a count of rows
/// takes, and shorter than people stay.
pub(crate) const PREVIEW_WITHIN: Duration = Duration::from_secs(10);
/// An open hold that expires within this is about to: time enough to look at it, if it is looked at now.
pub const EXPIRING_SOON_MS: u64 = 15 * 60_000;
/// Holds alike that are looked at for "asked before". Beyond it the figures say that they are not complete.
pub(crate) const ALIKE_LOOKED_AT: usize = 2_000;
/// Of the reason of an earlier denial, so much is told beside a hold.
pub(crate) const ALIKE_REASON_CHARS: usize = 500;
/// Holds that figures are made of: a busy server in 30 days. Beyond it they say that they are not complete.
pub(crate) const FIGURES_LOOKED_AT: usize = 50_000;
/// An approval that came sooner was given without reading.
pub(crate) const GLANCE_MS: u64 = 1_000;
/// Commits that a replay of the policy reads: some seconds of work. Beyond it the replay says that it is not complete.
pub(crate) const REPLAYED_COMMITS: usize = 100_000;
/// Of these at once, so that others get to the store in between.
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

/// Browsers and phones of one person that are told. More than these are not all theirs.
pub(crate) const PUSH_SUBSCRIPTIONS_MAX: usize = 10;
pub(crate) const PUSH_NAME_BYTES_MAX: usize = 200;
/// A subscription that is not renewed ends: the page renews it at each visit.
pub(crate) const PUSH_KEPT_MS: u64 = 90 * 24 * 3_600_000;
/// Browsers that are told of one hold.
pub(crate) const PUSH_BROWSERS_AT_ONCE: usize = 5_000;
/// How long it is known who was told of a hold, to tell them that it is over. Few wait longer.
pub(crate) const PUSH_TOLD_MS: u64 = 30 * 24 * 3_600_000;
/// Events between two notes of the place, where nobody has to be told.
pub(crate) const PUSH_NOTE_EVERY: u64 = 1_000;
/// Requests to push services at a time. A dead one holds up the others for one timeout.
pub(crate) const PUSH_AT_ONCE: usize = 16;
/// How long a claimed notice is nobody else's business. The sender gives up sooner.
pub(crate) const PUSH_LEASE_MS: u64 = 60_000;
/// What another node planned is found by looking.
pub(crate) const PUSH_LOOK_EVERY: Duration = Duration::from_secs(60);

/// Views of the inbox that one person keeps: more are not found again.
pub(crate) const VIEWS_MAX: usize = 20;
pub(crate) const VIEW_NAME_BYTES_MAX: usize = 60;
/// Filters are short; the rest is what was searched for.
pub(crate) const VIEW_QUERY_BYTES_MAX: usize = 500;

/// Files that one caller may be sending at a time: as many as a browser sends at once from one page.
pub(crate) const UPLOADS_OF_ONE: usize = 6;
/// What is read of a file at a time.
pub(crate) const FILE_PIECE_BYTES: usize = 256 << 10;
/// A file that nothing refers to was attached to a message that was never sent.
pub(crate) const FILES_KEPT_UNUSED_MS: u64 = 24 * 3_600_000;
pub(crate) const FILES_SWEPT_AT_ONCE: usize = 500;
