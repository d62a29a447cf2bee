//! The way out: calling an address that somebody else wrote, without being sent into our own network.
//!
//! Callbacks and `http` tools share it. A name is looked up once, every address that it has is judged,
//! and the connection goes to one of exactly those. What is said there, and what an answer means, is
//! the business of whoever calls.

mod address;
mod client;
mod guard;
mod limits;
mod network;
mod trust;

pub use client::{causes, client, forbidden};
pub use guard::{Forbidden, Guard, Names, SystemNames};
pub use network::Network;
