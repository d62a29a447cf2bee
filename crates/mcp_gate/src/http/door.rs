//! Who gets which session, and how many there may be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::digest::Digest;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::{INTERNAL_ERROR, INVALID_REQUEST, RpcKind, RpcMessage};

use super::post::{Post, RefusedPost, parse_post};
use super::session::{DoorSession, SessionEra, StreamGuard};
use super::streams::StreamEvent;
use crate::config::{ToolNaming, UpstreamConfig};
use crate::definitions::SharedPins;
use crate::gate::HoldService;
use crate::limits::{SESSION_IDLE, SESSIONS_MAX, SESSIONS_PER_CALLER_MAX, SWEEP_EVERY};
use crate::question_waiters::QuestionWaiters;
use crate::random::fresh_key;
use crate::reply::RpcFailure;
use crate::translate::shapes::announced_capabilities;

/// One address, and the upstreams behind it.
pub struct DoorRoute {
    pub naming: ToolNaming,
    /// Definitions are pinned once for all callers.
    pub upstreams: Vec<(UpstreamConfig, SharedPins)>,
    pub wait: Duration,
    pub answer_in_client: bool,
}

/// Who is calling, as found out before.
pub struct DoorCaller {
    /// Of their token: sessions of one are not those of another.
    pub token: Digest,
    pub service: Arc<dyn HoldService>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorMethod {
    Post,
    Get,
    Delete,
}

pub struct DoorRequest {
    pub method: DoorMethod,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl DoorRequest {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.clone())
    }

    /// The error says that it stands there twice, and so says two things.
    pub(super) fn only_header(&self, name: &str) -> Result<Option<String>, String> {
        let mut found = self.headers.iter().filter(|(header, _)| header == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the header `{name}` stands twice")),
            (first, None) => Ok(first.map(|(_, value)| value.clone())),
        }
    }
}

pub enum DoorReply {
    Answer {
        status: u16,
        /// The id of a session that was begun.
        session: Option<String>,
        body: Vec<u8>,
    },
    Stream(DoorStream),
    /// A message that has no answer was taken.
    Accepted,
    /// A session was ended.
    Ended,
    WrongMethod,
}

impl From<RefusedPost> for DoorReply {
    fn from(refused: RefusedPost) -> DoorReply {
        DoorReply::Answer { status: refused.status, session: None, body: refused.body }
    }
}

/// Messages of a reply, until the last one.
pub struct DoorStream {
    pub session: Option<String>,
    first: Option<StreamEvent>,
    events: mpsc::Receiver<StreamEvent>,
    stopped: CancellationToken,
    /// Dropped with the stream: then the client is gone.
    _guard: Option<StreamGuard>,
    is_over: bool,
}

impl DoorStream {
    pub(super) fn new(
        first: Option<StreamEvent>,
        events: mpsc::Receiver<StreamEvent>,
        guard: Option<StreamGuard>,
    ) -> DoorStream {
        let stopped = CancellationToken::new();
        DoorStream { session: None, first, events, stopped, _guard: guard, is_over: false }
    }

    /// `None`: that was all.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        if self.is_over {
            return None;
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => tokio::select! {
                biased;
                next = self.events.recv() => next,
                () = self.stopped.cancelled() => None,
            },
        };
        self.is_over = next.as_ref().is_none_or(|event| event.is_last);
        next
    }
}

/// All sessions of all callers.
pub struct McpDoor {
    /// By the name of an upstream; the empty one is all of them.
    routes: HashMap<String, DoorRoute>,
    sessions: Mutex<SessionTable>,
    waiters: Arc<QuestionWaiters>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

#[derive(Default)]
struct SessionTable {
    legacy: HashMap<String, LegacySession>,
    modern: HashMap<(Digest, String), Arc<DoorSession>>,
}

struct LegacySession {
    token: Digest,
    route: String,
    session: Arc<DoorSession>,
}

enum SessionKey {
    Legacy(String),
    Modern((Digest, String)),
}

impl SessionTable {
    fn count(&self) -> usize {
        self.legacy.len() + self.modern.len()
    }

    fn count_of(&self, token: Digest) -> usize {
        let legacy = self.legacy.values().filter(|session| session.token == token).count();
        legacy + self.modern.keys().filter(|(of, _)| *of == token).count()
    }

    fn has_room(&self, token: Digest) -> bool {
        self.count() < SESSIONS_MAX && self.count_of(token) < SESSIONS_PER_CALLER_MAX
    }

