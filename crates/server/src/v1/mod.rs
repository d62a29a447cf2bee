//! The native routes, one file per noun. Each handler parses, calls the engine and renders.

pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod audit;
pub(crate) mod audit_browse;
pub(crate) mod channels;
pub(crate) mod configured;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod freeze;
pub(crate) mod grants;
pub(crate) mod holds;
pub(crate) mod inbox;
pub(crate) mod logins;
pub(crate) mod mcp;
pub(crate) mod me;
pub(crate) mod messages;
pub(crate) mod outcome;
pub(crate) mod policy;
pub(crate) mod preview;
pub(crate) mod reveal;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod snooze;
pub(crate) mod tokens;
