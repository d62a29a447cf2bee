//! Tools that are written in Rust, for programs that embed the engine: arguments are a type of
//! theirs, the schema is made from it and its doc comments, and what runs is a closure or a trait.
//!
//! The arguments that a tool is given are the approved bytes, parsed. Nothing is filled in, changed
//! or read from elsewhere in between.

mod closure;
mod context;
mod error;
mod form;
mod host;
mod preview;
mod schema;
#[cfg(test)]
mod tests;

pub use closure::TypedFn;
pub use context::CallContext;
pub use error::ToolError;
pub use form::FormTool;
pub use host::{TypedHost, TypedTool};
pub use preview::Preview;
pub use schema::schema_of;

use domain::outcome::Output;
use serde::Serialize;

/// A result that the model gets as JSON.
///
/// ```
/// let output = holdpoint_tools::typed::json(&[1, 2]).unwrap();
/// assert_eq!(output.text, "[1,2]");
/// ```
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Output, ToolError> {
    Ok(Output::text(serde_json::to_string(value)?))
}
