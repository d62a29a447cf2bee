//! The stream, from the platform's side: invites, sends frames, and remembers what was acknowledged.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};

/// A frame that was acknowledged.
#[derive(Clone, Debug)]
pub struct Acked {
    /// Which connection it came over, from 1.
    pub connection: usize,
    pub id: String,
    pub code: i64,
    /// The JSON inside `data`.
    pub data: Value,
}

pub struct Line {
    address: SocketAddr,
    behind: OnceLock<String>,
    inside: Mutex<Inside>,
    changed: Notify,
}

struct Inside {
    tickets: Vec<String>,
    given: usize,
    connected: Vec<mpsc::Sender<Out>>,
    connections: usize,
    ended: usize,
    pings: usize,
    acked: Vec<Acked>,
    frames: usize,
    _serving: JoinSet<()>,
}

enum Out {
    Text(String),
    Silence,
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
                tickets: Vec::new(),
                given: 0,
                connected: Vec::new(),
                connections: 0,
                ended: 0,
                pings: 0,
                acked: Vec::new(),
                frames: 0,
                _serving: serving,
            };
            let behind = OnceLock::new();
            Line { address, behind, inside: Mutex::new(inside), changed: Notify::new() }
        })
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

    pub(super) fn invite(&self) -> (String, String) {
        let mut inside = self.inside();
        inside.given += 1;
        // Not every sign in it may stand in an address as it is.
        let ticket = format!("ticket+/={}", inside.given);
        inside.tickets.push(ticket.clone());
        (format!("{}/connect", self.origin()), ticket)
    }

    /// Connections that were ever made.
    pub fn connections(&self) -> usize {
        self.inside().connections
    }

    /// Connections that are over.
    pub fn ended(&self) -> usize {
        self.inside().ended
    }

    /// Pings of the WebSocket itself.
    pub fn pings(&self) -> usize {
        self.inside().pings
    }

    pub fn acked(&self) -> Vec<Acked> {
        self.inside().acked.clone()
    }

    /// Those who are connected stay so and hear nothing more; no ping of theirs is answered.
    pub async fn go_silent(&self) {
        let connected = self.inside().connected.clone();
        for one in connected {
            // It may have ended by itself.
            let _ = one.send(Out::Silence).await;
        }
    }

    /// Ends every connection without a word.
    pub async fn cut(&self) {
        let connected = std::mem::take(&mut self.inside().connected);
        for one in connected {
            // It may have ended by itself.
            let _ = one.send(Out::Cut).await;
        }
    }

    /// Ends this connection, counted from 1.
    pub async fn end(&self, connection: usize) {
        let one = self.inside().connected[connection - 1].clone();
        // It may have ended by itself.
        let _ = one.send(Out::Cut).await;
    }

    pub async fn callback(&self, topic: &str, data: &Value) -> String {
        self.send("CALLBACK", topic, data).await
    }

    /// To the newest connection. Returns the frame's `messageId`.
    pub async fn send(&self, kind: &str, topic: &str, data: &Value) -> String {
        let newest = self.inside().connected.len();
        self.send_to(newest, kind, topic, data).await
    }

    pub async fn send_to(
        &self,
        connection: usize,
        kind: &str,
        topic: &str,
        data: &Value,
    ) -> String {
        let id = {
            let mut inside = self.inside();
            inside.frames += 1;
            format!("frame_{}", inside.frames)
        };
        self.send_text(connection, framed(&id, kind, topic, data)).await;
        id
    }

    /// The same frame once more, as the platform does when it heard no acknowledgement.
    pub async fn send_again(&self, id: &str, kind: &str, topic: &str, data: &Value) {
        let newest = self.inside().connected.len();
        self.send_text(newest, framed(id, kind, topic, data)).await;
    }

    pub async fn send_text(&self, connection: usize, text: String) {
        let one = self.inside().connected[connection - 1].clone();
        one.send(Out::Text(text)).await.unwrap_or_else(|_| panic!("the connection is gone"));
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

    pub async fn ack_of(&self, id: &str) -> Acked {
        let found = |line: &Line| line.acked().into_iter().find(|ack| ack.id == id);
        self.until(&format!("the acknowledgement of {id}"), |line| found(line).is_some()).await;
        found(self).expect("just seen")
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ticket is good once.
    #[expect(clippy::result_large_err, reason = "the shape is the library's")]
    fn admit(&self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let query = request.uri().query().unwrap_or_default();
        let ticket = query.strip_prefix("ticket=").unwrap_or_default();
        let ticket = ticket.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=");
        let mut inside = self.inside();
        match inside.tickets.iter().position(|known| *known == ticket) {
            Some(index) => {
                inside.tickets.remove(index);
                Ok(response)
            }
            None => {
                let mut no = ErrorResponse::new(None);
                *no.status_mut() = axum::http::StatusCode::UNAUTHORIZED;
                Err(no)
            }
        }
    }
}

fn framed(id: &str, kind: &str, topic: &str, data: &Value) -> String {
    let headers = json!({
        "appId": "a", "connectionId": "c", "contentType": "application/json",
        "messageId": id, "time": "1763172180000", "topic": topic,
    });
    let data = data.to_string();
    json!({"specVersion": "1.0", "type": kind, "headers": headers, "data": data}).to_string()
}

async fn accept(listener: TcpListener, line: Weak<Line>) {
    let mut serving = JoinSet::new();
    while let Ok((tcp, _)) = listener.accept().await {
        serving.spawn(serve(tcp, line.clone()));
    }
}

async fn serve(tcp: TcpStream, line: Weak<Line>) {
    let Some(strong) = line.upgrade() else { return };
    #[expect(clippy::result_large_err, reason = "the shape is the library's")]
    let admit = |request: &Request, response: Response| strong.admit(request, response);
    let Ok(mut socket) = accept_hdr_async(tcp, admit).await else { return };
    let (sender, mut orders) = mpsc::channel(256);
    let connection = {
        let mut inside = strong.inside();
        inside.connected.push(sender);
        inside.connections += 1;
        inside.connections
    };
    strong.changed.notify_waiters();
    drop(strong);
    let mut silent = false;
    loop {
        let order = tokio::select! {
            order = orders.recv() => order,
            message = socket.next(), if !silent => {
                let Some(line) = line.upgrade() else { return };
                match message {
                    Some(Ok(Message::Text(text))) => line.heard(connection, text.as_str()),
                    Some(Ok(Message::Ping(_))) => line.inside().pings += 1,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => {
                        line.inside().ended += 1;
                        line.changed.notify_waiters();
                        return;
                    }
                    Some(Ok(_)) => {}
                }
                line.changed.notify_waiters();
                continue;
            }
        };
        match order {
            Some(Out::Text(text)) => {
                if socket.send(Message::Text(text.into())).await.is_err() {
                    return;
                }
            }
            Some(Out::Silence) => silent = true,
            Some(Out::Cut) | None => return,
        }
    }
}

impl Line {
    fn heard(&self, connection: usize, text: &str) {
        let ack: Value = serde_json::from_str(text).expect("acks are JSON");
        let data = ack["data"].as_str().expect("JSON in a string");
        let acked = Acked {
            connection,
            id: ack["headers"]["messageId"].as_str().expect("whose it is").to_owned(),
            code: ack["code"].as_i64().expect("a code"),
            data: serde_json::from_str(data).expect("JSON"),
        };
        assert_eq!(ack["headers"]["contentType"], "application/json");
        self.inside().acked.push(acked);
    }
}
