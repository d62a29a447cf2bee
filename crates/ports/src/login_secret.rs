//! The secrets by which people log in, as a store keeps them: by their digests, until they expire.

use domain::digest::Digest;
use domain::person::{LinkOrigin, PersonId};
use domain::time::Timestamp;

/// Things that expire and are looked up by the digest of a secret: login links, cookies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSecret {
    /// What the secret opens.
    pub kind: SecretKind,
    /// Of the secret, which itself is not kept.
    pub digest: Digest,
    /// Whom the secret lets in.
    pub person: PersonId,
    /// Who made the link, also of the login that came by it; `None` for those from before that was kept.
    pub origin: Option<LinkOrigin>,
    /// When the login began, however often it was prolonged since.
    pub made_at: Timestamp,
    /// From this moment on it lets nobody in.
    pub expires_at: Timestamp,
}

/// The two kinds of secrets by which people log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A one-time login link.
    Login,
    /// A browser's session.
    Cookie,
}
