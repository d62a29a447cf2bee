//! The one way to run a child process.
//!
//! ```text
//! server ── order ──► supervisor ── exec ──► the command ──► whatever it starts
//!    └── lifeline (a pipe) ──┘ ◄── output (pipes) ──┘
//!                              ▼
//!              <spool>/<key>-<attempt>/{announced, started, pid, stdout, stderr, exit}
//! ```
//!
//! What is guaranteed on Linux, and by what:
//!
//! * **Everything dies** on stop, on the time limit, when the command itself has ended, and when the
//!   server dies, however it dies. The supervisor adopts orphans (child subreaper), so a daemon that
//!   forked twice and left its session is still its descendant; it kills until the kernel says that
//!   it has no child left. Its lifeline ends with the server process, also under `SIGKILL`. Without
//!   that word of the kernel nothing is said to be stopped: it may still run, and the outcome is unknown.
//! * If the supervisor itself is killed, the command dies with it (`setpriv --pdeathsig`, where
//!   util-linux has it), and the server, or the next one at recovery, finds the rest by the marker
//!   variable `CALL_TREE` in their environment, and by process group.
//! * **Output survives the server, and is bounded.** The supervisor copies it into files that the command
//!   never holds. They are synced before `exit` is, and `exit` before anybody is told.
//! * **A start is recorded before it happens**, with a link that only one party can make.
//! * **What is missing proves nothing.** That an attempt has not begun is said by a file, `announced`,
//!   which is there before the intent is on disk and goes before the command starts. Recovery lets a call
//!   start again only if it finds that file and makes the link itself.
//!
//! What is not: a command that runs as our own user can kill our processes, clean its environment
//! and tamper with the spool. Run such tools as another user (`run_as`) or in a sandbox. Without a
//! supervisor (`supervisor: None`, for embedding) there is no subreaper and no lifeline: processes
//! that left their group are found by marker only, which is no proof, so a command that was stopped may
//! still run; and when the server is killed its commands live on until the next [`Runner::kill_orphans`] on the
//! same spool. A process stuck in the kernel cannot be killed
//! by anybody; then the outcome is unknown and the evidence says that it may still run.

mod bound_files;
mod captured;
mod companion;
mod descendants;
mod environment;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod job;
mod lossy;
mod named_files;
mod output_copy;
mod program;
mod record;
mod recover;
mod run;
mod run_as;
mod spool;
mod spool_file;
mod supervisor;
mod trace;
mod tree;
mod watch;

pub use bound_files::BoundFile;
pub(crate) use bound_files::{BoundFiles, bound_files, changed_file};
pub use captured::CapturedOutput;
pub use environment::{BadEnvironment, Environment, is_ours};
pub use job::ProcessJob;
pub(crate) use program::path_of;
pub use program::{NoProgram, resolve_program};
pub use record::{ExitKind, ExitRecord};
pub use run::Runner;
pub use run_as::{NoSuchUser, RunAs};
pub use spool::Spool;
pub use supervisor::{Supervisor, supervise};
pub use trace::{AttemptTrace, EndedAttempt};
pub use tree::MARKER;
