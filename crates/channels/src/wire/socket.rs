//! A WebSocket to an address that the platform gave us.

use std::sync::Arc;
use std::time::Duration;

use egress::describe_causes;
use ports::clock::Clock;
use reqwest::Url;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::limits::SOCKET_MESSAGE_BYTES_MAX;

pub(crate) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

pub(crate) type Socket = WebSocketStream<Box<dyn Bytes>>;

#[derive(Debug)]
pub(crate) enum NoSocket {
    /// The address is none that we may go to.
    Address(&'static str),
    Unreachable(String),
    /// The platform answered, with something else. Its headers may say why.
    Refused {
        status: u16,
        headers: Vec<(String, String)>,
    },
}

/// `beside` is the platform's address in the configuration: what is asked for over TLS does not lead
/// to a place without it.
pub(crate) async fn open_socket(
    url: &str,
    beside: &Url,
    clock: &dyn Clock,
    within: Duration,
) -> Result<Socket, NoSocket> {
    tokio::select! {
        biased;
        socket = Box::pin(connect(url, beside)) => socket,
        () = clock.sleep(within) => {
            Err(NoSocket::Unreachable(format!("no WebSocket within {} s", within.as_secs())))
        }
    }
}

async fn connect(url: &str, beside: &Url) -> Result<Socket, NoSocket> {
    let parsed = Url::parse(url).map_err(|_| NoSocket::Address("it is no URL"))?;
    let secure = match (parsed.scheme(), beside.scheme()) {
        ("wss", _) => true,
        ("ws", "http") => false,
        ("ws", _) => return Err(NoSocket::Address("it is without TLS")),
        _ => return Err(NoSocket::Address("it is no WebSocket's")),
    };
    let host = parsed.host_str().ok_or(NoSocket::Address("it names no host"))?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = parsed.port_or_known_default().unwrap_or(if secure { 443 } else { 80 });
    let unreachable =
        |why: String| NoSocket::Unreachable(format!("{host} cannot be reached ({why})"));
    let tcp =
        TcpStream::connect((bare, port)).await.map_err(|error| unreachable(error.to_string()))?;
    // Small frames that somebody waits for.
    tcp.set_nodelay(true).map_err(|error| unreachable(error.to_string()))?;
    let stream: Box<dyn Bytes> = match secure {
        false => Box::new(tcp),
        true => {
            let name = ServerName::try_from(bare.to_owned())
                .map_err(|_| NoSocket::Address("its host is no name"))?;
            let tls = TlsConnector::from(Arc::new(tls().map_err(unreachable)?));
            Box::new(
                tls.connect(name, tcp)
                    .await
                    .map_err(|error| unreachable(describe_causes(&error)))?,
            )
        }
    };
    let limits = WebSocketConfig::default()
        .max_message_size(Some(SOCKET_MESSAGE_BYTES_MAX))
        .max_frame_size(Some(SOCKET_MESSAGE_BYTES_MAX));
    match client_async_with_config(parsed.as_str(), stream, Some(limits)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => {
            let header =
                |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
                    (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                };
            let headers = answer.headers().iter().map(header).collect();
            Err(NoSocket::Refused { status: answer.status().as_u16(), headers })
        }
        Err(error) => Err(unreachable(error.to_string())),
    }
}

fn tls() -> Result<ClientConfig, String> {
    // An error means that the same one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = ClientConfig::builder()
        .with_platform_verifier()
        .map_err(|error| format!("this machine's certificates cannot be read: {error}"))?;
    Ok(builder.with_no_client_auth())
}
