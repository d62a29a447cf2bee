//! A server for tests: it says what it is told to over real TCP, byte for byte, and keeps what it was
//! asked. It knows nothing of any API.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::message::Part;
use domain::time::Timestamp;
use ports::clock::{Clock, Rng};
use ports::model::{
    AssistantPart, Delta, DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn,
    ToolOffer,
};
use reqwest::Url;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fault::Trouble;
use crate::reading::ReplyStream;
use crate::reply::{ModelReply, Progress, Reader};

#[derive(Clone, Debug)]
pub(crate) struct FakeRequest {
    /// The first line and the headers, in small letters.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl FakeRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a request is JSON")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FakeReply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    then: Then,
}

#[derive(Clone, Debug)]
enum Then {
    /// Ends the answer as HTTP ends one.
    End,
    /// Hangs up in the middle of it.
    Cut,
    /// Says nothing more until the other side goes.
    Stall,
    /// Says this over and over again until the other side goes.
    Repeat(Vec<u8>, Duration),
    /// Never answers at all.
    Silence,
}

impl FakeReply {
    pub(crate) fn events(stream: impl Into<Vec<u8>>) -> FakeReply {
        FakeReply {
            status: 200,
            headers: vec![("content-type", "text/event-stream; charset=utf-8".into())],
            body: stream.into(),
            then: Then::End,
        }
    }

    pub(crate) fn refused(status: u16, body: &Value) -> FakeReply {
        FakeReply {
            status,
            headers: vec![("content-type", "application/json".into())],
            body: body.to_string().into_bytes(),
            then: Then::End,
        }
    }

    pub(crate) fn silence() -> FakeReply {
        FakeReply { then: Then::Silence, ..FakeReply::events("") }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> FakeReply {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn cut(self) -> FakeReply {
        FakeReply { then: Then::Cut, ..self }
    }

    pub(crate) fn stall(self) -> FakeReply {
        FakeReply { then: Then::Stall, ..self }
    }

    pub(crate) fn repeat(self, piece: impl Into<Vec<u8>>, pause: Duration) -> FakeReply {
        FakeReply { then: Then::Repeat(piece.into(), pause), ..self }
    }
}

pub(crate) struct Server {
    pub(crate) url: Url,
    asked: Arc<Mutex<Vec<FakeRequest>>>,
    /// Bytes that were written into answers.
    pub(crate) written: Arc<AtomicUsize>,
    closing: Arc<AtomicBool>,
}

type FakeScript = dyn Fn(usize, &FakeRequest) -> FakeReply + Send + Sync;

impl Server {
    /// `script` is told how many requests came before, and the request.
    pub(crate) fn start(
        script: impl Fn(usize, &FakeRequest) -> FakeReply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = Server {
            url: Url::parse(&format!("http://{address}")).expect("a URL"),
            asked: Arc::default(),
            written: Arc::default(),
            closing: Arc::default(),
        };
        let (asked, written, closing) =
            (server.asked.clone(), server.written.clone(), server.closing.clone());
        let script: Arc<FakeScript> = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if closing.load(Ordering::SeqCst) {
                    return;
                }
                let (asked, written, script) = (asked.clone(), written.clone(), script.clone());
                std::thread::spawn(move || serve(stream, &asked, &written, &*script));
            }
        });
        server
    }

    /// Answers in this order, and the last of them from then on.
    pub(crate) fn saying(answers: Vec<FakeReply>) -> Server {
        Server::start(move |count, _| answers[count.min(answers.len() - 1)].clone())
    }

    pub(crate) fn asked(&self) -> Vec<FakeRequest> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        let address = self.url.socket_addrs(|| None).expect("an address");
        drop(TcpStream::connect(&*address));
    }
}

fn serve(
    stream: TcpStream,
    asked: &Mutex<Vec<FakeRequest>>,
    written: &AtomicUsize,
    script: &FakeScript,
) {
    let Some(request) = read_request(&stream) else { return };
    let answer = {
        let mut asked = asked.lock().expect("not poisoned");
        let answer = script(asked.len(), &request);
        asked.push(request);
        answer
    };
    if matches!(answer.then, Then::Silence) {
        return wait_for_end(&stream);
    }
    let mut head = format!("HTTP/1.1 {} Word\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    let mut to = &stream;
    let mut write = |bytes: &[u8]| -> bool {
        written.fetch_add(bytes.len(), Ordering::SeqCst);
        bytes.is_empty()
            || write!(to, "{:x}\r\n", bytes.len()).is_ok()
                && to.write_all(bytes).is_ok()
                && to.write_all(b"\r\n").is_ok()
    };
    let mut begun = &stream;
    if begun.write_all(head.as_bytes()).is_err() || !write(&answer.body) {
        return;
    }
    match answer.then {
        Then::End => drop(begun.write_all(b"0\r\n\r\n")),
        Then::Cut | Then::Silence => {}
        Then::Stall => wait_for_end(&stream),
        Then::Repeat(piece, pause) => {
            while write(&piece) {
                std::thread::sleep(pause);
            }
        }
    }
}

fn wait_for_end(mut stream: &TcpStream) {
    let _ = stream.read(&mut [0; 1]);
}

fn read_request(stream: &TcpStream) -> Option<FakeRequest> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line.to_lowercase());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(FakeRequest { head, body })
}

