//! One MCP server behind the gate: a child of ours with one message a line on its pipes, or a service.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};

use domain::visible::visible;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use ports::unpoisoned::Unpoisoned as _;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tools::mcp::limits::{GARBAGE_LINES_MAX, MESSAGE_BYTES_MAX};
use tools::mcp::{HeardMessage, RawHttpLink, RawObject, RpcId, RpcKind, RpcMessage, next_line};

use crate::config::{UpstreamConfig, UpstreamProgram, UpstreamReach, UpstreamService};
use crate::definitions::{DefinitionGate, SharedPins};
use crate::limits::{UPSTREAM_ENDS_WITHIN, UPSTREAM_OUTBOX_MAX};
use crate::service_pump::ServicePump;
use crate::translate::found::UpstreamEra;

pub struct Upstream {
    pub config: UpstreamConfig,
    pub(crate) definitions: DefinitionGate,
    lines: mpsc::Sender<Vec<u8>>,
    /// Requests whose answers we want ourselves.
    waiting: Mutex<HashMap<RpcId, WaitingAnswer>>,
    gone: CancellationToken,
    why: Mutex<Option<String>>,
    pub(crate) era: UpstreamEra,
    /// The wire to a service.
    link: Option<Arc<RawHttpLink>>,
}

type WaitingAnswer = oneshot::Sender<Result<RpcMessage, UpstreamError>>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamError {
    /// It never got the request.
    NotSent(String),
    /// It may have got it; what it did stays unknown.
    Lost(String),
}

impl UpstreamError {
    pub(crate) fn into_why(self) -> String {
        let (UpstreamError::NotSent(why) | UpstreamError::Lost(why)) = self;
        why
    }
}

/// The wire, before a task keeps it running.
pub struct UpstreamWire {
    end: WireEnd,
    lines: mpsc::Receiver<Vec<u8>>,
}

enum WireEnd {
    Program(Box<Child>),
    Service(Arc<RawHttpLink>),
}

/// Why nothing goes on in a session with a service whose connection is another one now.
pub(crate) const OTHER_CONSENT: &str =
    "it was connected anew meanwhile, perhaps with another account";

/// Variables that a program needs to be a program at all; whatever else it gets is in its configuration.
const PLAIN_VARIABLES: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER"];

impl Upstream {
    pub fn start(
        config: UpstreamConfig,
        pins: SharedPins,
    ) -> anyhow::Result<(Arc<Upstream>, UpstreamWire)> {
        let end = match &config.reach {
            UpstreamReach::Program(program) => WireEnd::Program(Box::new(start_program(program)?)),
            UpstreamReach::Service(UpstreamService { url, headers, authorizer }) => {
                let link = RawHttpLink::new(url, headers, authorizer.clone());
                let name = &config.name;
                let unusable = |why| anyhow::anyhow!("the MCP server `{name}` is unusable: {why}");
                WireEnd::Service(Arc::new(link.map_err(unusable)?))
            }
        };
        let link = match &end {
            WireEnd::Service(link) => Some(link.clone()),
            WireEnd::Program(_) => None,
        };
        let (to, lines) = mpsc::channel(UPSTREAM_OUTBOX_MAX);
        let upstream = Upstream {
            config,
            definitions: DefinitionGate::new(pins),
            lines: to,
            waiting: Mutex::default(),
            gone: CancellationToken::new(),
            why: Mutex::default(),
            era: UpstreamEra::default(),
            link,
        };
        Ok((Arc::new(upstream), UpstreamWire { end, lines }))
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    fn lock_waiting(&self) -> MutexGuard<'_, HashMap<RpcId, WaitingAnswer>> {
        self.waiting.lock().unpoisoned()
    }

    /// Why it is not there any more, if it is not.
    pub fn gone(&self) -> Option<String> {
        if self.link.as_ref().is_some_and(|link| link.has_other_consent()) {
            self.hang_up(OTHER_CONSENT.into());
        }
        let why = self.why.lock().unpoisoned().clone();
        self.gone.is_cancelled().then(|| {
            let why = why.unwrap_or_else(|| "it was stopped".into());
            format!(
                "the MCP server `{}` is gone: {why}; begin a new session, or start the proxy again",
                self.name()
            )
        })
    }

    pub fn stop(&self) {
        self.gone.cancel();
    }

    /// The error says why it did not get the message.
    pub fn send(&self, object: &RawObject) -> Result<(), String> {
        if let Some(why) = self.gone() {
            return Err(why);
        }
        self.lines.try_send(object.to_line()).map_err(|_| {
            format!("the MCP server `{}` does not take any more messages", self.name())
        })
    }

