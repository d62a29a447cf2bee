//! Looking and following: what is on disk now, what comes next, and what other nodes write. Nothing of a stream is
//! changed here.

pub(crate) mod deltas;
pub(crate) mod inbox;
mod others;
pub(crate) mod read;
pub(crate) mod watch;
