//! Looking and following: what is on disk now, what comes next, and what other nodes write. Only `others` changes
//! anything: it acts on what it hears, as after a start.

pub(crate) mod deltas;
pub(crate) mod inbox;
mod others;
pub(crate) mod read;
pub(crate) mod watch;
