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
pub use judge::{HoldReply, Judgement, Mismatch, UnusedApproval, judge};
pub use proposal::{HookProposal, stated_arguments};
pub use question::HookQuestion;
pub use reply::{AllowedCall, HookReply};

/// What the agent itself waits for a hook, in seconds, if the hook waits no longer for people than [`PEOPLE_WAIT_S`].
const AGENT_TIMEOUT_S: u64 = 600;
/// What a hook waits for people, in seconds, if nobody says otherwise.
pub const PEOPLE_WAIT_S: u64 = 540;
/// By then a hook has taken its question back.
const WITHDRAWN_WITHIN_S: u64 = 30;
/// What a hook may wait for people over HTTP, in one request. For longer, it is deferred.
pub const HTTP_WAIT_S_MAX: u64 = 3_600;

/// How long a question lives, in seconds, that a hook waits so long for. The hook takes it back when its own wait is over; a
/// hook that was killed cannot. So a question that expired while its hook waited was ended by the policy.
pub fn question_expiry_s(people_wait_s: u64) -> u64 {
    people_wait_s.saturating_add(WITHDRAWN_WITHIN_S)
}

/// What the agent itself waits, in seconds, for a hook that waits so long for people: enough for our last word, as
/// an agent whose own time is up lets the call run.
pub fn agent_timeout_s(people_wait_s: u64) -> u64 {
    AGENT_TIMEOUT_S.max(people_wait_s.saturating_add(AGENT_TIMEOUT_S - PEOPLE_WAIT_S))
}
