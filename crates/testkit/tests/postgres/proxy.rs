//! A line between a client and PostgreSQL that counts messages, and can be cut before any of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// What the line does to the first connection that gets so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The nth message of either side, counted from 1, is not passed on, and the line is dead.
    CutBefore(u64),
    /// A COMMIT is held back until the line is let go of.
    HoldCommit,
    /// The greeting of a client that says that it is there for this is held back until the line is let go of.
    HoldGreeting(&'static str),
    /// A COMMIT is passed on, and what the server says to it is held back.
    HoldAnswer,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
    _line: JoinSet<()>,
}

struct State {
    server: u16,
    fault: Fault,
    counted: AtomicU64,
    /// The fault has happened; later connections are passed on as they are.
    done: AtomicBool,
    struck: Notify,
    free: watch::Sender<bool>,
}

impl Proxy {
    pub(crate) async fn start(server: u16, fault: Fault) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            server,
            fault,
            counted: AtomicU64::new(0),
            done: AtomicBool::new(fault == Fault::None),
            struck: Notify::new(),
            free: watch::Sender::new(false),
        });
        let shared = state.clone();
        let mut line = JoinSet::new();
        line.spawn(async move {
            let mut talks = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                talks.spawn(talk(client, shared.clone()));
            }
        });
        Proxy { port, state, _line: line }
    }

    /// Returns when the fault has happened.
    pub(crate) async fn struck(&self) {
        self.state.struck.notified().await;
    }

    pub(crate) fn has_struck(&self) -> bool {
        self.state.done.load(Ordering::SeqCst)
    }

    pub(crate) fn messages(&self) -> u64 {
        self.state.counted.load(Ordering::SeqCst)
    }

    /// Passes on what was held back.
    pub(crate) fn let_go(&self) {
        self.state.free.send_replace(true);
    }
}

async fn talk(client: TcpStream, state: Arc<State>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", state.server)).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let faulty = !state.done.load(Ordering::SeqCst);
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    // Whichever side ends first takes the other with it, and both sockets.
    tokio::select! {
        () = pass(from_client, to_server, true, faulty, &state) => {}
        () = pass(from_server, to_client, false, faulty, &state) => {}
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    by_client: bool,
    faulty: bool,
    state: &State,
) {
    let mut first = by_client;
    while let Some(message) = message(&mut from, first).await {
        let greets = std::mem::take(&mut first);
        let commit = by_client && message.starts_with(b"Q") && message[5..].starts_with(b"COMMIT");
        if faulty && !state.done.load(Ordering::SeqCst) {
            let number = state.counted.fetch_add(1, Ordering::SeqCst) + 1;
            match state.fault {
                Fault::CutBefore(cut) if number >= cut => {
                    state.done.store(true, Ordering::SeqCst);
                    state.struck.notify_one();
                    return;
                }
                Fault::HoldCommit if commit => hold(state).await,
                Fault::HoldGreeting(purpose) if greets && says(&message, purpose) => {
                    hold(state).await;
                }
                Fault::HoldAnswer if !by_client && is_committed(&message) => hold(state).await,
                _ => {}
            }
        }
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

fn says(message: &[u8], text: &str) -> bool {
    message.windows(text.len()).any(|part| part == text.as_bytes())
}

/// The server's word that the transaction is committed, and not an answer to something before it.
fn is_committed(message: &[u8]) -> bool {
    message.starts_with(b"C") && message[5..].starts_with(b"COMMIT")
}

async fn hold(state: &State) {
    state.done.store(true, Ordering::SeqCst);
    state.struck.notify_one();
    let _ = state.free.subscribe().wait_for(|free| *free).await;
}

/// One message: a type and a length, or only a length for the first one of a client.
async fn message(from: &mut OwnedReadHalf, first: bool) -> Option<Vec<u8>> {
    let head = if first { 4 } else { 5 };
    let mut bytes = vec![0; head];
    from.read_exact(&mut bytes).await.ok()?;
    let length = u32::from_be_bytes(bytes[head - 4..].try_into().ok()?) as usize;
    let whole = length + head - 4;
    bytes.resize(whole.max(head), 0);
    from.read_exact(&mut bytes[head..]).await.ok()?;
    Some(bytes)
}
