//! One client's side of the door: its gate, its upstreams, and the streams on which it is answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::{INVALID_REQUEST, RpcId, RpcKind, RpcMessage};

use super::door::{DoorReply, DoorRoute, DoorStream};
use super::post::RefusedPost;
use super::streams::{NoStream, RequestStreams, StreamEvent, internal_id};
use crate::gate::{HoldGate, HoldService};
use crate::limits::{LEAVE_WITHIN, OUTBOX_MAX, STREAM_AFTER};
use crate::question_waiters::QuestionWaiters;
use crate::reply::RpcFailure;
use crate::session::{ProxyOptions, ProxySession};
use crate::upstream::Upstream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionEra {
    Legacy,
    Modern,
}

pub(super) struct DoorSession {
    era: SessionEra,
    proxy: Arc<ProxySession>,
    streams: Arc<RequestStreams>,
    upstreams: Vec<Arc<Upstream>>,
    tasks: TaskTracker,
    last_used: Mutex<Instant>,
    /// Requests that are being taken right now, before they have a stream.
    entering: AtomicU64,
}

impl DoorSession {
    pub(super) fn start(
        era: SessionEra,
        route: &DoorRoute,
        service: Arc<dyn HoldService>,
        waiters: Arc<QuestionWaiters>,
    ) -> anyhow::Result<Arc<DoorSession>> {
        let streams = Arc::new(RequestStreams::new(era == SessionEra::Legacy));
        let tasks = TaskTracker::new();
        let mut started = Vec::new();
        for (config, pins) in &route.upstreams {
            match Upstream::start(config.clone(), pins.clone()) {
                Ok(upstream) => started.push(upstream),
                Err(error) if route.upstreams.len() == 1 => return Err(error),
                // The others can be used without it.
                Err(error) => tracing::warn!(upstream = %config.name, "left out: {error:#}"),
            }
        }
        anyhow::ensure!(!started.is_empty(), "none of the MCP servers can be started");
        let upstreams: Vec<Arc<Upstream>> =
            started.iter().map(|(upstream, _)| upstream.clone()).collect();
        let options = ProxyOptions {
            naming: route.naming,
            wait: route.wait,
            answer_in_client: route.answer_in_client,
            reuses_ids: false,
            warn: |what| tracing::warn!("{what}"),
        };
        let proxy = ProxySession::new(
            HoldGate::new(service, waiters),
            streams.clone(),
            upstreams.clone(),
            options,
            tasks.clone(),
        )?;
        for (index, (upstream, wire)) in started.into_iter().enumerate() {
            let (to, from) = mpsc::channel(OUTBOX_MAX);
            tasks.spawn(async move { wire.pump(&upstream, to).await });
            tasks.spawn(proxy.clone().pass_messages(index, from));
        }
        let last_used = Mutex::new(Instant::now());
        let entering = AtomicU64::new(0);
        Ok(Arc::new(DoorSession { era, proxy, streams, upstreams, tasks, last_used, entering }))
    }

    /// Whether nobody has used it for that long, and nothing waits in it.
    pub(super) fn is_idle(&self, after: Duration) -> bool {
        let is_old = self.last_used.lock().unpoisoned().elapsed() >= after;
        is_old
            && self.entering.load(Ordering::Acquire) == 0
            && self.streams.is_quiet()
            && !self.proxy.has_open_tasks()
    }

    pub(super) fn last_used(&self) -> Instant {
        *self.last_used.lock().unpoisoned()
    }

    /// Whether it can serve at all: a program that ended takes its sessions with it.
    pub(super) fn is_gone(&self) -> bool {
        self.upstreams.iter().all(|upstream| upstream.gone().is_some())
    }

    pub(super) fn touch(&self) {
        *self.last_used.lock().unpoisoned() = Instant::now();
    }

    pub(super) fn stop(&self) {
        self.proxy.stop();
        self.tasks.close();
        self.proxy.reports.close();
    }

    pub(super) async fn wait_stopped(&self) {
        let ended = async { tokio::join!(self.tasks.wait(), self.proxy.reports.wait()) };
        let _ = tokio::time::timeout(LEAVE_WITHIN, ended).await;
    }

