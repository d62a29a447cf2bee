//! Holdpoint stops an AI agent before a dangerous tool call until an entitled person has approved
//! exactly that call. This is the library: for Rust programs that want it inside. The smallest program is
//! in [`Holdpoint`]; `docs/embedding.md` goes through all of it, and `examples/` has five whole programs.
//!
//! The words mean the same here as everywhere in Holdpoint: a *session* is a conversation with one
//! *agent*, a *run* a stretch of its work, a *call* what it wants to do, a *hold* the question that stops
//! the call, an *answer* what a person says to it.
//!
//! Features choose what is compiled: `sqlite` (what remembers), `anthropic` and `openai` (models), `process`,
//! `sql`, `http` and `mcp` (tools), `server` (the HTTP API, the page, doors), `channel-feishu` and its like
//! (chats). `program`, which is the default, is the whole program with its command line and configuration
//! file; those are public only for it.

#![warn(missing_docs)]

mod assembly;
mod checks;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod config;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod demo;
mod embed;
mod faults;
#[cfg(feature = "server")]
mod front;
pub mod host;
#[cfg(feature = "program")]
mod log_filter;
#[cfg(feature = "program")]
mod mcp_door;
pub mod model;
mod near_names;
#[cfg(feature = "chats")]
mod platform;
pub mod prelude;
#[cfg(feature = "vendor")]
mod secret_source;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod serve;
pub mod settings;
pub mod store;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod threads;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod wiring;

#[cfg(feature = "chats")]
pub use embed::ChannelSetup;
#[cfg(feature = "vendor")]
pub use embed::VendorModel;
pub use embed::testing;
pub use embed::{
    Acting, Agent, AgentModel, Answer, Ask, BuildError, Builder, ClientTool, Events, Holdpoint, Is,
    Person, Program, Rest, Rule, Session, Tool, Who, Whom, chosen, filled, is_rest,
};
#[cfg(feature = "server")]
pub use embed::{Mounted, Serving};

// --- words of the domain that programs meet

/// The text that people are shown about a hold, made from what is stored. Show this, and not a text of
/// your own: its digest is kept with every answer.
pub use domain::view::render as card;

pub use domain::answer::Settlement;
pub use domain::budget::{Budgets, Prices};
pub use domain::context::WhilePending;
pub use domain::digest::Digest;
pub use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
pub use domain::hold::{
    Choice, Decision, Hold, HoldOrigin, HoldOutcome, HoldState, Question, Risk,
};
pub use domain::id::{CallId, GrantId, HoldId, MessageId, RunId, SessionId};
pub use domain::message::{Message, Part, Role};
pub use domain::outcome::{Output, ResultKind, ToolResult};
pub use domain::person::PersonId;
pub use domain::policy::{Facts, Opinion, SqlCondition, Then};
pub use domain::refusal::Refusal;
pub use domain::session::{RunState, RunStatus, Session as SessionState};
pub use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
pub use domain::time::Timestamp;
pub use domain::tool::Effects;
pub use engine::{Error, Followed, Happening, Spoken};
pub use models::scripted::ScriptedModel;
#[cfg(feature = "server")]
pub use server::{BindError, Vouched};
pub use tools::typed::{CallContext, Preview, ToolError, TypedFn, TypedTool, json, schema_of};

// --- crates whose types are part of this face, in the version that it speaks
pub use async_trait::async_trait;
#[cfg(feature = "server")]
pub use axum;
pub use schemars;
