//! What can go wrong, by what can be done about it.

/// A variant for each remedy. None has a word in it that the other side chose, except a checked error code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OauthError {
    /// Try again later: nothing is known to be wrong with the set-up.
    #[error("{0}")]
    Unreachable(String),
    /// The address must not be called.
    #[error("{0}")]
    ForbiddenAddress(String),
    /// What the other side says breaks the protocol, or does not fit what was asked.
    #[error("{0}")]
    Unsound(String),
    /// The server says no; the code is one of the protocol's words.
    #[error("the authorization server refused it: {code}")]
    Refused { code: String },
}

impl OauthError {
    /// Whether what was presented (a code, a refresh token, a client) will never be accepted again.
    pub fn is_final(&self) -> bool {
        let codes = ["invalid_grant", "invalid_client", "unauthorized_client"];
        matches!(self, OauthError::Refused { code } if codes.contains(&code.as_str()))
    }

    /// A refusal by an error code of the other side, if it looks like one.
    pub(crate) fn refused(code: &str) -> OauthError {
        let is_code = !code.is_empty()
            && code.len() <= 64
            && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let code = if is_code { code } else { "an unknown error" };
        OauthError::Refused { code: code.to_owned() }
    }
}
