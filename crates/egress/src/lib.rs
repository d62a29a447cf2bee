//! Outgoing HTTP to addresses that others wrote, without being led into our own network (SSRF).
//!
//! Callbacks and `http` tools share it. A name is looked up once, every address that it has is judged,
//! and the connection goes to one of exactly those. The request, and the meaning of its answer, are
//! the caller's business.

mod address;
mod client;
mod guard;
mod limits;
mod network;
mod trust;

pub use client::{describe_causes, find_forbidden, guarded_client};
pub use guard::{AddressGuard, ForbiddenAddress, HostResolver, SystemResolver};
pub use network::Network;
