//! Every bound of the tool hosts, with its reason.

use std::time::Duration;

/// What the model gets of one stream of output: a dozen pages. More drowns the conversation; the
/// rest is counted and digested.
pub const OUTPUT_BYTES_KEPT: usize = 64 << 10;
/// What one attempt may write to the spool. A process that prints more than this is not talking to
/// anybody, and the disk is everybody's: it is stopped, and the result says so.
pub const SPOOL_BYTES_MAX: u64 = 64 << 20;
/// One record of the spool: a few hundred bytes, with room for a long sentence.
pub const SPOOL_RECORD_BYTES_MAX: u64 = 64 << 10;
/// Partial output shown to the person who settles an unknown outcome.
pub const EVIDENCE_BYTES_MAX: usize = 2 << 10;
/// Results wait in the spool only until they are in the store. One that is still here after this
/// was reported by a process that died before it could tidy up.
pub const SPOOL_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a command runs when the configuration sets no time limit.
pub const TIME_LIMIT_DEFAULT: Duration = Duration::from_secs(60);
/// No command runs longer, whatever was configured: a run that takes a day wants a job queue.
pub const TIME_LIMIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// A process tree that is not proved to be gone after this hangs in the kernel or forks faster than it can
/// be killed, and is reported as such.
pub const KILL_WITHIN: Duration = Duration::from_secs(5);
/// Between two looks at a process tree that is being killed.
pub const KILL_PAUSE: Duration = Duration::from_millis(2);
/// A supervisor that has its order writes two small files before it says so. One that hangs must not keep the
/// start gate, so it is shorter than a freeze waits.
pub const FIRST_WORD_WITHIN: Duration = Duration::from_secs(4);
/// A supervisor whose server is gone needs this long at most to kill its tree and say so, so
/// recovery lets it speak before it looks for itself.
pub const LAST_WORDS_WITHIN: Duration = Duration::from_secs(7);
/// A program that we talked with has this long to leave by itself once its input has ended.
pub const COMPANION_LEAVES_WITHIN: Duration = Duration::from_secs(2);
/// What a supervisor keeps for a program that does not read. Sixty-four calls with the longest
/// arguments: a program that is further behind hangs.
pub const COMPANION_UNREAD_MAX: usize = 64 << 20;

/// Programs and scripts of one command whose content is bound to its approval, and how much of each is
/// read: the largest programs that people write themselves.
pub const BOUND_FILES_MAX: usize = 64;
pub const BOUND_FILE_BYTES_MAX: u64 = 64 << 20;
/// All of them together: what is read in about a second.
pub const BOUND_BYTES_MAX: u64 = 256 << 20;
/// Words of one command that are looked up as files, each from every folder that it goes to: some tens of
/// milliseconds. A command is not the place for a longer text.
pub const FILE_LOOKUPS_MAX: usize = 4_000;
/// What could not be bound, on one card. A person who reads so many warnings reads the script.
pub const UNBOUND_SHOWN_MAX: usize = 5;

pub const ARGUMENTS_OF_A_COMMAND_MAX: usize = 1_000;
pub const STDIN_BYTES_MAX: usize = 1 << 20;

/// Rows that a query returns; a model that needs more wants an aggregate.
pub const ROWS_MAX: usize = 200;
/// A statement that runs longer holds up everybody else who uses the database.
pub const SQL_TIME_LIMIT: Duration = Duration::from_secs(30);
/// How long one attempt waits for another writer, and how many attempts there are: together less
/// than the patience of a person who just approved.
pub const SQL_BUSY_WAIT: Duration = Duration::from_secs(2);
pub const SQL_BUSY_ATTEMPTS: u32 = 3;
/// From the look-up of a database server's name to the end of its handshake.
pub const SQL_CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How often a server that was lost in the middle of a commit is looked for, and how long in between:
/// together longer than it takes to start again.
pub const SQL_LOOK_BACK_ATTEMPTS: u32 = 20;
pub const SQL_LOOK_BACK_PAUSE: Duration = Duration::from_millis(500);
/// A transaction that a person waits to see, and that holds up others: shorter than the real one.
pub const SQL_PREVIEW_LIMIT: Duration = Duration::from_secs(10);
/// Steps of SQLite's machine between two looks at the clock and at the memory. It looks only where its
/// program turns back, so this alone bounds nothing that stands in one line.
pub const SQL_STEPS_PER_CHECK: i32 = 50;
/// What all values of one statement may take together, and how short each may get by that: the more steps a
/// statement's program has, the more values it can hold at once.
pub const SQL_VALUES_BYTES_MAX: u64 = 256 << 20;
pub const SQL_VALUE_BYTES_MIN: u64 = 16 << 10;
/// By how much the program may grow while one statement runs. Values that a statement only compares
/// or sorts are in our own memory, too.
pub const SQL_HEAP_BYTES_MAX: u64 = 256 << 20;
/// All values of one row of a result together. A model is given far less.
pub const SQL_ROW_BYTES_MAX: usize = 16 << 20;
pub const SQL_BYTES_MAX: usize = 100 << 10;

/// A question longer than this is a document; it belongs in the context.
pub const PROMPT_BYTES_MAX: usize = 10_000;
/// A question that waits longer than this has been forgotten.
pub const ASK_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;

/// How long a tool inside the program may look before people are asked without its word.
pub const LOOK_WITHIN: Duration = Duration::from_secs(10);
/// How long such a tool may take to end in good order once it was told to stop. After that it is
/// dropped, and what it did is in doubt.
pub const STOP_WITHIN: Duration = Duration::from_secs(2);
/// What servers and proxies take without complaint.
pub const HTTP_URL_BYTES_MAX: usize = 8 << 10;
/// An upload is not a tool call: people could not read what they approve.
pub const HTTP_BODY_BYTES_MAX: usize = 1 << 20;
/// How much of a response is read, counted and digested. It is held in memory, and calls run side by
/// side.
pub const HTTP_RESPONSE_BYTES_MAX: usize = 4 << 20;
/// How long a request may take by default, and at the most.
pub const HTTP_TIME_LIMIT: Duration = Duration::from_secs(30);
pub const HTTP_TIME_LIMIT_MAX: Duration = Duration::from_secs(10 * 60);
/// Looking the name up, connecting and shaking hands. Always less than the whole, so that running
/// out of time there is told apart from running out of it after something was sent.
pub const HTTP_CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Moves within one host that are followed; more are a circle.
pub const HTTP_REDIRECTS_MAX: usize = 3;
/// How often a request that is harmless to repeat is made, and the first pause between two.
pub const HTTP_ATTEMPTS: u32 = 3;
pub const HTTP_PAUSE: Duration = Duration::from_millis(200);
/// How long a database may say nothing at all before its wire is tried, and between tries.
pub const SQL_SILENCE: Duration = Duration::from_secs(10);
/// The longest text or blob that SQLite makes for us: it makes them in our own memory.
pub const SQL_VALUE_BYTES_MAX: i32 = 4 << 20;
/// The longest row that a change may write: rows with files in them are changed, too.
pub const SQL_WRITTEN_BYTES_MAX: i32 = 16 << 20;
