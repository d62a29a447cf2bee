//! Bounds of the store on PostgreSQL, each with its reason.

use std::time::Duration;

/// A handshake over a slow line; a database that needs longer is taken for away.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// How long a wire may be silent before it is asked whether it is still there. Three silences end it.
pub(super) const SILENCE: Duration = Duration::from_secs(2);
/// How long a read or a transaction may take in all, waiting for others included.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How long the database waits for a node that has begun a transaction and says nothing: a node that was stopped in
/// the middle of one holds up all others for so long, and no longer.
pub(super) const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(3);
/// Commits that become durable together. More of them would make the first one wait for the last.
pub(super) const COMMITS_MAX: usize = 256;
/// Connections that read. Most reads take well under a millisecond; these many do at once.
pub(super) const READERS: usize = 6;
/// How long the fate of a transaction is looked for before whoever waits is told that it is unknown.
pub(super) const SETTLE_WITHIN: Duration = Duration::from_secs(10);
/// Between two attempts to reach a database that is away.
pub(super) const RECONNECT_PAUSE: Duration = Duration::from_millis(100);
/// Entries of the log that no signature covers yet, at most; with the batch in which the last of them is written.
pub(super) const UNVOUCHED_MAX: u64 = 1_000;
/// Replies and notes that are forgotten at once, so that commits do not wait long behind it.
pub(super) const FORGET_MAX: i64 = 500;
/// Grants have no pages; no list is longer than this.
pub(super) const GRANTS_MAX: usize = 10_000;
/// How often a node renews its lease.
pub(super) const BEAT: Duration = Duration::from_secs(1);
/// For how long a renewal lets this node begin calls, counted from when it was sent. Half of what others wait for.
pub(super) const VALID_FOR: Duration = Duration::from_secs(4);
/// How long another node must have been seen without a renewal before it is taken for gone.
pub(super) const SILENT_FOR: Duration = Duration::from_secs(8);
/// How often the head is looked at although a listener hears of every change: notices may be lost on the way.
pub(super) const LOOK_WITH_LISTENER: Duration = Duration::from_millis(250);
/// The same while nothing can be heard.
pub(super) const LOOK_WITHOUT_LISTENER: Duration = Duration::from_millis(20);
/// What was heard of others and not yet looked at. Then the hearing waits, and tells of more at once.
pub(super) const HEARD_MAX: usize = 16;
/// How long an exact answer about the database's clock is preferred to a newer and less exact one: two clocks drift apart
/// by a few milliseconds in that time.
pub(super) const CLOCK_SAMPLE_KEPT: Duration = Duration::from_secs(60);
/// An answer about the database's clock that took longer is not taken over for its age alone: what it says may be ahead by
/// as much.
pub(super) const CLOCK_TRIP_MAX: Duration = Duration::from_millis(250);