    /// Sends a request and waits for its answer, however long that takes.
    pub async fn request(
        &self,
        id: &RpcId,
        object: &RawObject,
    ) -> Result<RpcMessage, UpstreamError> {
        let (tell, answered) = oneshot::channel();
        self.lock_waiting().insert(id.clone(), tell);
        let _waiting = WaitingGuard(self, id);
        self.send(object).map_err(UpstreamError::NotSent)?;
        tokio::select! {
            biased;
            Ok(answer) = answered => answer,
            () = self.gone.cancelled() => {
                Err(UpstreamError::Lost(self.gone().unwrap_or_default()))
            }
        }
    }

    /// Whether a request of ours waited for this answer.
    pub fn complete(&self, id: &RpcId, answer: RpcMessage) -> Option<RpcMessage> {
        match self.lock_waiting().remove(id) {
            Some(waiting) => {
                let _ = waiting.send(Ok(answer));
                None
            }
            None => Some(answer),
        }
    }

    /// Whether a request of ours waited for the answer that will not come.
    pub(crate) fn fail(&self, id: &RpcId, error: UpstreamError) -> bool {
        let waiting = self.lock_waiting().remove(id);
        waiting.is_some_and(|waiting| waiting.send(Err(error)).is_ok())
    }

    pub(crate) fn gone_token(&self) -> &CancellationToken {
        &self.gone
    }

    pub(crate) fn hang_up(&self, why: String) {
        self.why.lock().unpoisoned().get_or_insert(why);
        self.gone.cancel();
    }
}

/// Forgets a request that is no longer waited for.
struct WaitingGuard<'a>(&'a Upstream, &'a RpcId);

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.lock_waiting().remove(self.1);
    }
}

impl UpstreamWire {
    /// Carries messages until the upstream is gone or stopped, and sees to it that it ends.
    pub async fn pump(self, upstream: &Upstream, messages: mpsc::Sender<HeardMessage>) {
        match self.end {
            WireEnd::Program(child) => pump_pipes(*child, self.lines, upstream, messages).await,
            WireEnd::Service(link) => {
                ServicePump::new(link, upstream, messages).run(self.lines).await;
            }
        }
    }
}

fn start_program(program: &UpstreamProgram) -> anyhow::Result<Child> {
    let mut command = Command::new(&program.program);
    if !program.inherits {
        command.env_clear();
        // Nobody reads along, and it could fill the server's log.
        command.stderr(Stdio::null());
        command
            .envs(PLAIN_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    command
        .args(&program.args)
        .envs(&program.env)
        // What it may do is ours to ask about, and not its own to answer.
        .env_remove("HOLDPOINT_TOKEN")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    command.spawn().map_err(|error| {
        let shown = visible(&program.program);
        anyhow::anyhow!("the MCP server `{shown}` cannot be started: {error}")
    })
}

async fn pump_pipes(
    mut child: Child,
    mut lines: mpsc::Receiver<Vec<u8>>,
    upstream: &Upstream,
    messages: mpsc::Sender<HeardMessage>,
) {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return upstream.hang_up("it has no pipes".into());
    };
    let write = async {
        while let Some(mut line) = lines.recv().await {
            line.push(b'\n');
            if let Err(error) = stdin.write_all(&line).await {
                return format!("it no longer listens: {error}");
            }
        }
        "nobody needs it any more".to_owned()
    };
    let why = tokio::select! {
        why = read_messages(BufReader::new(stdout), messages) => why,
        why = write => why,
        () = upstream.gone.cancelled() => "it was stopped".to_owned(),
    };
    upstream.hang_up(why);
    // The end of its input tells it to leave.
    drop(stdin);
    let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    let ended = tokio::time::timeout(UPSTREAM_ENDS_WITHIN, child.wait()).await;
    // While it lives, the group's id is its own.
    if let (Err(_), Some(group)) = (ended, group) {
        let _ = killpg(group, Signal::SIGKILL);
    }
    let _ = child.wait().await;
}

async fn read_messages(
    mut from: BufReader<ChildStdout>,
    messages: mpsc::Sender<HeardMessage>,
) -> String {
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
        match RpcMessage::parse(&line) {
            Ok(message) => {
                if messages.send((None, message)).await.is_err() {
                    return "nobody needs it any more".into();
                }
            }
            Err(_) => {
                garbage += 1;
                if garbage > GARBAGE_LINES_MAX {
                    return "it printed too much on its standard output that is no protocol".into();
                }
            }
        }
    }
}

/// Whether a message is an answer, and to what.
pub fn response_id(message: &RpcMessage) -> Option<RpcId> {
    match &message.kind {
        RpcKind::Response { id } => Some(id.clone()),
        RpcKind::Request { .. } | RpcKind::Notification { .. } => None,
    }
}
