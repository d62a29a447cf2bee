//! Every bound of the library face, with its reason.

/// Holds that one call lists. A program with more open than this needs the filters of the HTTP API.
pub(super) const HOLDS_LISTED: usize = 1_000;
