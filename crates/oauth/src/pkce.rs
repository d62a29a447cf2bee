//! PKCE (RFC 7636) with S256, and states: what only the one who began can know.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::OauthError;
use crate::limits::RANDOM_BYTES;
use crate::secret::OauthSecret;

/// The text whose digest goes with the request, and which itself goes with the code.
#[derive(Clone, Debug)]
pub struct PkceVerifier(OauthSecret);

impl PkceVerifier {
    pub fn generate() -> Result<PkceVerifier, OauthError> {
        random_state().map(PkceVerifier)
    }

    pub fn challenge(&self) -> String {
        let digest = digest::digest(&digest::SHA256, self.0.expose().as_bytes());
        URL_SAFE_NO_PAD.encode(digest)
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

/// Nobody can guess it; it names one request.
pub fn random_state() -> Result<OauthSecret, OauthError> {
    let mut bytes = [0; RANDOM_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| OauthError::Unreachable("the system gives no random numbers".into()))?;
    Ok(OauthSecret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_rfc() {
        // RFC 7636, appendix B.
        let verifier =
            PkceVerifier(OauthSecret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn no_two_are_the_same_and_each_has_the_length_that_the_rfc_wants() {
        let (one, other) = (PkceVerifier::generate().unwrap(), PkceVerifier::generate().unwrap());
        assert_ne!(one.expose(), other.expose());
        assert!((43..=128).contains(&one.expose().len()));
        assert_eq!(format!("{one:?}"), "PkceVerifier(‹secret›)");
    }
}
