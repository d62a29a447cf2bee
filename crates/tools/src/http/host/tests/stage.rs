//! Services on loopback, well and badly behaved, and a name server that says what it is told to.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::id::CallId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use egress::HostResolver;
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::super::HttpTool;
use crate::cleared::{clear_call, open_gate};

pub(super) const OK: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nfine";

/// Answers each look-up with the next address, and the last one from then on.
pub(super) struct Changing {
    addresses: Vec<&'static str>,
    pub(super) asked: AtomicU64,
}

pub(super) fn names(addresses: &[&'static str]) -> Arc<Changing> {
    Arc::new(Changing { addresses: addresses.to_vec(), asked: AtomicU64::new(0) })
}

#[async_trait]
impl HostResolver for Changing {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(host, "api.example");
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) as usize;
        Ok(vec![self.addresses[asked.min(self.addresses.len() - 1)].parse().unwrap()])
    }
}

#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) line: String,
    /// Names in small letters.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(found, _)| found == name);
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "`{name}` came twice");
        value
    }
}

pub(super) struct Service {
    pub(super) port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Answering = Box<dyn Fn(&Received) -> Vec<u8> + Send + Sync>;

enum Manner {
    /// One answer, and the connection is closed.
    Answer(Answering),
    Silent,
    Drip(&'static [u8], Duration),
    /// Hangs up on the first few without a word.
    Fail(u64, &'static str),
}

impl Service {
    pub(super) async fn start(
        answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static,
    ) -> Service {
        Service::with(Manner::Answer(Box::new(answer))).await
    }

    pub(super) async fn silent() -> Service {
        Service::with(Manner::Silent).await
    }

    pub(super) async fn dripping(piece: &'static [u8], every: Duration) -> Service {
        Service::with(Manner::Drip(piece, every)).await
    }

    pub(super) async fn failing(times: u64, then: &'static str) -> Service {
        Service::with(Manner::Fail(times, then)).await
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the service is the other side, and it owns its task"
    )]
    async fn with(manner: Manner) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, manner) = (received.clone(), Arc::new(manner));
        let task = tokio::spawn(async move {
            // Dropped with this task, and so ended with the service.
            let mut talks = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                talks.spawn(talk(stream, manner.clone(), kept.clone()));
            }
        });
        Service { port, received, task }
    }

    pub(super) fn count(&self) -> u64 {
        self.received.lock().unwrap().len() as u64
    }

    pub(super) async fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(super) async fn somebody_came(&self) {
        while self.count() == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(super) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

async fn talk(mut stream: TcpStream, manner: Arc<Manner>, kept: Arc<Mutex<Vec<Received>>>) {
    let Some(received) = read(&mut stream).await else { return };
    let before = {
        let mut kept = kept.lock().unwrap();
        kept.push(received.clone());
        kept.len() as u64 - 1
    };
    match &*manner {
        Manner::Answer(answer) => {
            let _ = stream.write_all(&answer(&received)).await;
        }
        Manner::Silent => std::future::pending().await,
        Manner::Drip(piece, every) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
            if stream.write_all(head.as_bytes()).await.is_err() {
                return;
            }
            while stream.write_all(piece).await.is_ok() {
                tokio::time::sleep(*every).await;
            }
        }
        Manner::Fail(times, _) if before < *times => {}
        Manner::Fail(_, then) => {
            let _ = stream.write_all(then.as_bytes()).await;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let mut received = Received { line, headers, body: bytes.split_off(end + 4) };
    let length = received.header("content-length").map_or(0, |length| length.parse().unwrap());
    while received.body.len() < length {
        if stream.read_buf(&mut received.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(received)
}

fn parsed(arguments: Value) -> Arguments {
    Arguments::from_value(arguments).unwrap()
}

pub(super) async fn prepare(host: &HttpTool, arguments: Value) -> Result<Prepared, PrepareError> {
    host.prepare(&parsed(arguments)).await
}

pub(super) async fn proposed(host: &HttpTool, arguments: Value, number: u128) -> Call {
    let context = prepare(host, arguments.clone()).await.unwrap().context;
    let proposal = Proposal {
        id: CallId::new(1, number),
        tool_use_id: format!("toolu_{number}"),
        agent: "ops".into(),
        session: None,
        arguments: parsed(arguments),
        context,
        policy: Digest::of(b""),
    };
    Call::propose(proposal, host.tool())
}

pub(super) async fn run(host: &HttpTool, arguments: Value, number: u128) -> Outcome {
    let call = proposed(host, arguments, number).await;
    host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap()
}

#[track_caller]
pub(super) fn succeeded(outcome: Outcome) -> String {
    match outcome {
        Outcome::Succeeded(output) => output.whole(),
        other => panic!("wanted success, got {other:?}"),
    }
}

#[track_caller]
pub(super) fn failed(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(output) => output.whole(),
        other => panic!("wanted a failure, got {other:?}"),
    }
}

#[track_caller]
pub(super) fn unknown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Unknown { evidence } => evidence,
        other => panic!("wanted to be told that nobody knows, got {other:?}"),
    }
}

#[track_caller]
pub(super) fn unsound(prepared: Result<Prepared, PrepareError>) -> String {
    match prepared {
        Err(PrepareError::Unsound(why)) => why,
        other => panic!("wanted a refusal, got {other:?}"),
    }
}
