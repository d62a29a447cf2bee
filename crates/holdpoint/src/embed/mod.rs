//! Holdpoint inside another program: what it is built from, and the handle to it.
//!
//! Nothing is decided here. The builder checks and hands over to `assembly`, as the configuration file
//! does; the handle calls the engine, as the HTTP door does.

#![warn(missing_docs)]

mod acting;
mod agent;
mod answer;
mod ask;
mod builder;
#[cfg(any(feature = "process", feature = "sql", feature = "http"))]
mod built_in;
#[cfg(feature = "chats")]
mod channel;
#[cfg(feature = "server")]
mod doors;
mod error;
mod events;
mod handle;
mod limits;
mod person;
mod policy;
#[cfg(feature = "server")]
mod serving;
mod session;
pub mod testing;
mod tool;
#[cfg(feature = "vendor")]
mod vendor;

pub use acting::{Acting, Program, Who};
pub use agent::{Agent, AgentModel};
pub use answer::Answer;
pub use ask::Ask;
pub use builder::Builder;
#[cfg(feature = "chats")]
pub use channel::ChannelSetup;
pub use error::BuildError;
pub use events::Events;
pub use handle::{Holdpoint, chosen, filled, is_rest};
pub use person::Person;
pub use policy::{Is, Rule, Whom};
#[cfg(feature = "server")]
pub use serving::{Mounted, Serving};
pub use session::{Rest, Session};
pub use tool::{ClientTool, Tool};
#[cfg(feature = "vendor")]
pub use vendor::{HeaderSource, ProxySource, VendorModel};
