//! Text that must not be seen by accident.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

/// A token, a code, or a client's secret. Its `Debug` says nothing, and it has no `Display`. It can be serialized, because
/// it has to be kept somewhere.
///
/// It stands beside `ports::SecretString`, which cannot be serialized, so that no secret of the configuration ends in a
/// record or a reply by accident; tokens must be. And this crate is the protocol alone: it depends on `egress`, not on `ports`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OauthSecret(String);

impl OauthSecret {
    pub fn new(text: impl Into<String>) -> OauthSecret {
        OauthSecret(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for OauthSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("‹secret›")
    }
}

/// In a time that does not depend on where they differ.
impl PartialEq for OauthSecret {
    fn eq(&self, other: &OauthSecret) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for OauthSecret {}
