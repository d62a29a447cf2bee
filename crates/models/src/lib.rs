//! Models, behind the one port [`ports::model::Model`]: a folder for each kind of model, and
//! one suite (`conformance`) that all of them pass.
//!
//! Models behind somebody's API share a client: it sends, waits, tries again and puts
//! errors into words. An API's own folder only says how a request is written and how its events are
//! read.

#![cfg_attr(
    not(all(feature = "anthropic", feature = "openai")),
    allow(dead_code, reason = "what the APIs share is not all used by each")
)]

#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "vendor")]
mod client;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(feature = "vendor")]
mod fault;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
#[cfg(feature = "vendor")]
mod http;
#[cfg(feature = "vendor")]
pub mod limits;
#[cfg(feature = "vendor")]
mod names;
#[cfg(feature = "vendor")]
mod opaque;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "vendor")]
mod reading;
#[cfg(feature = "vendor")]
mod reply;
#[cfg(feature = "vendor")]
mod retry;
pub mod scripted;
#[cfg(feature = "vendor")]
pub mod settings;
#[cfg(feature = "vendor")]
pub mod vendor;
#[cfg(feature = "vendor")]
mod written;

#[cfg(feature = "vendor")]
pub use settings::ModelSettings;

#[cfg(test)]
mod fake;
