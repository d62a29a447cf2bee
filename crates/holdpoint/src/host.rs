//! For tools that want full control: the trait that every tool host implements, and what it speaks of.
//!
//! Most tools need none of this: [`crate::Tool::from_fn`] and [`crate::TypedTool`] do what a host must do
//! (parse, cut long output, turn panics into doubts). A host of one's own passes the conformance suite of
//! the crate `tools`.

pub use domain::call::{Call, ExecutionContext};
pub use domain::json::Arguments;
pub use domain::outcome::Outcome;
pub use domain::tool::{Confirm, Place, Tool};
pub use ports::durable::ClearedCall;
pub use ports::start_gate::{NotBegun, Start, StartGate, Starting};
pub use ports::tool_host::{AskAnyway, PrepareError, Prepared, Recovery, ToolHost};
pub use tokio_util::sync::CancellationToken;
