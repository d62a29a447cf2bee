//! What callers do to sessions, to holds and to the whole: each becomes a command that is submitted to its stream.
//! Who may do it is judged here and in the domain, never in a door. Tokens and logins are in `accounts`.

pub(crate) mod answer;
mod branch;
mod comment;
pub(crate) mod external_hold;
mod global_state;
mod hold_command;
pub(crate) mod session;
