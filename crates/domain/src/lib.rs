//! The words and rules of Holdpoint, and nothing else.
//!
//! No I/O, no `async`, no clock, no randomness: whatever a rule needs is passed in, so the same
//! code runs in production, in simulations, under properties and under fuzzing. What goes to disk
//! (`stores::record`) and what goes over the wire (`server`) are languages of their own.

#![warn(missing_docs)]

pub mod answer;
mod authenticated;
pub mod budget;
pub mod call;
pub mod caption;
pub mod context;
pub mod credential;
pub mod decided;
pub mod digest;
pub mod event;
pub mod external_hold;
pub mod file;
pub mod global_state;
pub mod grant;
pub mod hold;
pub mod id;
pub mod id_map;
pub mod json;
pub mod limits;
pub mod message;
pub mod outcome;
pub mod person;
pub mod phrase;
pub mod policy;
pub mod questionnaire;
pub mod refusal;
pub mod schema;
pub mod scrub;
pub mod secret;
pub mod session;
pub mod shared_map;
pub mod shared_vec;
pub mod shell;
pub mod sql_facts;
pub mod time;
pub mod tool;
pub mod view;
pub mod visible;
pub mod warning;
