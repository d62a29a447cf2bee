//! The certificate and key that the server shows: read, checked and made into an acceptor. `holdpoint doctor` runs
//! the same checks before there is a server. Whether clients trust the certificate's authority is not checked.

use std::sync::Arc;

use domain::time::Timestamp;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, ServerConfig};
use tokio_rustls::TlsAcceptor;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// Both in PEM form.
pub struct Tls {
    pub cert_pem: Vec<u8>,
    pub key_pem: Vec<u8>,
}

/// A variant for each remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error(
        "the certificate file has no certificate in PEM form: a PEM file has a line `-----BEGIN CERTIFICATE-----`; convert a \
         DER file with `openssl x509 -inform der -in FILE -out cert.pem`"
    )]
    CertificateNotPem,
    #[error(
        "the certificate file has no certificate in it: put the server's certificate first, and those of the \
         authorities between it and the root after it"
    )]
    NoCertificate,
    #[error(
        "the certificate file holds a certificate that is damaged, or older than version 3 of X.509: get it anew \
         from the authority that issued it"
    )]
    BadCertificate,
    #[error(
        "the key file has no private key in PEM form: a PEM file has a line such as `-----BEGIN PRIVATE KEY-----`; convert a \
         DER file with `openssl pkey -inform der -in FILE -out key.pem`"
    )]
    KeyNotPem,
    #[error("the key file has no private key in it: put the key of the server's certificate there")]
    NoKey,
    #[error(
        "the private key is encrypted, and the server cannot ask for its passphrase: decrypt it with \
         `openssl pkey -in FILE -out key.pem`, and make it readable by the server's user only"
    )]
    EncryptedKey,
    #[error(
        "the private key is damaged, or of a type that is not supported: use RSA with 2048 to 8192 bits, ECDSA on \
         P-256 or P-384, or Ed25519, and a certificate for that key"
    )]
    BadKey,
    #[error(
        "the private key does not belong to the certificate: name the key that the certificate was requested \
         with, and put the server's own certificate first in its file"
    )]
    KeyMismatch,
}

/// A certificate that the server starts with, although clients will refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsWarning {
    Expired { at: Timestamp },
    NotYetValid { from: Timestamp },
}

impl std::fmt::Display for TlsWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TlsWarning::Expired { at } => write!(
                f,
                "the TLS certificate expired at {at}, and clients refuse it: get a new one, and restart the server"
            ),
            TlsWarning::NotYetValid { from } => write!(
                f,
                "the TLS certificate is valid from {from} only, and clients refuse it until then: check this \
                 machine's clock, or use a certificate that is valid now"
            ),
        }
    }
}

impl Tls {
    /// The checks of `bind`, without a listener.
    pub fn check(&self, now: Timestamp) -> Result<Option<TlsWarning>, TlsError> {
        let chain = self.chain()?;
        self.config(chain.clone())?;
        Ok(chain.first().and_then(|leaf| validity_warning(leaf, now)))
    }

    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        Ok(TlsAcceptor::from(Arc::new(self.config(self.chain()?)?)))
    }

    fn config(&self, chain: Vec<CertificateDer<'static>>) -> Result<ServerConfig, TlsError> {
        let key = self.key()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| match error {
                Error::InconsistentKeys(_) => TlsError::KeyMismatch,
                Error::InvalidCertificate(_) => TlsError::BadCertificate,
                _ => TlsError::BadKey,
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.cert_pem).collect();
        match chain {
            Ok(chain) if !chain.is_empty() => Ok(chain),
            _ if !contains(&self.cert_pem, PEM_BLOCK) => Err(TlsError::CertificateNotPem),
            Ok(_) => Err(TlsError::NoCertificate),
            Err(_) => Err(TlsError::BadCertificate),
        }
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        if ENCRYPTED.iter().any(|mark| contains(&self.key_pem, mark)) {
            return Err(TlsError::EncryptedKey);
        }
        match PrivateKeyDer::from_pem_slice(&self.key_pem) {
            Ok(key) => Ok(key),
            Err(_) if !contains(&self.key_pem, PEM_BLOCK) => Err(TlsError::KeyNotPem),
            Err(pem::Error::NoItemsFound) => Err(TlsError::NoKey),
            Err(_) => Err(TlsError::BadKey),
        }
    }
}

const PEM_BLOCK: &[u8] = b"-----BEGIN ";
/// The newer form says it in its first line, the older one below that.
const ENCRYPTED: [&[u8]; 2] = [b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"Proc-Type: 4,ENCRYPTED"];

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A certificate whose dates this parser cannot read is not warned about: the server uses it all the same.
fn validity_warning(leaf: &CertificateDer<'_>, now: Timestamp) -> Option<TlsWarning> {
    let validity = Certificate::from_der(leaf).ok()?.tbs_certificate.validity;
    let time = |time: x509_cert::time::Time| {
        i64::try_from(time.to_unix_duration().as_millis()).ok().map(Timestamp::from_ms)
    };
    let (from, until) = (time(validity.not_before)?, time(validity.not_after)?);
    if until < now {
        return Some(TlsWarning::Expired { at: until });
    }
    (now < from).then_some(TlsWarning::NotYetValid { from })
}
