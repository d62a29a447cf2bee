//! The gate before MCP servers, wherever its client is: on standard input and output, or over HTTP.
//!
//! ```text
//! client ── ClientLink ──► ProxySession ── Upstream (a program, or a service; one, or several under `server__tool`)
//!                              │ tools/call only
//!                              ▼
//!          DefinitionGate ──► HoldGate (HoldService: asked, waited for, used once) ──► the call, as approved
//! ```
//!
//! A call waits as its client can: as a task, in a form that the client shows, open with progress, or by coming back. What
//! is no call of a tool is passed on as it was written. In doubt a call is denied.
//!
//! What is deliberately not here: where Holdpoint is. [`gate::HoldService`] is implemented over HTTP for the command, and over
//! the engine for the server's own door.

mod call_wait;
mod calls;
pub mod config;
pub mod definitions;
pub mod era;
mod forms;
pub mod gate;
pub mod gate_hold;
mod handshake;
pub mod http;
pub mod limits;
mod listing;
mod merge;
mod merge_lists;
mod outcome;
pub mod peer;
pub mod question_waiters;
mod random;
pub mod reply;
mod resume;
mod retired_ids;
mod service_pump;
pub mod session;
mod states;
mod task_calls;
pub mod tasks;
mod translate;
pub mod upstream;
pub mod waiting;
