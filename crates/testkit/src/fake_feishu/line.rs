//! The long connection, from the platform's side: invites, sends events to one of those connected,
//! answers pings, and remembers what was acknowledged.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use channels::feishu::FeishuFrame;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};

/// The service id in every invitation.
const SERVICE: i32 = 33;

/// What clients are told about pings and reconnecting, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub ping: u64,
    pub interval: u64,
    pub nonce: u64,
}

/// An event that was acknowledged.
#[derive(Clone, Debug)]
pub struct Acked {
    pub frame: FeishuFrame,
    pub code: i64,
    /// The reply of a press.
    pub reply: Option<Value>,
}

pub struct Line {
    address: SocketAddr,
    behind: OnceLock<String>,
    inside: Mutex<Inside>,
    changed: Notify,
}

struct Inside {
    pace: Pace,
    tickets: Vec<String>,
    given: usize,
    connected: Vec<mpsc::Sender<Out>>,
    connections: usize,
    pings: Vec<FeishuFrame>,
    acked: Vec<Acked>,
    silent: bool,
    refusing: usize,
    events: usize,
    /// Those who wait for one acknowledgement, by its event.
    asking: HashMap<String, oneshot::Sender<Acked>>,
    _serving: JoinSet<()>,
}

enum Out {
    Frame(FeishuFrame),
    Raw(Vec<u8>),
    /// Without a word.
    Cut,
}

impl Line {
    pub(super) async fn start() -> Arc<Line> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("it is bound");
        Arc::new_cyclic(|line: &Weak<Line>| {
            let mut serving = JoinSet::new();
            serving.spawn(accept(listener, line.clone()));
            let inside = Inside {
                pace: Pace { ping: 120, interval: 1, nonce: 0 },
                tickets: Vec::new(),
                given: 0,
                connected: Vec::new(),
                connections: 0,
                pings: Vec::new(),
                acked: Vec::new(),
                silent: false,
                refusing: 0,
                events: 0,
                asking: HashMap::new(),
                _serving: serving,
            };
            let behind = OnceLock::new();
            Line { address, behind, inside: Mutex::new(inside), changed: Notify::new() }
        })
    }

    pub fn set_pace(&self, pace: Pace) {
        self.inside().pace = pace;
    }

    /// Connections that were ever made.
    pub fn connections(&self) -> usize {
        self.inside().connections
    }

    pub fn pings(&self) -> Vec<FeishuFrame> {
        self.inside().pings.clone()
    }

    pub fn acked(&self) -> Vec<Acked> {
        self.inside().acked.clone()
    }

    /// Pings are no longer answered.
    pub fn go_silent(&self, silent: bool) {
        self.inside().silent = silent;
    }

    /// So many connections are refused at the door.
    pub fn refuse(&self, times: usize) {
        self.inside().refusing = times;
    }

    /// Ends every connection without a word.
    pub async fn cut(&self) {
        let connected = std::mem::take(&mut self.inside().connected);
        for one in connected {
            // It may have ended by itself.
            let _ = one.send(Out::Cut).await;
        }
    }

    /// Sends an event and waits for its acknowledgement, for ever if need be. It costs the same however
    /// many came before it.
    pub async fn ask(&self, event: &Value) -> Acked {
        let (sender, acked) = oneshot::channel();
        let id = self.next_id();
        self.inside().asking.insert(id.clone(), sender);
        self.out(Out::Frame(part(&id, 1, 0, event.to_string().as_bytes()))).await;
        acked.await.expect("the line stands")
    }

    fn next_id(&self) -> String {
        let mut inside = self.inside();
        inside.events += 1;
        format!("line_{}", inside.events)
    }

    /// To the newest connection. Returns the event's `message_id` on the line.
    pub async fn send(&self, event: &Value) -> String {
        self.send_in_parts(event, 1).await
    }

    /// The last part comes first.
    pub async fn send_in_parts(&self, event: &Value, parts: usize) -> String {
        let id = self.next_id();
        let payload = event.to_string().into_bytes();
        let size = payload.len().div_ceil(parts);
        for (seq, piece) in payload.chunks(size).enumerate().rev() {
            self.out(Out::Frame(part(&id, parts, seq, piece))).await;
        }
        id
    }

    pub async fn send_frame(&self, frame: FeishuFrame) {
        self.out(Out::Frame(frame)).await;
    }

    pub async fn send_bytes(&self, bytes: &[u8]) {
        self.out(Out::Raw(bytes.to_vec())).await;
    }

    async fn out(&self, out: Out) {
        let newest = self.inside().connected.last().cloned().expect("somebody is connected");
        newest.send(out).await.unwrap_or_else(|_| panic!("the connection is gone"));
    }

    /// Waits, but not for ever.
    pub async fn until(&self, what: &str, enough: impl Fn(&Line) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if enough(self) {
                    return;
                }
                changed.await;
            }
        };
        let patience = Duration::from_secs(20);
        let waited = tokio::time::timeout(patience, waiting).await;
        waited.unwrap_or_else(|_| panic!("waited in vain for: {what}"));
    }

    /// The acknowledgement of this event.
    pub async fn ack_of(&self, id: &str) -> Acked {
        let found = |line: &Line| {
            let acked = line.acked();
            acked.into_iter().find(|ack| ack.frame.header("message_id") == Some(id))
        };
        self.until(&format!("the acknowledgement of {id}"), |line| found(line).is_some()).await;
        found(self).expect("just seen")
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Clients are sent here from now on: something before it that speaks TLS.
    pub fn behind(&self, origin: &str) {
        let _ = self.behind.set(origin.to_owned());
    }

    fn origin(&self) -> String {
        self.behind.get().cloned().unwrap_or_else(|| format!("ws://{}", self.address))
    }

    pub(super) fn invite(&self) -> (String, Value) {
        let mut inside = self.inside();
        inside.given += 1;
        let ticket = format!("device_{}", inside.given);
        let url = format!("{}/ws/v2?device_id={ticket}&service_id={SERVICE}", self.origin());
        inside.tickets.push(ticket);
        (url, config(inside.pace))
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::result_large_err, reason = "the shape is the library's")]
    fn admit(&self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let mut inside = self.inside();
        let ticket = inside.tickets.iter().position(|ticket| query.contains(ticket.as_str()));
        let refused = inside.refusing > 0;
        inside.refusing = inside.refusing.saturating_sub(1);
        match ticket {
            Some(index) if !refused => {
                inside.tickets.remove(index);
                Ok(response)
            }
            _ => {
                let mut no = ErrorResponse::new(None);
                *no.status_mut() = axum::http::StatusCode::FORBIDDEN;
                let header = |text: &str| text.parse().expect("a header");
                no.headers_mut().insert("handshake-status", header("403"));
                no.headers_mut().insert("handshake-msg", header("refused"));
                Err(no)
            }
        }
    }
}

