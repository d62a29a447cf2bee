//! Builds and checks the requests for a model. Pure: it sends nothing.
//!
//! A request is rebuilt from the session's transcript every time ([`transcript::build_request`]), and
//! nothing is sent that breaks the pairing of calls and results ([`validate::validate`]). Only what
//! a tool is offered as stays the same, and is made once ([`offer::tool_offer`]).

pub mod attached;
pub mod offer;
pub mod transcript;
pub mod validate;

pub use attached::{LoadedFiles, files_to_load};
pub use offer::tool_offer;
pub use transcript::{build_request, build_request_with, canonical_text, request_fingerprint};
pub use validate::{PairingError, validate};

/// Looks no further than the first character that says something.
fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Whether no name is in the list twice. There are few, and sorting them costs less than a hash of each.
fn are_distinct(mut names: Vec<&str>) -> bool {
    names.sort_unstable();
    names.windows(2).all(|pair| pair[0] != pair[1])
}
