//! Every bound on what an MCP client may do to us, with its reason.

use std::time::Duration;

/// Messages that the client has not taken yet; a sender waits behind them.
pub(super) const OUTBOX_MAX: usize = 256;
/// Calls of one client at a time. A model asks for a few; more is a loop that nobody meant.
pub(super) const CALLS_MAX: usize = 200;
/// How often a client that waits hears that it still does. Clients that reset their time-out on progress do so
/// after a minute at the latest.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// A call that is allowed at once has nothing to say about waiting.
pub(super) const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// Between two tries to reach a server that is away.
pub(super) const SERVER_AGAIN: Duration = Duration::from_millis(500);
/// A question that nobody waits for is withdrawn, if the server is quick about it.
pub(super) const WITHDRAW_WITHIN: Duration = Duration::from_secs(3);
/// What the last messages may take when the client is gone.
pub(super) const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// How long a client may keep the list of our tools: they change with the program.
pub(super) const LIST_TTL_MS: u64 = 3_600_000;
/// Messages that an upstream has not taken yet; more are turned away.
pub(super) const UPSTREAM_OUTBOX_MAX: usize = 256;
/// Questions of upstreams that the client has not answered yet.
pub(super) const RELAYED_MAX: usize = 64;
/// What an upstream may take to end when its input is closed. Then it is killed.
pub(super) const UPSTREAM_ENDS_WITHIN: Duration = Duration::from_secs(2);
/// Upstreams of one configuration. No model can choose among the tools of more.
pub(super) const UPSTREAMS_MAX: usize = 32;
/// A notice of an open question that nobody came back for is removed after this: the question expired long ago.
pub(super) const QUESTION_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// What a client is told about how long it may ask for a task, and how often it should.
pub(super) const TASK_TTL_MS: u64 = 24 * 3600 * 1000;
pub(super) const TASK_POLL_MS: u64 = 1_000;
/// Tasks that are remembered. The oldest finished ones are forgotten first.
pub(super) const TASKS_MAX: usize = 1_000;
/// Rounds of questions in one call that its approval covers, as many as clients take part in.
pub(super) const CONTINUATIONS_MAX: usize = 10;
/// Open continuations and open forms of one client.
pub(super) const OPEN_STATES_MAX: usize = 256;
/// More than this is not read in a form: then the page is the place to answer.
pub(super) const FORM_MESSAGE_MAX: usize = 4 << 10;
/// What the record says about a result.
pub(super) const RESULT_CHARS_MAX: usize = 500;
