//! Socket Mode: WebSockets over which envelopes go out and acknowledgements come back.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

const PATIENCE: Duration = Duration::from_secs(20);
/// More than a test sends before anybody reads.
const ORDERS_MAX: usize = 1024;

pub struct Line {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Those that stand, in the order in which they came.
    open: BTreeMap<u64, mpsc::Sender<Order>>,
    ever: u64,
    acks: Vec<(String, Value)>,
    count: u64,
}

#[derive(Debug)]
enum Order {
    Send(Value),
    /// Text as it is.
    Raw(String),
    /// The connection breaks.
    Cut,
}

impl Line {
    pub(super) async fn start() -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on loopback");
        let address = listener.local_addr().expect("it is bound");
        let shared: Arc<Shared> = Arc::default();
        let mut serving = JoinSet::new();
        let all = shared.clone();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(all.clone(), stream));
            }
        });
        Line { address, shared, _serving: serving }
    }

    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Connections that stand now, and how many there ever were.
    pub fn connections(&self) -> (usize, u64) {
        let state = self.shared.state();
        (state.open.len(), state.ever)
    }

    /// # Panics
    /// If there is no connection: nothing could be sent over it.
    pub fn send(&self, kind: &str, payload: &Value) -> String {
        let id = {
            let mut state = self.shared.state();
            state.count += 1;
            format!("envelope-{}", state.count)
        };
        self.send_again(&id, kind, payload);
        id
    }

    /// The same envelope once more, as the platform does when nobody acknowledged it.
    pub fn send_again(&self, id: &str, kind: &str, payload: &Value) {
        let accepts = kind == "interactive" && payload["type"] == "view_submission";
        self.order(Order::Send(json!({
            "envelope_id": id, "type": kind, "payload": payload, "accepts_response_payload": accepts,
        })));
    }

    pub fn say(&self, message: &Value) {
        self.order(Order::Send(message.clone()));
    }

    pub fn raw(&self, text: &str) {
        self.order(Order::Raw(text.to_owned()));
    }

    /// The connection breaks without a word.
    pub fn cut(&self) {
        self.order(Order::Cut);
    }

    /// To one of them, the oldest.
    fn order(&self, order: Order) {
        let state = self.shared.state();
        let (_, first) = state.open.first_key_value().expect("a connection");
        first.try_send(order).expect("it stands");
    }

    /// Over the newest.
    pub fn send_newest(&self, kind: &str, payload: &Value) -> String {
        let mut state = self.shared.state();
        state.count += 1;
        let id = format!("envelope-{}", state.count);
        let (_, last) = state.open.last_key_value().expect("a connection");
        let envelope = json!({
            "envelope_id": id, "type": kind, "payload": payload, "accepts_response_payload": false,
        });
        last.try_send(Order::Send(envelope)).expect("it stands");
        id
    }

    /// Every acknowledgement of this envelope.
    pub fn acks(&self, id: &str) -> Vec<Value> {
        let state = self.shared.state();
        state.acks.iter().filter(|(of, _)| of == id).map(|(_, ack)| ack.clone()).collect()
    }

    /// # Panics
    /// If it does not come.
    pub async fn ack(&self, id: &str) -> Value {
        self.until("an acknowledgement", |line| !line.acks(id).is_empty()).await;
        self.acks(id).remove(0)
    }

    /// # Panics
    /// If it does not come to pass.
    pub async fn until(&self, what: &str, enough: impl Fn(&Line) -> bool) {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                if enough(self) {
                    return;
                }
                changed.await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(came.is_ok(), "{what} did not come");
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let hello = json!({
        "type": "hello", "num_connections": 1,
        "connection_info": {"app_id": super::APP_ID}, "debug_info": {"host": "fake"},
    });
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    let (orders, mut ordered) = mpsc::channel(ORDERS_MAX);
    let me = {
        let mut state = shared.state();
        state.ever += 1;
        let me = state.ever;
        state.open.insert(me, orders);
        me
    };
    shared.changed.notify_waiters();
    loop {
        tokio::select! {
            order = ordered.recv() => match order {
                Some(Order::Send(value)) => {
                    if socket.send(Message::text(value.to_string())).await.is_err() {
                        break;
                    }
                }
                Some(Order::Raw(text)) => {
                    if socket.send(Message::text(text)).await.is_err() {
                        break;
                    }
                }
                Some(Order::Cut) | None => break,
            },
            frame = socket.next() => match frame {
                Some(Ok(Message::Text(text))) => {
                    let ack: Value = serde_json::from_str(&text).unwrap_or_default();
                    let id = ack["envelope_id"].as_str().unwrap_or_default().to_owned();
                    shared.state().acks.push((id, ack));
                    shared.changed.notify_waiters();
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
        }
    }
    shared.state().open.remove(&me);
    shared.changed.notify_waiters();
}
