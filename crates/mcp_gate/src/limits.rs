//! Every bound on what an MCP client may do to us, with its reason.

use std::time::Duration;

/// Messages that the client has not taken yet; a sender waits behind them.
pub const OUTBOX_MAX: usize = 256;
/// Calls of one client at a time. A model asks for a few; more is a loop that nobody meant.
pub const CALLS_MAX: usize = 200;
/// How often a client that waits hears that it still does. Clients that reset their time-out on progress do so
/// after a minute at the latest.
pub const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// A call that is allowed at once has nothing to say about waiting.
pub const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// Between two tries to reach a server that is away.
pub const SERVER_AGAIN: Duration = Duration::from_millis(500);
/// A question that nobody waits for is withdrawn, if the server is quick about it.
pub const WITHDRAW_WITHIN: Duration = Duration::from_secs(3);
/// What the last messages may take when the client is gone.
pub const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// How long a client may keep the list of our tools: they change with the program.
pub const LIST_TTL_MS: u64 = 3_600_000;
/// Messages that an upstream has not taken yet; more are turned away.
pub const UPSTREAM_OUTBOX_MAX: usize = 256;
/// Questions of upstreams that the client has not answered yet.
pub const RELAYED_MAX: usize = 64;
/// What an upstream may take to end when its input is closed. Then it is killed.
pub const UPSTREAM_ENDS_WITHIN: Duration = Duration::from_secs(2);
/// Upstreams of one configuration. No model can choose among the tools of more.
pub const UPSTREAMS_MAX: usize = 32;
/// A notice of an open question that nobody came back for is removed after this: the question expired long ago.
pub const QUESTION_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// What a client is told about how long it may ask for a task, and how often it should.
pub const TASK_TTL_MS: u64 = 24 * 3600 * 1000;
pub const TASK_POLL_MS: u64 = 1_000;
/// Tasks of one client that are remembered. The oldest finished ones are forgotten first; while all are open, no other begins.
pub const TASKS_MAX: usize = 1_000;
/// What stands after the dot of a task's name: as much as a random key has, with room to spare.
pub const TASK_OWN_CHARS_MAX: usize = 64;
/// Definitions that one upstream shows a client in a session: all of its tools twice over. One that shows more changes them
/// as it is asked, and none of its tools is called before the client has seen a whole list without another.
pub const SHOWN_DEFINITIONS_MAX: usize = 2 * tools::mcp::limits::TOOLS_MAX;
/// Ids of cancelled requests that the client may not use again. An upstream that answers one of them after so many others is
/// one that answers what it likes.
pub const RETIRED_IDS_MAX: usize = 10_000;
/// Rounds of questions in one call that its approval covers, as many as clients take part in.
pub const CONTINUATIONS_MAX: usize = 10;
/// Open continuations and open forms of one client.
pub const OPEN_STATES_MAX: usize = 256;
/// More than this is not read in a form: then the page is the place to answer.
pub const FORM_MESSAGE_MAX: usize = 4 << 10;
/// What a client takes to answer an upstream's question. People fill in its forms; a call that waits longer is given up.
pub const QUESTION_WITHIN: Duration = Duration::from_secs(600);
/// Calls of one client that an upstream has while the client answers its questions. Each is a call that was approved.
pub const HELD_CALLS_MAX: usize = 64;
/// Questions of an upstream in one call that have no answer yet.
pub const QUESTIONS_OF_A_CALL_MAX: usize = 8;
/// Streams on which one client without a handshake hears of changes.
pub const LISTENERS_MAX: usize = 32;
/// Resources that a client with a handshake wants to hear of.
pub const WATCHED_MAX: usize = 256;
/// What the record says about a result.
pub const RESULT_CHARS_MAX: usize = 500;
/// A message without an answer that a service has not taken by then is given up.
pub const NOTICE_WITHIN: Duration = Duration::from_secs(10);
/// Before a service is asked again for the standing stream of a session that it ended.
pub const LISTEN_AGAIN: Duration = Duration::from_secs(5);
/// Sessions of all clients over HTTP. Each may be a program that runs.
pub const SESSIONS_MAX: usize = 256;
/// Sessions of one token: a person's clients, or the workers of one program. One more ends the one that is idle longest.
pub const SESSIONS_PER_CALLER_MAX: usize = 32;
/// A session in which nothing waits and nobody listens is ended after this.
pub const SESSION_IDLE: Duration = Duration::from_secs(600);
pub const SWEEP_EVERY: Duration = Duration::from_secs(15);
/// An answer that takes longer is a stream, so that the connection shows life. A program that has to start first gets this far.
pub const STREAM_AFTER: Duration = Duration::from_secs(5);
/// Messages on one stream that its client has not taken yet.
pub const STREAM_OUTBOX_MAX: usize = 64;
/// A client that takes nothing for this long does not read.
pub const STREAM_STALLED: Duration = Duration::from_secs(10);
/// What is kept of a session for a client whose stream was cut.
pub const REPLAY_EVENTS_MAX: usize = 256;
pub const REPLAY_BYTES_MAX: usize = 1 << 20;
