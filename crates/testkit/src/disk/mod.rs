//! Faults below SQLite, under the real program: a disk that forgets what was not synced, and calls
//! to the system that fail, wait or kill.
//!
//! The crash test kills processes, which the kernel's memory of files survives. Here it does not.

mod cuts;
mod power;
mod report;
mod shim;
mod strace;
mod trace;
mod undo;

pub use cuts::{Cuts, torture};
pub use report::Report;
pub use shim::Lossy;
pub use strace::{Fault, SYNCS, Strace};
pub use trace::{Seen, Trace};
pub use undo::{Loss, Lost};
