//! Every bound on what an MCP server may do to us, with its reason.

use std::time::Duration;

/// One message. The longest honest ones are files that were read, and of those the model gets
/// [`crate::limits::OUTPUT_BYTES_KEPT`]; one that is longer is an attempt on our memory.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Lines on standard output that are no protocol. A banner is forgiven; a program that goes on
/// printing is no MCP server.
pub const GARBAGE_LINES_MAX: usize = 64;
/// Tools of one server. No model can choose among more.
pub const TOOLS_MAX: usize = 512;
/// Pages of one list: at eight tools a page, still every tool.
pub const PAGES_MAX: usize = 64;
/// One definition, with its schema. Longer than this it is a book.
pub const DEFINITION_BYTES_MAX: usize = 128 << 10;
/// The name of a tool, as the protocol has it.
pub const TOOL_NAME_MAX: usize = 128;
/// Requests to one server that wait for an answer; others are turned away.
pub const PENDING_MAX: usize = 64;
/// Questions of the server that wait behind the one that people are looking at.
pub const ASKS_WAITING_MAX: usize = 8;
/// Questions in the course of one call. A server that asks more often is not going to end.
pub const ASKS_PER_CALL_MAX: usize = 10;
/// A form with more fields than this is no question.
pub const FORM_FIELDS_MAX: usize = 32;
/// Messages of ours that a server has not taken yet.
pub const OUTBOX_MAX: usize = 256;
/// A line of a server's standard error in our log, and lines a minute: enough to see what is wrong.
pub const STDERR_LINE_MAX: usize = 1_000;
pub const STDERR_LINES_MAX: usize = 1_000;

/// A server that does not say which era it is of by then is taken for a legacy one.
pub const DISCOVER_WITHIN: Duration = Duration::from_secs(20);
/// From start to the first list of tools. Some servers are downloaded by their starters first.
pub const CONNECT_WITHIN: Duration = Duration::from_secs(120);
/// How long the start waits for servers that it has never seen.
pub const FIRST_LOOK_WITHIN: Duration = Duration::from_secs(10);
/// How long a call waits for a server that is being started again.
pub const LINK_WITHIN: Duration = Duration::from_secs(15);
/// One list of tools before a call is shown or run.
pub const LIST_WITHIN: Duration = Duration::from_secs(15);
/// What a server may still say about a call that it was asked to cancel.
pub const CANCEL_WITHIN: Duration = Duration::from_secs(2);
/// How long a process that was killed may take to be dead.
pub const GONE_WITHIN: Duration = Duration::from_secs(10);
/// Between two attempts to start a server: doubled each time, up to the last.
pub const RESTART_AFTER: Duration = Duration::from_millis(500);
pub const RESTART_AFTER_MAX: Duration = Duration::from_secs(60);
/// A server that lived this long was well; the next restart is a first one again.
pub const WELL_AFTER: Duration = Duration::from_secs(60);

/// A token is renewed so long before it expires, but in the last quarter of its life: a request that takes its time must
/// not arrive with one that has just expired.
pub const RENEW_BEFORE_MS_MAX: u64 = 60_000;
/// How long an admin may take to consent in the browser.
pub const CONSENT_MS: u64 = 600_000;
/// The request that finds out what a server wants. It is answered with a few lines.
pub const PROBE_WITHIN: Duration = Duration::from_secs(10);
/// Everything that is asked of others before the browser can be sent away: a probe, two documents in up to five places,
/// a registration. The command line waits for 30 s.
pub const BEGIN_WITHIN: Duration = Duration::from_secs(25);