/// A clock on which short waits are over at once and noted, and long ones never end.
#[derive(Default)]
pub(crate) struct QuickClock(pub(crate) Mutex<Vec<Duration>>);

/// What is longer than any pause between attempts.
const LONG: Duration = Duration::from_secs(200);

#[async_trait]
impl Clock for QuickClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_763_172_180_000)
    }

    async fn sleep(&self, duration: Duration) {
        if duration > LONG {
            return std::future::pending().await;
        }
        self.0.lock().expect("not poisoned").push(duration);
    }
}

/// A clock on which waits take as long as they take.
pub(crate) struct RealClock;

#[async_trait]
impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_763_172_180_000)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

pub(crate) struct NoRandomness(AtomicUsize);

impl NoRandomness {
    pub(crate) fn new() -> Arc<NoRandomness> {
        Arc::new(NoRandomness(AtomicUsize::new(500)))
    }
}

impl Rng for NoRandomness {
    fn bits(&self) -> u128 {
        self.0.fetch_add(501, Ordering::SeqCst) as u128
    }
}

/// The answer, and what was shown on the way.
pub(crate) async fn think(
    model: &dyn Model,
    request: &ModelRequest<'_>,
) -> (Result<ModelTurn, ModelError>, Vec<Delta>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink: DeltaSink = {
        let seen = seen.clone();
        Arc::new(move |delta| seen.lock().expect("not poisoned").push(delta))
    };
    let turn = model.think(request, sink, CancellationToken::new()).await;
    let deltas = seen.lock().expect("not poisoned").clone();
    (turn, deltas)
}

pub(crate) fn hello() -> ModelRequest<'static> {
    asking(vec![ModelMessage::User { text: "Hello".into() }])
}

pub(crate) fn asking(messages: Vec<ModelMessage<'_>>) -> ModelRequest<'_> {
    let tool = |name: &str| ToolOffer {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object"}),
    };
    ModelRequest {
        system: Some("Be careful.".into()),
        messages,
        tools: vec![tool("shell"), tool("human.ask")].into(),
    }
}

/// The parts of a turn as they stand in the next request.
pub(crate) fn assistant(turn: &ModelTurn) -> ModelMessage<'_> {
    let parts = turn.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(AssistantPart::Text(text.into())),
        Part::Reasoning { text, opaque } => Some(AssistantPart::Reasoning {
            text: text.into(),
            opaque: opaque.as_deref().map(Into::into),
        }),
        Part::File(_) | Part::ToolCall { .. } | Part::ToolResult { .. } => None,
    });
    let calls = turn.calls.iter().cloned().map(AssistantPart::Call);
    ModelMessage::Assistant { parts: parts.chain(calls).collect() }
}

/// Reads a stream that comes in these pieces, without any network.
pub(crate) fn read_reply<'a, R: Reader>(
    reader: R,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(ModelReply, Vec<Delta>), Trouble> {
    let mut reading = ReplyStream::new(reader);
    let mut deltas = Vec::new();
    for piece in pieces {
        if reading.feed(piece, &mut |delta| deltas.push(delta))? == Progress::Done {
            break;
        }
    }
    Ok((reading.finish()?, deltas))
}

/// The same stream, cut in two at every place and into single bytes, always says the same.
pub(crate) fn check_splits<R: Reader>(make: impl Fn() -> R, stream: &[u8]) {
    let told = |result: Result<(ModelReply, Vec<Delta>), Trouble>| match result {
        Ok((reply, deltas)) => format!("{reply:?} {deltas:?}"),
        Err(trouble) => format!("{trouble:?}"),
    };
    let whole = told(read_reply(make(), [stream]));
    for at in 0..=stream.len() {
        let (left, right) = stream.split_at(at);
        assert_eq!(told(read_reply(make(), [left, right])), whole, "cut at {at}");
    }
    assert_eq!(told(read_reply(make(), stream.chunks(1))), whole, "in single bytes");
}