    /// One message of the client.
    pub(super) async fn take(self: &Arc<Self>, message: RpcMessage) -> DoorReply {
        self.touch();
        self.entering.fetch_add(1, Ordering::AcqRel);
        let _entering = EnteringGuard(&self.entering);
        match message.kind.clone() {
            RpcKind::Request { id, .. } => self.take_request(&id, message).await,
            RpcKind::Notification { method } if method == "notifications/cancelled" => {
                self.take_cancellation(&message);
                DoorReply::Accepted
            }
            // In the modern era a client says nothing by itself, and answers with the call that it sends again.
            RpcKind::Notification { .. } | RpcKind::Response { .. }
                if self.era == SessionEra::Modern =>
            {
                DoorReply::Accepted
            }
            RpcKind::Notification { .. } | RpcKind::Response { .. } => {
                self.proxy.clone().take_client(message).await;
                DoorReply::Accepted
            }
        }
    }

    fn take_cancellation(&self, message: &RpcMessage) {
        let id = message
            .params()
            .and_then(|params| serde_json::from_str::<RpcId>(params.get("requestId")?.get()).ok());
        if let (Some(id), SessionEra::Legacy) = (id, self.era)
            && let Some(number) = self.streams.find(&id)
        {
            self.cancel(number);
        }
    }

    fn cancel(&self, number: u64) {
        if self.streams.close(number) {
            self.proxy.cancel(&internal_id(number), "the client no longer waits");
        }
    }

    async fn take_request(self: &Arc<Self>, id: &RpcId, message: RpcMessage) -> DoorReply {
        let (number, message, mut events) = match self.streams.open(id, message) {
            Ok(open) => open,
            Err(why) => {
                let (status, why) = match why {
                    NoStream::IdInUse => (400, "this id is in use"),
                    NoStream::TooMany => {
                        (429, "too many requests wait already; wait for one of them")
                    }
                };
                let failure = RpcFailure::new(INVALID_REQUEST, why);
                return RefusedPost::new(status, Some(id), failure).into();
            }
        };
        let guard = StreamGuard { session: self.clone(), number };
        self.proxy.clone().take_client(message).await;
        // An answer that comes soon is a plain reply, with the status that belongs to it.
        match tokio::time::timeout(STREAM_AFTER, events.recv()).await {
            Ok(Some(StreamEvent { data, is_last: true, .. })) => {
                DoorReply::Answer { status: self.status_of(&data), session: None, body: data }
            }
            Ok(first) => DoorReply::Stream(DoorStream::new(first, events, Some(guard))),
            Err(_) => DoorReply::Stream(DoorStream::new(None, events, Some(guard))),
        }
    }

    /// Modern clients also read the status.
    fn status_of(&self, answer: &[u8]) -> u16 {
        if self.era == SessionEra::Legacy {
            return 200;
        }
        let error =
            RpcMessage::parse(answer).ok().and_then(|answer| answer.object.get_object("error"));
        let code = error.and_then(|error| error.get("code")?.get().trim().parse::<i64>().ok());
        match code {
            Some(-32601) => 404,
            Some(-32700 | -32600 | -32602 | -32020 | -32021 | -32022) => 400,
            _ => 200,
        }
    }

    /// The standing stream of a session, or the rest of one that was cut.
    pub(super) fn listen(self: &Arc<Self>, last_event: Option<&str>) -> DoorReply {
        self.touch();
        DoorReply::Stream(DoorStream::new(None, self.streams.attach(last_event), None))
    }

    pub(super) fn gone_token(&self) -> CancellationToken {
        self.proxy.stopped.clone()
    }
}

struct EnteringGuard<'a>(&'a AtomicU64);

impl Drop for EnteringGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Ends with the reply to a request. A modern client that closes it no longer wants the answer; a legacy one may come back.
pub(super) struct StreamGuard {
    session: Arc<DoorSession>,
    number: u64,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.session.touch();
        if self.session.era == SessionEra::Modern {
            self.session.cancel(self.number);
        }
    }
}
