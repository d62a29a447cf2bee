//! How a stream changes: a task takes the lock of its lane, decides, and hands the lock over with the commit; what
//! follows from the commit happens in its order. The same for all three kinds of streams (`stream`).

pub(crate) mod commit;
#[cfg(feature = "failpoints")]
pub(crate) mod failpoint_names;
pub(crate) mod lanes;
pub(crate) mod story;
pub(crate) mod submit;
mod write_before;
