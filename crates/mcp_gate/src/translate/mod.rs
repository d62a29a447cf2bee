//! Between a client of one era and an upstream of the other: each is spoken to in its own.
//!
//! What an upstream speaks is found out when its first client comes (`found.rs`). Requests and results change their shape and
//! nothing else (`shapes.rs`); what an upstream wants to know in the middle of a call becomes a result with questions for a client
//! without a handshake (`held_calls.rs`), and requests for one with it (`rounds.rs`); what changes in lists is told as each era
//! tells it (`listen.rs`). The gate is not touched: a call is put to the policy before any of this.

mod forward;
pub(crate) mod found;
pub(crate) mod held_calls;
pub(crate) mod listen;
pub(crate) mod rounds;
pub(crate) mod sending;
pub(crate) mod shapes;