    /// Takes out the session of this token that has been idle longest, and first one whose upstreams are gone. `None`:
    /// all are in use.
    fn take_longest_idle(&mut self, token: Digest) -> Option<Arc<DoorSession>> {
        let rank = |session: &DoorSession| {
            let can_end = session.is_gone() || session.is_idle(Duration::ZERO);
            can_end.then(|| (!session.is_gone(), session.last_used()))
        };
        let legacy = self.legacy.iter().filter(|(_, kept)| kept.token == token);
        let legacy = legacy
            .filter_map(|(id, kept)| Some((rank(&kept.session)?, SessionKey::Legacy(id.clone()))));
        let modern = self.modern.iter().filter(|((of, _), _)| *of == token);
        let modern = modern
            .filter_map(|(key, session)| Some((rank(session)?, SessionKey::Modern(key.clone()))));
        match legacy.chain(modern).min_by_key(|(rank, _)| *rank)?.1 {
            SessionKey::Legacy(id) => self.legacy.remove(&id).map(|kept| kept.session),
            SessionKey::Modern(key) => self.modern.remove(&key),
        }
    }
}

impl McpDoor {
    /// Must be called inside a runtime: idle sessions are ended by a task.
    pub fn new(routes: HashMap<String, DoorRoute>) -> Arc<McpDoor> {
        let door = Arc::new(McpDoor {
            routes,
            sessions: Mutex::default(),
            waiters: Arc::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        });
        let weak = Arc::downgrade(&door);
        let closing = door.closing.clone();
        door.tasks.spawn(async move {
            let mut ticks = tokio::time::interval(SWEEP_EVERY);
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = closing.cancelled() => return,
                }
                let Some(door) = weak.upgrade() else { return };
                door.sweep(SESSION_IDLE);
            }
        });
        door
    }

    fn lock(&self) -> MutexGuard<'_, SessionTable> {
        self.sessions.lock().unpoisoned()
    }

    pub fn has_route(&self, route: &str) -> bool {
        self.routes.contains_key(route)
    }

    /// Ends sessions that nobody uses, and those whose upstreams are gone.
    fn sweep(&self, idle: Duration) {
        let mut ended = Vec::new();
        {
            let mut table = self.lock();
            let is_over = |session: &Arc<DoorSession>| session.is_idle(idle) || session.is_gone();
            table.legacy.retain(|_, kept| {
                let over = is_over(&kept.session);
                if over {
                    ended.push(kept.session.clone());
                }
                !over
            });
            table.modern.retain(|_, session| {
                let over = is_over(session);
                if over {
                    ended.push(session.clone());
                }
                !over
            });
        }
        ended.into_iter().for_each(|session| self.end(session));
    }

    fn end(&self, session: Arc<DoorSession>) {
        session.stop();
        self.tasks.spawn(async move { session.wait_stopped().await });
    }

    /// Ends everything. Questions stay open, and are found again by the same call.
    pub async fn close(&self) {
        self.closing.cancel();
        let sessions: Vec<Arc<DoorSession>> = {
            let mut table = self.lock();
            let legacy = table.legacy.drain().map(|(_, kept)| kept.session).collect::<Vec<_>>();
            legacy.into_iter().chain(table.modern.drain().map(|(_, session)| session)).collect()
        };
        sessions.into_iter().for_each(|session| self.end(session));
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub async fn take(&self, route: &str, caller: DoorCaller, request: DoorRequest) -> DoorReply {
        if self.closing.is_cancelled() {
            return refuse(503, INTERNAL_ERROR, "the server is stopping; try again in a moment");
        }
        match request.method {
            DoorMethod::Post => match parse_post(&request) {
                Err(refused) => refused.into(),
                Ok(Post::Modern(message)) => self.take_modern(route, caller, message).await,
                Ok(Post::Legacy(message)) => {
                    self.take_legacy(route, caller, &request, message).await
                }
            },
            DoorMethod::Get => self.take_get(route, &caller, &request),
            DoorMethod::Delete => match self.find_legacy(route, &caller, &request) {
                Ok((id, session)) => {
                    self.lock().legacy.remove(&id);
                    self.end(session);
                    DoorReply::Ended
                }
                Err(refused) => refused,
            },
        }
    }

    fn take_get(&self, route: &str, caller: &DoorCaller, request: &DoorRequest) -> DoorReply {
        // Modern clients listen with a POST.
        if request.header("mcp-session-id").is_none() {
            return DoorReply::WrongMethod;
        }
        match self.find_legacy(route, caller, request) {
            Ok((_, session)) => {
                let reply = session.listen(request.header("last-event-id").as_deref());
                with_end(reply, &session, None)
            }
            Err(refused) => refused,
        }
    }

    /// The session of this caller. That another has one of this id is not told.
    fn find_legacy(
        &self,
        route: &str,
        caller: &DoorCaller,
        request: &DoorRequest,
    ) -> Result<(String, Arc<DoorSession>), DoorReply> {
        let Some(id) = request.header("mcp-session-id") else {
            let why = "begin with `initialize`, and send its `Mcp-Session-Id` with every request";
            return Err(refuse(400, INVALID_REQUEST, why));
        };
        let table = self.lock();
        let found = table.legacy.get(&id);
        let found = found.filter(|kept| kept.token == caller.token && kept.route == route);
        match found {
            Some(kept) if !kept.session.is_gone() => Ok((id, kept.session.clone())),
            _ => Err(refuse(404, INVALID_REQUEST, "there is no such session; begin a new one")),
        }
    }

    async fn take_legacy(
        &self,
        route: &str,
        caller: DoorCaller,
        request: &DoorRequest,
        message: RpcMessage,
    ) -> DoorReply {
        let is_handshake =
            matches!(&message.kind, RpcKind::Request { method, .. } if method == "initialize");
        if !is_handshake || request.header("mcp-session-id").is_some() {
            return match self.find_legacy(route, &caller, request) {
                Ok(_) if is_handshake => {
                    refuse(400, INVALID_REQUEST, "the session has begun already")
                }
                Ok((_, session)) => {
                    let reply = session.take(message).await;
                    with_end(reply, &session, None)
                }
                Err(refused) => refused,
            };
        }
        let Ok(id) = fresh_key() else {
            return refuse(500, INTERNAL_ERROR, "no session can be begun now");
        };
        let token = caller.token;
        let session = match self.begin(SessionEra::Legacy, route, caller) {
            Ok(session) => session,
            Err(refused) => return refused,
        };
        let kept = LegacySession { token, route: route.to_owned(), session: session.clone() };
        self.lock().legacy.insert(id.clone(), kept);
        let reply = session.take(message).await;
        if let DoorReply::Answer { body, .. } = &reply
            && RpcMessage::parse(body).is_ok_and(|answer| answer.object.get("error").is_some())
        {
            self.lock().legacy.remove(&id);
            self.end(session);
            return reply;
        }
        with_end(reply, &session, Some(id))
    }

    async fn take_modern(&self, route: &str, caller: DoorCaller, message: RpcMessage) -> DoorReply {
        // What the client can be asked is announced to its upstreams, so clients that differ in it share none.
        let key = (caller.token, format!("{route}\n{}", announced_capabilities(&message)));
        let known = self.lock().modern.get(&key).filter(|session| !session.is_gone()).cloned();
        let session = match known {
            Some(session) => session,
            None => {
                let begun = match self.begin(SessionEra::Modern, route, caller) {
                    Ok(session) => session,
                    Err(refused) => return refused,
                };
                let mut table = self.lock();
                let there = table.modern.get(&key).filter(|session| !session.is_gone()).cloned();
                match there {
                    // Another request was quicker.
                    Some(there) => {
                        drop(table);
                        self.end(begun);
                        there
                    }
                    None => {
                        let old = table.modern.insert(key, begun.clone());
                        drop(table);
                        if let Some(old) = old {
                            self.end(old);
                        }
                        begun
                    }
                }
            }
        };
        let reply = session.take(message).await;
        with_end(reply, &session, None)
    }

    /// Clients seldom say that they are done with a session, so what a caller no longer uses gives way to what it begins.
    fn make_room(&self, token: Digest) -> bool {
        if self.lock().count() >= SESSIONS_MAX {
            self.sweep(SESSION_IDLE / 10);
        }
        let mut table = self.lock();
        let idle = if table.has_room(token) { None } else { table.take_longest_idle(token) };
        let has_room = table.has_room(token);
        drop(table);
        if let Some(idle) = idle {
            self.end(idle);
        }
        has_room
    }

    fn begin(
        &self,
        era: SessionEra,
        route: &str,
        caller: DoorCaller,
    ) -> Result<Arc<DoorSession>, DoorReply> {
        let Some(found) = self.routes.get(route) else {
            return Err(refuse(404, INVALID_REQUEST, "there is no such MCP server"));
        };
        if !self.make_room(caller.token) {
            let why =
                "too many MCP sessions are open, and all are in use; end one with DELETE, or wait";
            return Err(refuse(503, INTERNAL_ERROR, why));
        }
        DoorSession::start(era, found, caller.service, self.waiters.clone()).map_err(|error| {
            let why = format!("{error:#}");
            tracing::warn!(route, %why, "MCP upstream cannot be started");
            refuse(502, INTERNAL_ERROR, &why)
        })
    }
}

/// A stream ends with its session.
fn with_end(mut reply: DoorReply, session: &Arc<DoorSession>, id: Option<String>) -> DoorReply {
    match &mut reply {
        DoorReply::Stream(stream) => {
            stream.stopped = session.gone_token();
            stream.session = id;
        }
        DoorReply::Answer { session, .. } => *session = id,
        DoorReply::Accepted | DoorReply::Ended | DoorReply::WrongMethod => {}
    }
    reply
}

fn refuse(status: u16, code: i64, why: &str) -> DoorReply {
    RefusedPost::new(status, None, RpcFailure::new(code, why)).into()
}
