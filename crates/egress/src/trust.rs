//! Servers whose certificates are not believed, and what to do about each.

use std::error::Error;

use rustls::CertificateError;

use crate::client::error_chain;

/// `None` if that is not the trouble.
pub(crate) fn certificate_remedy(error: &(dyn Error + 'static)) -> Option<&'static str> {
    remedy_for(error_chain(error).find_map(find_certificate_error)?)
}

fn find_certificate_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    // An I/O error names the causes of what it holds, and not that itself.
    if let Some(held) = cause.downcast_ref::<std::io::Error>() {
        return error_chain(held.get_ref()?).find_map(find_certificate_error);
    }
    match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => Some(why),
        _ => None,
    }
}

fn remedy_for(refused: &CertificateError) -> Option<&'static str> {
    match refused {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Some(
            "nobody whom this machine knows vouches for that certificate: add the certificate of your \
             authority to the system's, or set SSL_CERT_FILE to a file with all that you need",
        ),
        // It has no name of its own among the errors.
        CertificateError::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => Some(
            "that certificate is an authority's, or signed by itself: give the server one that an \
             authority signed, and name that authority in SSL_CERT_FILE or in the system's store",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Some(
                "that certificate belongs to another name: write the name that it is for, or give the server \
             one for this name",
            )
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Some(
            "that certificate has expired: renew it there, unless this machine's clock is wrong",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Some("that certificate is not valid yet: is this machine's clock wrong?")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("a client")]
    struct Outer(#[source] io::Error);

    #[test]
    fn each_trouble_has_its_remedy_however_deep_it_lies() {
        for (why, wanted) in [
            (CertificateError::UnknownIssuer, Some("SSL_CERT_FILE")),
            (CertificateError::NotValidForName, Some("another name")),
            (CertificateError::Expired, Some("has expired")),
            (CertificateError::NotValidYet, Some("not valid yet")),
            (CertificateError::Revoked, None),
        ] {
            let error = rustls::Error::InvalidCertificate(why);
            let inner = io::Error::new(io::ErrorKind::InvalidData, error);
            let told = crate::describe_causes(&Outer(io::Error::other(inner)));
            match wanted {
                Some(wanted) => assert!(told.contains(wanted), "{told}"),
                None => {
                    for remedy in ["SSL_CERT_FILE", "another name", "expired", "not valid yet"] {
                        assert!(!told.contains(remedy), "{told}");
                    }
                }
            }
        }
        assert_eq!(crate::describe_causes(&io::Error::other("broken pipe")), "broken pipe");
    }

    #[test]
    fn what_a_layer_repeats_of_its_cause_is_said_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("no connection: {0}")]
        struct Repeating(#[source] io::Error);
        let told = crate::describe_causes(&Repeating(io::Error::other("refused")));
        assert_eq!(told, "no connection: refused");
    }
}
