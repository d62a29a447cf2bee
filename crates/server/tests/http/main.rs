//! The server over real connections, with a store in memory, a model that does what it is told, and
//! a tool that counts how often it ran.

mod access;
mod circle;
mod crawl;
mod events;
mod idempotency;
mod limits;
mod lists;
mod login;
mod problems;
mod tls;
mod world;
