//! Whoever thinks, behind the one port [`ports::model::Model`]: a folder for each kind of model, and
//! one suite (`conformance`) that all of them pass.
//!
//! Models behind somebody's API share a client: it sends, waits, tries again and puts
//! errors into words. An API's own folder only says how a request is written and how its events are
//! read.

pub mod anthropic;
mod client;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod fault;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod http;
pub mod limits;
mod names;
mod opaque;
pub mod openai;
mod reading;
mod reply;
mod retry;
pub mod scripted;
pub mod settings;
mod written;

pub use settings::Settings;

#[cfg(test)]
mod fake;