fn part(id: &str, parts: usize, seq: usize, piece: &[u8]) -> FeishuFrame {
    let header = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let headers = vec![
        header("type", "event"),
        header("message_id", id),
        header("sum", &parts.to_string()),
        header("seq", &seq.to_string()),
        header("trace_id", "trace"),
    ];
    FeishuFrame {
        seq_id: 9,
        log_id: 8,
        service: SERVICE,
        method: 1,
        headers,
        payload: Some(piece.to_vec()),
        ..FeishuFrame::default()
    }
}

fn config(pace: Pace) -> Value {
    json!({
        "ReconnectCount": -1, "ReconnectInterval": pace.interval, "ReconnectNonce": pace.nonce,
        "PingInterval": pace.ping,
    })
}

async fn accept(listener: TcpListener, line: Weak<Line>) {
    let mut serving = JoinSet::new();
    while let Ok((tcp, _)) = listener.accept().await {
        let Some(line) = line.upgrade() else { return };
        serving.spawn(serve(tcp, Arc::downgrade(&line)));
    }
}

async fn serve(tcp: TcpStream, line: Weak<Line>) {
    let Some(strong) = line.upgrade() else { return };
    #[expect(clippy::result_large_err, reason = "the shape is the library's")]
    let admit = |request: &Request, response: Response| strong.admit(request, response);
    let Ok(mut socket) = accept_hdr_async(tcp, admit).await else { return };
    let (sender, mut orders) = mpsc::channel(256);
    {
        let mut inside = strong.inside();
        inside.connected.push(sender);
        inside.connections += 1;
    }
    strong.changed.notify_waiters();
    drop(strong);
    loop {
        let send = tokio::select! {
            order = orders.recv() => match order {
                Some(Out::Frame(frame)) => Some(frame.encode()),
                Some(Out::Raw(bytes)) => Some(bytes),
                Some(Out::Cut) | None => return,
            },
            message = socket.next() => match message {
                Some(Ok(Message::Binary(wire))) => {
                    let Some(line) = line.upgrade() else { return };
                    line.heard(&wire)
                }
                Some(Ok(_)) => None,
                _ => return,
            },
        };
        if let Some(bytes) = send
            && socket.send(Message::Binary(bytes.into())).await.is_err()
        {
            return;
        }
    }
}

impl Line {
    /// What to send back.
    fn heard(&self, wire: &[u8]) -> Option<Vec<u8>> {
        let frame = FeishuFrame::decode(wire).expect("clients send frames");
        let mut inside = self.inside();
        let back = match (frame.method, frame.header("type")) {
            (0, Some("ping")) => {
                let pong = FeishuFrame {
                    headers: vec![("type".into(), "pong".into())],
                    service: frame.service,
                    payload: Some(config(inside.pace).to_string().into_bytes()),
                    ..FeishuFrame::default()
                };
                inside.pings.push(frame);
                (!inside.silent).then(|| pong.encode())
            }
            (1, _) => {
                let payload = frame.payload.clone().unwrap_or_default();
                let said: Value = serde_json::from_slice(&payload).expect("acks are JSON");
                let reply = said["data"].as_str().map(|data| {
                    let bytes = STANDARD.decode(data).expect("base64");
                    serde_json::from_slice(&bytes).expect("a reply is JSON")
                });
                let code = said["code"].as_i64().expect("a code");
                let acked = Acked { frame, code, reply };
                match acked.frame.header("message_id").and_then(|id| inside.asking.remove(id)) {
                    // Whoever asked may have gone.
                    Some(asking) => drop(asking.send(acked)),
                    None => inside.acked.push(acked),
                }
                None
            }
            other => panic!("no client sends {other:?}"),
        };
        drop(inside);
        self.changed.notify_waiters();
        back
    }
}
