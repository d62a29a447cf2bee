//! A server that is our child: one message a line, on standard input and output.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use domain::visible::visible;
use ports::start_gate::Start;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::limits::{
    GARBAGE_LINES_MAX, MESSAGE_BYTES_MAX, OUTBOX_MAX, PENDING_MAX, STDERR_LINE_MAX,
    STDERR_LINES_MAX,
};
use super::line::next_line;
use super::message::{self, JsonRpcIncoming, RpcError};
use super::transport::{McpRequest, McpTransport, ServerAsk, TransportError};
use crate::gated_io::first_write;

/// The two directions, and those who wait for an answer.
pub(crate) struct StdioTransport(Arc<StdioState>);

struct StdioState {
    server: String,
    outbox: mpsc::Sender<OutgoingLine>,
    pending: Mutex<HashMap<u64, PendingRequest>>,
    cut: CancellationToken,
    why: Mutex<Option<String>>,
    changed: Notify,
    hushed: AtomicBool,
}

struct PendingRequest {
    answer: oneshot::Sender<Result<Value, TransportError>>,
    asks: Option<mpsc::Sender<ServerAsk>>,
}

/// A message that the server has not got yet. It may wait here for as long as the server does not read.
struct OutgoingLine {
    line: Vec<u8>,
    /// The request that begins a call, by its id.
    begins: Option<(u64, Start)>,
}

impl OutgoingLine {
    fn without_gate(line: Vec<u8>) -> OutgoingLine {
        OutgoingLine { line, begins: None }
    }
}

/// What must be kept running for a pipe to work. It ends when the wire is cut or the server goes.
pub(crate) struct StdioPump<I, O, E> {
    state: Arc<StdioState>,
    from_outbox: mpsc::Receiver<OutgoingLine>,
    stdin: I,
    stdout: O,
    stderr: E,
    /// Values of the server's environment, which must not turn up in our log.
    secrets: Vec<String>,
}

impl StdioTransport {
    pub(crate) fn new<I, O, E>(
        server: &str,
        (stdin, stdout, stderr): (I, O, E),
        secrets: Vec<String>,
    ) -> (StdioTransport, StdioPump<I, O, E>) {
        let (outbox, from_outbox) = mpsc::channel(OUTBOX_MAX);
        let state = Arc::new(StdioState {
            server: server.into(),
            outbox,
            pending: Mutex::default(),
            cut: CancellationToken::new(),
            why: Mutex::default(),
            changed: Notify::new(),
            hushed: AtomicBool::new(false),
        });
        let pump = StdioPump { state: state.clone(), from_outbox, stdin, stdout, stderr, secrets };
        (StdioTransport(state), pump)
    }
}

impl<I, O, E> StdioPump<I, O, E>
where
    I: AsyncWrite + Unpin,
    O: AsyncRead + Unpin,
    E: AsyncRead + Unpin,
{
    /// Carries messages until the wire is cut. The pipes are let go of when this returns, which tells
    /// the server to leave.
    pub(crate) async fn pump_messages(self) {
        let StdioPump { state, mut from_outbox, mut stdin, stdout, stderr, secrets } = self;
        let write = async {
            while let Some(OutgoingLine { mut line, begins }) = from_outbox.recv().await {
                line.push(b'\n');
                let mut written = Ok(0);
                if let Some((id, start)) = begins {
                    match first_write(&start, &mut stdin, &line).await {
                        // From its first byte on the call has begun; the rest waits as it must.
                        Ok((starting, first)) => {
                            drop(starting);
                            written = first;
                        }
                        Err(refused) => {
                            state.complete_request(id, Err(TransportError::NotBegun(refused)));
                            continue;
                        }
                    }
                }
                let sent = async {
                    stdin.write_all(line.get(written?..).unwrap_or_default()).await?;
                    stdin.flush().await
                };
                if let Err(error) = sent.await {
                    return format!("it no longer listens: {error}");
                }
            }
            "nobody needs it any more".to_owned()
        };
        let read = state.read_messages(BufReader::new(stdout));
        let complaints = listen_to_complaints(&state, BufReader::new(stderr), &secrets);
        let why = tokio::select! {
            why = read => why,
            why = write => why,
            () = async { complaints.await; std::future::pending().await } => return,
            () = state.cut.cancelled() => return state.hang_up("it was stopped".into()),
        };
        state.hang_up(why);
    }
}

