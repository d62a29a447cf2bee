//! An authority of our own, as companies have them, and the certificates of servers on loopback. They are
//! made anew for each test, by the `openssl` that comes with Debian's PostgreSQL.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::binary::Binary;

/// What a server shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// For `localhost`, by our authority.
    Good,
    /// By our authority, for another name.
    OtherName,
    /// It was good five years ago.
    Expired,
    /// For `localhost`, by nobody but itself.
    SelfSigned,
}

pub struct PrivateCa {
    folder: TempDir,
}

const SETTINGS: &str = "\
[ca]
default_ca = own
[own]
new_certs_dir = .
database = index.txt
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
certificate = ca.pem
private_key = ca.key
[any]
commonName = supplied
[leaf]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost
[other]
basicConstraints = CA:FALSE
subjectAltName = DNS:mail.example.org
";

impl PrivateCa {
    /// # Panics
    /// If there is no `openssl`.
    pub fn new() -> PrivateCa {
        let ca = PrivateCa { folder: tempfile::tempdir().expect("a temporary folder") };
        std::fs::write(ca.path("ca.cnf"), SETTINGS).expect("a file");
        std::fs::write(ca.path("index.txt"), "").expect("a file");
        ca.key("ca.key");
        ca.openssl(&[
            "req",
            "-x509",
            "-new",
            "-key",
            "ca.key",
            "-subj",
            "/CN=Our Own Authority",
            "-days",
            "30",
            "-out",
            "ca.pem",
        ]);
        ca
    }

    /// Its own certificate, for `SSL_CERT_FILE`.
    pub fn file(&self) -> PathBuf {
        self.path("ca.pem")
    }

    pub fn acceptor(&self, shows: Shows) -> TlsAcceptor {
        let name = format!("{shows:?}");
        let (key, certificate) = (format!("{name}.key"), format!("{name}.pem"));
        self.key(&key);
        let request = |more: &[&str]| {
            let asked = ["req", "-new", "-key", &key, "-subj", "/CN=server"];
            self.openssl(&[&asked, more].concat());
        };
        if shows == Shows::SelfSigned {
            let names = "subjectAltName=DNS:localhost";
            request(&["-x509", "-days", "30", "-addext", names, "-out", &certificate]);
        } else {
            request(&["-out", "request"]);
            let until = if shows == Shows::Expired { "20210101000000Z" } else { "21200101000000Z" };
            let names = if shows == Shows::OtherName { "other" } else { "leaf" };
            let from = "20200101000000Z";
            self.openssl(&[
                "ca",
                "-batch",
                "-notext",
                "-config",
                "ca.cnf",
                "-extensions",
                names,
                "-in",
                "request",
                "-startdate",
                from,
                "-enddate",
                until,
                "-out",
                &certificate,
            ]);
        }
        let chain = CertificateDer::pem_file_iter(self.path(&certificate)).expect("a certificate");
        let chain = chain.collect::<Result<Vec<_>, _>>().expect("certificates");
        let key = PrivateKeyDer::from_pem_file(self.path(&key)).expect("a key");
        // Whoever came first installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
        TlsAcceptor::from(Arc::new(config.expect("they fit together")))
    }

    /// The program as it is where `SSL_CERT_FILE` names this authority, and no other.
    pub fn believed_by(&self, binary: &Binary) -> Binary {
        let (file, program) = (self.file(), binary.path().display());
        let script =
            format!("#!/bin/sh\nSSL_CERT_FILE='{}' exec '{program}' \"$@\"\n", file.display());
        let at = self.path("believing");
        std::fs::write(&at, script).expect("a script");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&at, mode).expect("our own file");
        Binary::at(at)
    }

    fn key(&self, file: &str) {
        self.openssl(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", file]);
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn openssl(&self, arguments: &[&str]) {
        let mut command = Command::new("openssl");
        let ran = command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        let ran = ran.output().expect("`openssl` is installed");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "openssl {arguments:?}: {said}");
    }
}

impl Default for PrivateCa {
    fn default() -> PrivateCa {
        PrivateCa::new()
    }
}

/// TLS before something that speaks without it. Dropping it ends it.
pub struct TlsFront {
    port: u16,
    _serving: JoinSet<()>,
}

impl TlsFront {
    pub async fn start(acceptor: TlsAcceptor, behind: SocketAddr) -> TlsFront {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let port = listener.local_addr().expect("it is bound").port();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    // A client that does not believe us hangs up, and says itself why.
                    let Ok(mut outside) = acceptor.accept(stream).await else { return };
                    let Ok(mut inside) = TcpStream::connect(behind).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
                });
            }
        });
        TlsFront { port, _serving: serving }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// `https://localhost:1234`
    pub fn origin(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}", self.port)
    }
}
