//! Holdpoint inside another program: what it is built from, and the handle to it.
//!
//! Nothing is decided here. The builder checks and hands over to `wiring`, as the configuration file
//! does; the handle calls the engine, as the HTTP door does.

#![warn(missing_docs)]

mod acting;
mod agent;
mod answer;
mod ask;
mod builder;
mod error;
mod events;
mod handle;
mod limits;
mod person;
mod policy;
mod serving;
mod session;
pub mod testing;
mod tool;

pub use acting::{Acting, Program, Who};
pub use agent::Agent;
pub use answer::Answer;
pub use ask::Ask;
pub use builder::Builder;
pub use error::BuildError;
pub use events::Events;
pub use handle::{Holdpoint, chosen, filled, is_rest};
pub use person::Person;
pub use policy::{Is, Rule, Whom};
pub use serving::{Mounted, Serving};
pub use session::{Rest, Session};
pub use tool::{ClientTool, Tool};
