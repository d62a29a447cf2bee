//! The HTTP side of a fake platform, on loopback.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::standing::Standing;

/// More than any platform takes.
const BODY_BYTES: usize = 4 << 20;

/// What a platform does with a request. It may change what the platform knows.
pub trait Platform: Send + Sync + 'static {
    fn answer(&self, asked: &Asked) -> Reply;
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

impl Reply {
    pub fn new(status: u16, body: Value) -> Reply {
        Reply { status, headers: Vec::new(), body }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}

/// What goes wrong with one request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This instead, and nothing is done.
    Says(Reply),
    /// A page of some proxy.
    Garbage,
    /// No answer, ever; nothing is done.
    Hangs,
    /// It is done, and the answer is lost on the way.
    Lost,
    /// It is done, and no answer ever comes.
    Mute,
    /// An answer that does not end.
    Endless,
}

/// A running front. Dropping it ends it.
pub struct Front<P> {
    address: SocketAddr,
    shared: Arc<Shared<P>>,
    _serving: JoinSet<()>,
}

struct Shared<P> {
    platform: Arc<P>,
    inside: Mutex<Inside>,
    standing: Standing,
}

#[derive(Default)]
struct Inside {
    asked: Vec<Asked>,
    /// Those that met no fault.
    well: Vec<Asked>,
    /// For the next request whose path contains this.
    faults: Vec<(String, Fault)>,
}

impl<P: Platform> Front<P> {
    pub async fn start(platform: Arc<P>) -> Front<P> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("it is bound");
        let shared =
            Arc::new(Shared { platform, inside: Mutex::default(), standing: Standing::default() });
        let router = Router::new().fallback(serve::<P>).with_state(shared.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // It ends when it is dropped; a listener on loopback does not fail before that.
            let _ = axum::serve(listener, router).await;
        });
        Front { address, shared, _serving: serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.shared.inside().asked.clone()
    }

    /// Those that met no fault.
    pub fn asked_well(&self) -> Vec<Asked> {
        self.shared.inside().well.clone()
    }

    /// Those whose path contains this.
    pub fn asked_of(&self, path: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.path.contains(path)).collect()
    }

    /// Faults come true in the order in which they are told, each once.
    pub fn fail(&self, path: &str, fault: Fault) {
        self.shared.inside().faults.push((path.to_owned(), fault));
    }

    /// Faults that stay until they are lifted.
    pub fn standing(&self) -> &Standing {
        &self.shared.standing
    }
}

impl<P> Shared<P> {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        // A test that failed inside says so itself.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve<P: Platform>(State(shared): State<Arc<Shared<P>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_BYTES).await.unwrap_or_default();
    let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let asked = Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers.iter().map(header).collect(),
        body,
    };
    let fault = {
        let mut inside = shared.inside();
        let meant = inside.faults.iter().position(|(path, _)| asked.path.contains(path.as_str()));
        inside.asked.push(asked.clone());
        if meant.is_none() {
            inside.well.push(asked.clone());
        }
        meant.map(|index| inside.faults.remove(index).1)
    };
    let stays = fault.is_none();
    match fault.or_else(|| shared.standing.meets(&asked.path)) {
        None => written(shared.platform.answer(&asked)),
        Some(Fault::Says(reply)) => written(reply),
        Some(Fault::Garbage) => page("<html>Bad gateway</html>"),
        Some(Fault::Hangs) => silence(&shared.standing, stays).await,
        Some(Fault::Mute) => {
            shared.platform.answer(&asked);
            silence(&shared.standing, stays).await
        }
        Some(Fault::Lost) => {
            shared.platform.answer(&asked);
            cut()
        }
        Some(Fault::Endless) => {
            let piece = Bytes::from(vec![b' '; 64 << 10]);
            let pieces = stream::repeat_with(move || Ok::<_, Infallible>(piece.clone()));
            Response::new(Body::from_stream(pieces))
        }
    }
}

/// Nothing is said: never, or until the trouble is over, and then the line breaks.
async fn silence(standing: &Standing, stays: bool) -> Response {
    if !stays {
        return std::future::pending().await;
    }
    standing.until_lifted().await;
    cut()
}

pub(crate) fn cut() -> Response {
    let broken = stream::iter([Err::<Bytes, _>(std::io::Error::other("cut"))]);
    Response::new(Body::from_stream(broken))
}

fn page(text: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert("content-type", "text/html".parse().expect("a header"));
    response
}

fn written(reply: Reply) -> Response {
    let mut builder =
        Response::builder().status(reply.status).header("content-type", "application/json");
    for (name, value) in reply.headers {
        builder = builder.header(name, value);
    }
    builder.body(Body::from(reply.body.to_string())).expect("a response")
}
