//! Tool hosts, which carry calls out: one folder or file for each kind of tool, behind one trait.
//!
//! A host gets a [`domain::call::ClearedCall`], which only the domain builds, so nothing here can
//! run a call that nobody had the right to allow. What a host may do without one is to *prepare*: to
//! look, and to say what would happen. Every host passes `conformance`.

mod bad_tool;
#[cfg(test)]
mod cleared;
pub mod client;
pub mod closure;
pub mod command;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod demo;
mod gated_io;
pub mod http;
pub mod human;
pub mod inquire;
pub mod limits;
pub mod mcp;
pub mod process;
pub mod shell_cmd;
pub mod sql;
mod title;
pub mod typed;

pub use bad_tool::BadTool;
