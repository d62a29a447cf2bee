//! Every bound on what an MCP client may do to us, with its reason.

use std::time::Duration;

/// Messages that the client has not taken yet; a sender waits behind them.
pub(super) const OUTBOX_MAX: usize = 256;
/// Calls of one client at a time. A model asks for a few; more is a loop that nobody meant.
pub(super) const CALLS_MAX: usize = 200;
/// How often a client that waits hears that it still does. Clients that reset their time-out on progress do so
/// after a minute at the latest.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// Between two tries to reach a server that is away.
pub(super) const SERVER_AGAIN: Duration = Duration::from_millis(500);
/// A question that nobody waits for is withdrawn, if the server is quick about it.
pub(super) const WITHDRAW_WITHIN: Duration = Duration::from_secs(3);
/// What the last messages may take when the client is gone.
pub(super) const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// How long a client may keep the list of our tools: they change with the program.
pub(super) const LIST_TTL_MS: u64 = 3_600_000;