impl StdioState {
    fn lock_pending(&self) -> MutexGuard<'_, HashMap<u64, PendingRequest>> {
        self.pending.lock().unpoisoned()
    }

    /// Says whether a request was waiting for it.
    fn complete_request(&self, id: u64, answer: Result<Value, TransportError>) -> bool {
        let Some(pending) = self.lock_pending().remove(&id) else { return false };
        // The waiting request may have been cancelled meanwhile.
        let _ = pending.answer.send(answer);
        true
    }

    /// Fails every pending request: no answer will come.
    fn hang_up(&self, why: String) {
        self.why.lock().unpoisoned().get_or_insert(why);
        self.cut.cancel();
        self.lock_pending().clear();
    }

    async fn read_messages(&self, mut from: impl AsyncBufRead + Unpin) -> String {
        let mut garbage = 0;
        loop {
            let line = match next_line(&mut from, MESSAGE_BYTES_MAX).await {
                Ok(Some(line)) => line,
                Ok(None) => return "it closed its output".into(),
                Err(why) => return why,
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let known = match JsonRpcIncoming::parse(&line) {
                // An answer without a pending request: the request was cancelled, or the server made it up.
                Some(JsonRpcIncoming::Answer { id, answer }) => {
                    self.complete_request(id, answer.map_err(TransportError::Refused))
                }
                Some(JsonRpcIncoming::Request { id, method, params }) => {
                    if !self.take_request(id, &method, params) {
                        return "it asks more than it listens".into();
                    }
                    true
                }
                Some(JsonRpcIncoming::Notice { method, .. }) => {
                    if method == "notifications/tools/list_changed" {
                        self.changed.notify_one();
                    }
                    true
                }
                None => {
                    tracing::debug!(
                        server = %self.server,
                        bytes = line.len(),
                        "undecodable line on standard output of an MCP server"
                    );
                    false
                }
            };
            if !known {
                garbage += 1;
            }
            if garbage > GARBAGE_LINES_MAX {
                return "it printed too much on its standard output that is no protocol".into();
            }
        }
    }

    /// Says whether our answer could be put on its way.
    fn take_request(&self, id: Value, method: &str, params: Value) -> bool {
        if method != "elicitation/create" {
            let answer = message::answer_bytes(&id, message::own_answer(method));
            return self.outbox.try_send(OutgoingLine::without_gate(answer)).is_ok();
        }
        // The protocol does not say which call a question belongs to. Only where there is no choice
        // do we know whom it may be put to.
        let asks: Vec<mpsc::Sender<ServerAsk>> =
            self.lock_pending().values().filter_map(|pending| pending.asks.clone()).collect();
        let taken = match asks.as_slice() {
            [one] => one.try_send(ServerAsk { id: id.clone(), params }).is_ok(),
            _ => false,
        };
        if taken {
            return true;
        }
        tracing::warn!(server = %self.server, calls = asks.len(), "MCP question cancelled: not exactly one call is in flight");
        let cancel = message::answer_bytes(&id, Ok(serde_json::json!({"action": "cancel"})));
        self.outbox.try_send(OutgoingLine::without_gate(cancel)).is_ok()
    }
}

/// What a server writes to its standard error goes to our log, bounded and without secrets.
async fn listen_to_complaints(
    state: &StdioState,
    mut from: impl AsyncBufRead + Unpin,
    secrets: &[String],
) {
    let server = &state.server;
    let mut lines = 0;
    let mut line: Vec<u8> = Vec::new();
    loop {
        let (taken, ended) = match from.fill_buf().await {
            Ok([]) | Err(_) => return,
            Ok(chunk) => {
                let end = chunk.iter().position(|byte| *byte == b'\n');
                let taken = end.unwrap_or(chunk.len());
                let room = STDERR_LINE_MAX.saturating_sub(line.len());
                line.extend_from_slice(&chunk[..taken.min(room)]);
                (end.map_or(taken, |end| end + 1), end.is_some())
            }
        };
        from.consume(taken);
        if ended && state.hushed.load(Ordering::Relaxed) {
            lines += 1;
            tracing::debug!(%server, bytes = line.len(), "MCP server wrote to standard error (not shown)");
        } else if ended && lines <= STDERR_LINES_MAX {
            lines += 1;
            let said = without_secrets(&String::from_utf8_lossy(&line), secrets);
            tracing::debug!(%server, said = %visible(&said), "MCP server wrote to standard error");
        }
        if ended {
            line.clear();
        }
    }
}

pub(crate) fn without_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[hidden]"))
}

/// Removes the pending entry when its request is dropped.
struct PendingGuard<'a>(&'a StdioState, u64);

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        self.0.lock_pending().remove(&self.1);
    }
}

#[async_trait]
impl McpTransport for StdioTransport {
    async fn send_request(
        &self,
        request: McpRequest<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        let state = &*self.0;
        let (tell, answered) = oneshot::channel();
        {
            let mut pending = state.lock_pending();
            if state.cut.is_cancelled() {
                return Err(TransportError::NotSent(self.close_reason()));
            }
            if pending.len() >= PENDING_MAX {
                return Err(TransportError::NotSent("too many calls wait for it already".into()));
            }
            pending.insert(request.id, PendingRequest { answer: tell, asks });
        }
        let _waiting = PendingGuard(state, request.id);
        let line = message::request_bytes(request.id, request.method, request.params);
        let begins = request.start.filter(|start| !start.has_begun());
        let begins = begins.map(|start| (request.id, start.clone()));
        if state.outbox.try_send(OutgoingLine { line, begins }).is_err() {
            return Err(TransportError::NotSent("it does not take any more messages".into()));
        }
        match answered.await {
            Ok(answer) => answer,
            Err(_) => Err(TransportError::Lost(self.close_reason())),
        }
    }

    async fn send_answer(&self, id: &Value, answer: Result<Value, RpcError>) {
        if self
            .0
            .outbox
            .try_send(OutgoingLine::without_gate(message::answer_bytes(id, answer)))
            .is_err()
        {
            self.0.hang_up("it does not take any more messages".into());
        }
    }

    async fn send_notification(&self, method: &str, params: Option<&RawValue>) {
        if self
            .0
            .outbox
            .try_send(OutgoingLine::without_gate(message::notification_bytes(method, params)))
            .is_err()
        {
            self.0.hang_up("it does not take any more messages".into());
        }
    }

    fn set_version(&self, _version: &str) {}

    fn closed_token(&self) -> &CancellationToken {
        &self.0.cut
    }

    fn close_reason(&self) -> String {
        let why = self.0.why.lock().unpoisoned();
        why.clone().unwrap_or_else(|| "it is gone".into())
    }

    async fn tools_changed(&self) {
        self.0.changed.notified().await;
    }

    fn stop_logging(&self) {
        self.0.hushed.store(true, Ordering::Relaxed);
    }

    fn is_shared(&self) -> bool {
        self.0.lock_pending().len() > 1
    }
}
