//! Every bound on what an authorization server may do to us, with its reason.

use std::time::Duration;

/// One answer. Metadata documents have a few kilobytes, token answers less.
pub const BODY_BYTES_MAX: usize = 256 << 10;
/// From connecting to the last byte of an answer. A person waits for it.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(15);
/// An address, such as an endpoint: browsers and proxies cut longer ones.
pub const URL_BYTES_MAX: usize = 2_048;
/// A token or a client's secret goes into a header, and servers refuse longer ones.
pub const TOKEN_BYTES_MAX: usize = 16 << 10;
/// A header with challenges. More of it is not read.
pub const CHALLENGE_BYTES_MAX: usize = 8 << 10;
/// Scopes that are asked for. More of them nobody reads on a consent page.
pub const SCOPES_MAX: usize = 64;
/// Authorization servers that a resource may name; the first is taken.
pub const ISSUERS_MAX: usize = 16;
/// Random bytes of a state and of a PKCE verifier.
pub const RANDOM_BYTES: usize = 32;
