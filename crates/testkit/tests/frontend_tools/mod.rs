//! The frontend tools door of the real program, as a client sees it that was written from the
//! description of the wire alone.

mod formats;
mod pauses;
mod stage;
