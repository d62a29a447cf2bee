//! The sockets of the house: what the engine needs from the world, as traits with their errors.
//! Each has one conformance suite that every adapter passes.

pub mod asker;
pub mod backoff;
pub mod channel;
pub mod clock;
pub mod courier;
pub mod durable;
pub mod failpoint;
pub mod hold_query;
pub mod mcp_connections;
pub mod model;
pub mod outbox;
pub mod secret_string;
pub mod sse;
pub mod start_gate;
pub mod store;
pub mod tool_host;
pub mod toolbox;
pub mod unpoisoned;
