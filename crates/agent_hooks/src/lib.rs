//! Hooks of coding agents that we did not write: what an agent hands over before a call, what people are asked about
//! it, whether an approval is for exactly that call, and what the agent understands of a reply.
//!
//! Pure. The caller (the command `holdpoint hook`, or the server for HTTP hooks) opens the hold, waits and reports
//! the start; the agent's files are seen through [`AgentFiles`]. So both judge alike.

mod diff;
mod edit;
mod files;
mod host;
mod incoming;
mod judge;
mod proposal;
mod question;
mod reply;

pub use diff::unified_diff;
pub use files::{AgentFiles, FilesIn, UnseenFiles, normal_path};
pub use host::{AgentHost, UnknownAgentHost};
pub use incoming::UnreadableCall;
pub use judge::{HoldReply, HoldReplyState, Judgement, Mismatch, UnusedApproval, judge};
pub use proposal::HookProposal;
pub use question::HookQuestion;
pub use reply::{AllowedCall, HookReply};

/// What the agent itself waits for a hook, in seconds: a little more than the hook waits for people.
pub const AGENT_TIMEOUT_S: u64 = 600;
/// What a hook waits for people, in seconds, if nobody says otherwise.
pub const PEOPLE_WAIT_S: u64 = 540;
