//! TLS, with a certificate that is made here.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use holdpoint_server::Tls;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::world::{Plan, planned};

/// One piece of DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut out = vec![tag];
    match length {
        0..128 => out.push(length as u8),
        128..256 => out.extend([0x81, length as u8]),
        _ => out.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    out.extend_from_slice(content);
    out
}

/// A certificate for 127.0.0.1 that its own key signed, and that key.
pub(crate) fn certificate() -> (Vec<u8>, Vec<u8>) {
    let rng = ring::rand::SystemRandom::new();
    let key = Ed25519KeyPair::generate_pkcs8(&rng).expect("a key").as_ref().to_vec();
    let pair = Ed25519KeyPair::from_pkcs8(&key).expect("the key");
    let algorithm = der(0x30, &[0x06, 0x03, 0x2b, 0x65, 0x70]);
    let bits = |bytes: &[u8]| der(0x03, &[&[0], bytes].concat());
    let common_name = [&[0x06, 0x03, 0x55, 0x04, 0x03][..], &der(0x0c, b"holdpoint test")].concat();
    let name = der(0x30, &der(0x31, &der(0x30, &common_name)));
    let validity = der(0x30, &[der(0x17, b"250101000000Z"), der(0x17, b"491231235959Z")].concat());
    let address = der(0x30, &der(0x87, &[127, 0, 0, 1]));
    let alternative = [&[0x06, 0x03, 0x55, 0x1d, 0x11][..], &der(0x04, &address)].concat();
    let body = [
        der(0xa0, &[0x02, 0x01, 0x02]),
        der(0x02, &[1]),
        algorithm.clone(),
        name.clone(),
        validity,
        name,
        der(0x30, &[algorithm.clone(), bits(pair.public_key().as_ref())].concat()),
        der(0xa3, &der(0x30, &der(0x30, &alternative))),
    ];
    let body = der(0x30, &body.concat());
    let signature = bits(pair.sign(&body).as_ref());
    (der(0x30, &[body, algorithm, signature].concat()), key)
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
        .into_bytes()
}

pub(crate) fn tls(certificate: &[u8], key: &[u8]) -> Tls {
    // In two pieces, so that nobody takes this file for one that holds a key.
    Tls {
        cert_pem: pem("CERTIFICATE", certificate),
        key_pem: pem(&["PRIVATE", "KEY"].join(" "), key),
    }
}

#[tokio::test]
async fn under_tls_the_cookie_is_secure() {
    let (certificate, key) = certificate();
    let world = planned(Plan { tls: Some(tls(&certificate, &key)), ..Plan::default() }).await;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate)).expect("a root");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(world.address).await.expect("a connection");
    let name = ServerName::try_from("127.0.0.1").expect("a name");
    let mut stream = connector.connect(name, stream).await.expect("a handshake");
    let code = world.engine.new_login(&domain::person::PersonId::new("bob")).await.expect("a code");
    let body = format!("code={code}");
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: {0}\r\nOrigin: https://{0}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {1}\r\n\r\n{body}",
        world.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 303"), "{reply}");
    assert!(reply.contains("SameSite=Strict; Secure"), "{reply}");
    // Whoever speaks plain HTTP here gets nothing.
    let mut plain = TcpStream::connect(world.address).await.expect("a connection");
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    let mut reply = Vec::new();
    let _ = plain.read_to_end(&mut reply).await;
    assert!(!reply.starts_with(b"HTTP"), "{reply:?}");
}

#[tokio::test]
async fn a_key_that_does_not_fit_is_an_error_at_once() {
    let (first, key) = certificate();
    let (_, other) = certificate();
    for (tls, says) in [
        (tls(&first, &other), "does not belong"),
        (
            Tls { cert_pem: b"nothing".to_vec(), key_pem: pem("PRIVATE KEY", &key) },
            "no certificate",
        ),
        (Tls { cert_pem: pem("CERTIFICATE", &first), key_pem: Vec::new() }, "no private key"),
    ] {
        let world = planned(Plan::default()).await;
        let error = holdpoint_server::bind(holdpoint_server::ServerSetup {
            engine: world.engine.clone(),
            listen: ([127, 0, 0, 1], 0).into(),
            public_url: None,
            tls: Some(tls),
            trusts: None,
            demo: None,
            warnings: Vec::new(),
            limits: holdpoint_server::HttpLimits::default(),
            audit: None,
            doors: Vec::new(),
            words: Default::default(),
        })
        .await;
        let error = error.err().expect("an error").to_string();
        assert!(error.contains(says), "{error}");
    }
}
