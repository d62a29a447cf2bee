//! Places where word goes out to the world. Each foreign thing has its folder; none of them decides
//! anything.

mod limits;
pub mod reply;
pub mod webhook;
