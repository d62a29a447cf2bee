//! Holdpoint stops an AI agent before a dangerous tool call until an entitled person has approved
//! exactly that call. This is the library: for Rust programs that want it inside. The smallest program is
//! in [`Holdpoint`]; `docs/embedding.md` goes through all of it, and `examples/` has four whole programs.
//!
//! The words mean the same here as everywhere in Holdpoint: a *session* is a conversation with one
//! *agent*, a *run* a stretch of its work, a *call* what it wants to do, a *hold* the question that stops
//! the call, an *answer* what a person says to it.
//!
//! Not here: the command line and the configuration file, which are the program's own business. They
//! are public only for that program.

mod checks;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod demo;
mod embed;
pub mod host;
mod log_filter;
pub mod model;
pub mod prelude;
#[doc(hidden)]
pub mod serve;
#[doc(hidden)]
pub mod threads;
#[doc(hidden)]
pub mod wiring;

pub use embed::testing;
pub use embed::{
    Acting, Agent, Answer, Ask, BuildError, Builder, ClientTool, Events, Holdpoint, Is, Mounted,
    Person, Program, Rest, Rule, Serving, Session, Tool, Who, Whom, chosen, filled, is_rest,
};

// --- words of the domain that programs meet

/// The text that people are shown about a hold, made from what is stored. Show this, and not a text of
/// your own: its digest is kept with every answer.
pub use domain::view::render as card;

pub use domain::answer::Settlement;
pub use domain::budget::{Budgets, Prices};
pub use domain::context::WhilePending;
pub use domain::digest::Digest;
pub use domain::event::Event;
pub use domain::hold::{Choice, Decision, Hold, HoldOutcome, HoldState, Question, Risk};
pub use domain::id::{CallId, GrantId, HoldId, MessageId, RunId, SessionId};
pub use domain::message::{Message, Part, Role};
pub use domain::outcome::{Output, ResultKind, ToolResult};
pub use domain::person::PersonId;
pub use domain::policy::{Facts, Opinion, SqlCondition, Then};
pub use domain::refusal::Refusal;
pub use domain::session::{RunStatus, Session as SessionState};
pub use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
pub use domain::time::Timestamp;
pub use domain::tool::Effects;
pub use engine::{Error, Followed, Happening, Spoken};
pub use models::scripted::ScriptedModel;
pub use server::{BindError, Vouched};
pub use tools::typed::{CallContext, Preview, ToolError, TypedFn, TypedTool, json, schema_of};

// --- crates whose types are part of this face, in the version that it speaks
pub use async_trait::async_trait;
pub use axum;
pub use schemars;
