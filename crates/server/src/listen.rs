//! The listener: connections, TLS handshakes, and how all of it ends.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::BindError;
use crate::app::App;
use crate::limits::{CONNECTION_BYTES, HANDSHAKE};
use crate::peer::Peer;
use crate::standing::{Places, Standing};

/// Between two attempts to accept when the system has no more file descriptors.
const EXHAUSTED: Duration = Duration::from_millis(50);

pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse { address },
        io::ErrorKind::PermissionDenied => BindError::Forbidden { address },
        _ => BindError::Io { address, error },
    })
}

/// Serves until `shutdown`, then lets what is under way end.
pub(crate) async fn serve(
    app: App,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let connections = TaskTracker::new();
    let places = Places::new(app.limits.connections, app.limits.stranger_connections);
    let builder = Arc::new(builder(&app));
    let cut = CancellationToken::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // The system has fewer places than we: strangers must not keep all of them.
                places.evict_stranger();
                tokio::time::sleep(EXHAUSTED).await;
                continue;
            }
        };
        let connection = Connection {
            builder: builder.clone(),
            first_request: app.limits.header_timeout,
            closing: app.closing.clone(),
            cut: cut.clone(),
            router: router.clone(),
            standing: places.enter(peer.ip()),
            peer,
        };
        let acceptor = acceptor.clone();
        connections.spawn(async move { connection.run(stream, acceptor).await });
    }
    drop(listener);
    // Streams and long polls would never end by themselves.
    app.closing.cancel();
    app.tasks.close();
    connections.close();
    let grace = app.limits.closing_grace;
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(
            "some requests were cut off: they took longer than {} s to end",
            grace.as_secs()
        );
    }
    cut.cancel();
    connections.wait().await;
    app.tasks.wait().await;
}

fn builder(app: &App) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.header_timeout)
        // Most replies are short: one copy costs less than the system's work on a list of pieces.
        .writev(false)
        .max_buf_size(CONNECTION_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(Duration::from_secs(30)))
        .max_concurrent_streams(256)
        .max_header_list_size(64 << 10);
    builder
}

struct Connection {
    builder: Arc<auto::Builder<TokioExecutor>>,
    /// A connection without a request by then has to make room. The library waits for ever to learn
    /// which protocol a client speaks.
    first_request: Duration,
    /// Nothing new is taken any more.
    closing: CancellationToken,
    /// What is under way has had its time.
    cut: CancellationToken,
    router: Router,
    standing: Arc<Standing>,
    peer: SocketAddr,
}

impl Connection {
    async fn run(self, stream: TcpStream, acceptor: Option<TlsAcceptor>) {
        // Replies are small and somebody waits for each.
        let _ = stream.set_nodelay(true);
        match acceptor {
            None => self.serve(stream).await,
            Some(acceptor) => {
                let handshake = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream));
                let handshake = tokio::select! {
                    biased;
                    done = handshake => Some(done),
                    () = self.standing.evicted() => None,
                    () = self.closing.cancelled() => None,
                };
                match handshake {
                    Some(Ok(Ok(stream))) => self.serve(stream).await,
                    Some(Ok(Err(error))) => tracing::debug!(%error, "a TLS handshake failed"),
                    Some(Err(_)) => tracing::debug!("a TLS handshake took too long"),
                    None => {}
                }
            }
        }
    }

    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(self, stream: S) {
        let peer = Peer(self.peer.ip().to_canonical());
        let has_asked = Arc::new(AtomicBool::new(false));
        let asked = has_asked.clone();
        let standing = self.standing.clone();
        let service =
            self.router.map_request(move |mut request: Request<hyper::body::Incoming>| {
                asked.store(true, Ordering::Relaxed);
                request.extensions_mut().insert(peer);
                request.extensions_mut().insert(standing.clone());
                request
            });
        let service = TowerToHyperService::new(service);
        let connection = self.builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let silent = async {
            tokio::time::sleep(self.first_request).await;
            if has_asked.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        // Looked at whenever anything happens on the connection. The cut comes only after closing has
        // begun, so it need not be looked at before.
        let ended = tokio::select! {
            biased;
            ended = connection.as_mut() => Some(ended),
            // mutant: whoever-says-nothing-stays
            () = silent => None,
            () = self.standing.evicted() => None,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                self.cut.run_until_cancelled(connection).await
            }
        };
        if let Some(Err(error)) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}
