//! Tool hosts, which carry calls out: one folder or file for each kind of tool, behind one trait.
//!
//! A host gets a [`domain::call::ClearedCall`], which only the domain builds, so nothing here can
//! run a call that nobody had the right to allow. What a host may do without one is to *prepare*: to
//! look, and to say what would happen. Every host passes `conformance`.

#![cfg_attr(
    not(all(feature = "process", feature = "sql", feature = "http", feature = "mcp")),
    allow(dead_code, reason = "what hosts share is not all used by each")
)]

mod bad_tool;
#[cfg(any(feature = "process", feature = "sql", feature = "demo"))]
mod blocking;
#[cfg(test)]
mod cleared;
pub mod client;
pub mod closure;
#[cfg(feature = "process")]
pub mod command;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "gated-http")]
mod gated_http;
#[cfg(feature = "process")]
mod gated_io;
#[cfg(feature = "http")]
pub mod http;
pub mod human;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "process")]
pub mod process;
pub mod questionnaire;
#[cfg(feature = "process")]
pub mod shell_cmd;
#[cfg(feature = "sql")]
pub mod sql;
#[cfg(any(feature = "process", feature = "sql"))]
mod stopwatch;
mod title;
pub mod typed;

pub use bad_tool::BadTool;
