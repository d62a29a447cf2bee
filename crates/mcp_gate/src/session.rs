//! The proxy between one client and its upstreams: who gets which message.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::mcp::{
    HeardMessage, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RawObject, RpcId, RpcKind,
    RpcMessage,
};

use crate::config::ToolNaming;
use crate::era::{ClientEra, RequestMeta, SERVER_INFO_KEY};
use crate::gate::HoldGate;
use crate::handshake::Handshake;
use crate::limits::CALLS_MAX;
use crate::merge::{METHOD_NOT_FOUND, MergeState};
use crate::peer::ClientLink;
use crate::random::fresh_key;
use crate::reply::{RpcFailure, error_line, notification_line, result_line};
use crate::retired_ids::RetiredIds;
use crate::states::RequestStates;
use crate::tasks::{TaskId, TaskTable, announce_tasks};
use crate::translate::found::client_era;
use crate::translate::held_calls::HeldCalls;
use crate::translate::listen::Listeners;
use crate::upstream::{Upstream, response_id};

pub struct ProxyOptions {
    pub naming: ToolNaming,
    pub wait: Duration,
    pub answer_in_client: bool,
    /// Whether the client chooses the ids of requests, and may use one again that it cancelled.
    pub reuses_ids: bool,
    /// Tells the operator what is wrong with an upstream.
    pub warn: fn(&str),
}

pub struct ProxySession {
    pub(crate) gate: HoldGate,
    pub(crate) options: ProxyOptions,
    pub(crate) upstreams: Vec<Arc<Upstream>>,
    pub(crate) states: RequestStates,
    pub(crate) call_tasks: TaskTable,
    pub(crate) tracker: TaskTracker,
    /// What is still to be said to the server about calls that ended.
    pub reports: TaskTracker,
    pub(crate) merge: MergeState,
    out: Arc<dyn ClientLink>,
    requests: Mutex<HashMap<RpcId, ClientRequest>>,
    /// Ids of cancelled requests: what an upstream still answers under one is no answer to another request.
    retired: Mutex<RetiredIds>,
    /// What we asked the client ourselves.
    asked: Mutex<HashMap<RpcId, oneshot::Sender<RpcMessage>>>,
    pub(crate) handshake: Mutex<Handshake>,
    pub(crate) held: Arc<HeldCalls>,
    pub(crate) listeners: Listeners,
    own_prefix: String,
    next: AtomicU64,
    /// Nothing more is served.
    pub stopped: CancellationToken,
}

/// A request of the client that has no answer yet, and where it is.
pub(crate) enum ClientRequest {
    /// With us: a call that waits for people, or something that we answer ourselves.
    Held {
        cancelled: CancellationToken,
    },
    Sent {
        upstream: usize,
        method: String,
    },
}

impl ProxySession {
    pub fn new(
        gate: HoldGate,
        out: Arc<dyn ClientLink>,
        upstreams: Vec<Arc<Upstream>>,
        options: ProxyOptions,
        tracker: TaskTracker,
    ) -> anyhow::Result<Arc<ProxySession>> {
        Ok(Arc::new(ProxySession {
            gate,
            options,
            upstreams,
            states: RequestStates::default(),
            call_tasks: TaskTable::default(),
            tracker,
            reports: TaskTracker::new(),
            merge: MergeState::default(),
            out,
            requests: Mutex::default(),
            retired: Mutex::default(),
            asked: Mutex::default(),
            handshake: Mutex::default(),
            held: Arc::default(),
            listeners: Listeners::default(),
            own_prefix: format!("holdpoint-{}-", fresh_key()?),
            next: AtomicU64::new(1),
            stopped: CancellationToken::new(),
        }))
    }

    pub(crate) fn out(&self) -> &dyn ClientLink {
        &*self.out
    }

    /// An id that nobody else can have.
    pub(crate) fn own_id(&self) -> RpcId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RpcId::Text(format!("{}{number}", self.own_prefix))
    }

    pub(crate) fn is_own_id(&self, id: &RpcId) -> bool {
        matches!(id, RpcId::Text(text) if text.starts_with(&self.own_prefix))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.gate.service().now()
    }

    pub(crate) fn lock_requests(&self) -> MutexGuard<'_, HashMap<RpcId, ClientRequest>> {
        self.requests.lock().unpoisoned()
    }

    /// What the upstream still answers under this id is no answer to another request.
    pub(crate) fn retire(&self, id: &RpcId) {
        if self.options.reuses_ids {
            self.retired.lock().unpoisoned().add(id);
        }
    }

    /// Whether a task waits for people, or runs.
    pub fn has_open_tasks(&self) -> bool {
        self.call_tasks.has_working()
    }

    pub fn stop(&self) {
        self.stopped.cancel();
        self.upstreams.iter().for_each(|upstream| upstream.stop());
    }

    pub(crate) async fn reply_error(&self, id: &RpcId, failure: RpcFailure) {
        if self.lock_requests().remove(id).is_some() {
            self.out.finish(id, error_line(Some(id), failure)).await;
        }
    }

    pub(crate) async fn reply(&self, id: &RpcId, result: &impl serde::Serialize) {
        if self.lock_requests().remove(id).is_some() {
            self.out.finish(id, result_line(id, result)).await;
        }
    }

    /// What an upstream answered, as it answered it.
    pub(crate) async fn reply_as_is(&self, id: &RpcId, response: &RpcMessage) {
        if self.lock_requests().remove(id).is_some() {
            self.out.finish(id, response.object.to_line()).await;
        }
    }

    pub async fn take_client(self: Arc<Self>, message: RpcMessage) {
        match &message.kind {
            RpcKind::Request { id, method } => {
                let (id, method) = (id.clone(), method.clone());
                if let Err(failure) = self.accept_request(&id) {
                    return self.out.finish(&id, error_line(Some(&id), failure)).await;
                }
                if let Err(failure) = self.clone().take_request(&id, &method, message).await {
                    self.reply_error(&id, failure).await;
                }
            }
            RpcKind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel_request(&message);
            }
            RpcKind::Notification { method } if method.starts_with("notifications/") => {
                // A handshake, and that roots change, mean nothing to an upstream without one.
                let is_of_handshakes = LEGACY_NOTICES.contains(&method.as_str());
                for upstream in &self.upstreams {
                    if !is_of_handshakes || upstream.era.era() != Some(ClientEra::Modern) {
                        let _ = upstream.send(&message.object);
                    }
                }
                if method == LEGACY_NOTICES[0] {
                    self.listen_for_legacy();
                }
            }
            // A call without an id is none, but an upstream could carry it out all the same.
            RpcKind::Notification { .. } => {}
            RpcKind::Response { id } => self.take_answer(&id.clone(), message),
        }
    }

    fn accept_request(&self, id: &RpcId) -> Result<(), RpcFailure> {
        let mut requests = self.lock_requests();
        let is_retired = self.retired.lock().unpoisoned().contains(id);
        if requests.contains_key(id) || is_retired || self.is_own_id(id) {
            return Err(RpcFailure::new(INVALID_REQUEST, "this id is in use"));
        }
        if requests.len() >= CALLS_MAX {
            let why = "too many requests wait already; wait for one of them";
            return Err(RpcFailure::new(INVALID_REQUEST, why));
        }
        let held = ClientRequest::Held { cancelled: CancellationToken::new() };
        requests.insert(id.clone(), held);
        Ok(())
    }

    async fn take_request(
        self: Arc<Self>,
        id: &RpcId,
        method: &str,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        if method == "initialize" {
            self.note_handshake(&message);
        }
        if let Err(version) = RequestMeta::parse(&message) {
            return Err(RpcFailure::unspoken(&version));
        }
        match method {
            "tools/call" => self.start_call(id, message),
            // An upstream may read names more generously than we do.
            _ if is_like_call(method) => {
                Err(RpcFailure::new(METHOD_NOT_FOUND, "write the method as `tools/call`"))
            }
            "tasks/get" | "tasks/cancel" | "tasks/update" => {
                let task = task_id(&message);
                match task {
                    Some(task) if self.find_or_resume_task(&task).await => {
                        self.take_task_request(id, method, &task, &message).await
                    }
                    _ => self.take_other(id, method, message).await,
                }
            }
            _ => self.take_other(id, method, message).await,
        }
    }

    /// What we do not answer ourselves.
    async fn take_other(
        self: Arc<Self>,
        id: &RpcId,
        method: &str,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        match self.options.naming {
            // Its upstreams may have to be met first, and that takes its time.
            ToolNaming::Prefixed if client_era(&message) == ClientEra::Modern => {
                let (session, id, method) = (self.clone(), id.clone(), method.to_owned());
                self.tracker.spawn(async move {
                    let taken = session.clone().take_merged(&id, &method, message).await;
                    if let Err(failure) = taken {
                        session.reply_error(&id, failure).await;
                    }
                });
                Ok(())
            }
            ToolNaming::Prefixed => self.take_merged(id, method, message).await,
            ToolNaming::Own => self.forward(id, method, 0, message),
        }
    }

    /// Passes a request on; its answer comes back under the same id.
    pub(crate) fn pass_request(
        &self,
        id: &RpcId,
        method: &str,
        upstream: usize,
        message: &RpcMessage,
    ) -> Result<(), RpcFailure> {
        self.set_sent(id, method, upstream);
        self.upstreams[upstream]
            .send(&message.object)
            .map_err(|why| RpcFailure::new(INTERNAL_ERROR, why))
    }

    /// Says whether the client still wants it.
    pub(crate) fn set_sent(&self, id: &RpcId, method: &str, upstream: usize) -> bool {
        match self.lock_requests().get_mut(id) {
            Some(request) => {
                *request = ClientRequest::Sent { upstream, method: method.to_owned() };
                true
            }
            None => false,
        }
    }

    async fn take_task_request(
        &self,
        id: &RpcId,
        method: &str,
        task: &TaskId,
        message: &RpcMessage,
    ) -> Result<(), RpcFailure> {
        let unknown = || RpcFailure::new(INVALID_PARAMS, "there is no such task");
        if method == "tasks/get" {
            let found = self.call_tasks.find(task).ok_or_else(unknown)?;
            self.reply(id, &found).await;
            return Ok(());
        }
        if method == "tasks/cancel" && !self.call_tasks.cancel(task, self.now()) {
            return Err(unknown());
        }
        if method == "tasks/update" {
            let responses = message.params().and_then(|it| it.get_object("inputResponses"));
            if !self.call_tasks.answer(task, responses.unwrap_or_default()) {
                return Err(unknown());
            }
        }
        self.reply(id, &serde_json::json!({"resultType": "complete"})).await;
        Ok(())
    }

    fn cancel_request(&self, message: &RpcMessage) {
        if let Some(id) = cancelled_id(message) {
            self.cancel_as(&id, &message.object);
        }
    }

    /// The client does not want the answer to this request any more.
    pub fn cancel(&self, id: &RpcId, reason: &str) {
        if let Ok(message) = RpcMessage::parse(&cancellation_line(id, reason)) {
            self.cancel_as(id, &message.object);
        }
    }

    fn cancel_as(&self, id: &RpcId, cancellation: &RawObject) {
        let request = self.lock_requests().remove(id);
        if request.is_some() && self.options.reuses_ids {
            self.retired.lock().unpoisoned().add(id);
        }
        // No answer follows a cancelled request.
        match request {
            Some(ClientRequest::Held { cancelled }) => {
                self.end_listening(id);
                cancelled.cancel();
            }
            Some(ClientRequest::Sent { upstream, .. }) => match self.held.wire_of(id) {
                // The upstream has the call under the id of the request that began it.
                Some(wire) => {
                    self.held.forget(&wire);
                    let line = cancellation_line(&wire, "the client does not wait for it");
                    if let Ok(message) = RpcMessage::parse(&line) {
                        let _ = self.upstreams[upstream].send(&message.object);
                    }
                }
                None => {
                    self.held.forget(id);
                    let _ = self.upstreams[upstream].send(cancellation);
                }
            },
            None => {}
        }
    }

    /// The client answered something: us, or an upstream.
    fn take_answer(&self, id: &RpcId, message: RpcMessage) {
        if let Some(asked) = self.asked.lock().unpoisoned().remove(id) {
            let _ = asked.send(message);
            return;
        }
        match self.options.naming {
            // Ours, and not waited for any more.
            ToolNaming::Own if self.is_own_id(id) => {}
            ToolNaming::Own => {
                let _ = self.upstreams[0].send(&message.object);
            }
            ToolNaming::Prefixed => self.answer_relayed(id, message),
        }
    }

    /// Asks the client something ourselves. Dropped, it is taken back.
    pub(crate) async fn ask_client(
        &self,
        about: &RpcId,
        method: &str,
        params: &impl serde::Serialize,
    ) -> Option<RpcMessage> {
        let id = self.own_id();
        let (tell, answered) = oneshot::channel();
        self.asked.lock().unpoisoned().insert(id.clone(), tell);
        let _open = OpenAsk { session: self, about, id: &id };
        let line =
            serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if !self.out.send(Some(about), line.to_string().into_bytes()).await {
            return None;
        }
        answered.await.ok()
    }

    /// Until the upstream is gone.
    pub async fn pass_messages(
        self: Arc<Self>,
        index: usize,
        mut from: mpsc::Receiver<HeardMessage>,
    ) {
        while let Some((about, message)) = from.recv().await {
            self.take_upstream(index, about, message).await;
        }
        self.end_upstream(index).await;
    }

    async fn take_upstream(&self, index: usize, about: Option<RpcId>, message: RpcMessage) {
        if let Some(id) = response_id(&message) {
            let upstream = &self.upstreams[index];
            if let Some(message) = upstream.complete(&id, message) {
                self.pass_answer(index, &id, message).await;
            }
            return;
        }
        if matches!(&message.kind, RpcKind::Notification { method } if method == "notifications/tools/list_changed")
        {
            self.upstreams[index].definitions.mark_stale();
        }
        if self.tell_change(index, &message).await {
            return;
        }
        let is_legacy_upstream = self.upstreams[index].era.era() == Some(ClientEra::Legacy);
        if is_legacy_upstream
            && !self.is_legacy_session()
            && (self.take_question(index, about.as_ref(), &message)
                || self.take_withdrawal(index, &message)
                || self.is_not_for_modern(&message))
        {
            return;
        }
        match (&message.kind, self.options.naming) {
            // An answer to it would be taken for one to us.
            (RpcKind::Request { id, .. }, _) if self.is_own_id(id) => {}
            // What we asked the client is not an upstream's to take back.
            (RpcKind::Notification { method }, _)
                if method == "notifications/cancelled"
                    && cancelled_id(&message).is_some_and(|id| self.is_own_id(&id)) => {}
            (_, ToolNaming::Own) => self.pass_to_client(0, about.as_ref(), message).await,
            (_, ToolNaming::Prefixed) => self.relay(index, about.as_ref(), message).await,
        }
    }

    /// A question that the client cannot hear is refused, so that the upstream does not wait for ever.
    pub(crate) async fn pass_to_client(
        &self,
        index: usize,
        about: Option<&RpcId>,
        message: RpcMessage,
    ) {
        let is_heard = self.out.send(about, message.object.to_line()).await;
        if let (RpcKind::Request { id, .. }, false) = (&message.kind, is_heard) {
            let why = "the client cannot be asked now: it has no open request and no stream";
            let refusal = error_line(Some(id), RpcFailure::new(INTERNAL_ERROR, why));
            if let Ok(refusal) = RpcMessage::parse(&refusal) {
                let _ = self.upstreams[index].send(&refusal.object);
            }
        }
    }

    /// An answer that nobody asked this upstream for goes nowhere.
    async fn pass_answer(&self, index: usize, id: &RpcId, mut message: RpcMessage) {
        let method = match self.lock_requests().get(id) {
            Some(ClientRequest::Sent { upstream, method }) if *upstream == index => method.clone(),
            _ => return,
        };
        self.note_answer(index, &method, &message);
        if method == "server/discover" {
            announce_tasks(&mut message);
        }
        self.reply_as_is(id, &message).await;
    }

    /// What passes by tells who the upstream is, and what the client is shown of its tools.
    pub(crate) fn note_answer(&self, index: usize, method: &str, message: &RpcMessage) {
        let definitions = &self.upstreams[index].definitions;
        let Some(result) = message.object.get("result") else { return };
        let read = || serde_json::from_str::<Value>(result.get()).unwrap_or_default();
        match method {
            "initialize" => definitions.set_identity(&read()["serverInfo"]),
            "server/discover" => definitions.set_identity(&read()["_meta"][SERVER_INFO_KEY]),
            "tools/list" => definitions.note_shown(result),
            _ => {}
        }
    }

    /// No answer will come for what it was sent.
    async fn end_upstream(&self, index: usize) {
        let why = self.upstreams[index].gone().unwrap_or_default();
        let lost: Vec<RpcId> = {
            let requests = self.lock_requests();
            let is_lost = |request: &ClientRequest| {
                matches!(request, ClientRequest::Sent { upstream, method }
                    if *upstream == index && method != "tools/call")
            };
            requests.iter().filter(|(_, r)| is_lost(r)).map(|(id, _)| id.clone()).collect()
        };
        for id in lost {
            self.reply_error(&id, RpcFailure::new(INTERNAL_ERROR, why.clone())).await;
        }
    }
}

#[derive(serde::Serialize)]
struct CancelParams<'a> {
    #[serde(rename = "requestId")]
    request_id: &'a RpcId,
    reason: &'a str,
}

/// Takes back what the client was asked and did not answer.
struct OpenAsk<'a> {
    session: &'a ProxySession,
    about: &'a RpcId,
    id: &'a RpcId,
}

impl Drop for OpenAsk<'_> {
    fn drop(&mut self) {
        if self.session.asked.lock().unpoisoned().remove(self.id).is_some() {
            let params = serde_json::json!({"requestId": self.id, "reason": "decided elsewhere"});
            let line = notification_line("notifications/cancelled", &params);
            self.session.out.try_send(Some(self.about), line);
        }
    }
}

/// The first one tells that a client is ready to hear things.
const LEGACY_NOTICES: [&str; 2] = ["notifications/initialized", "notifications/roots/list_changed"];

fn is_like_call(method: &str) -> bool {
    let plain: String = method.chars().filter(char::is_ascii_alphanumeric).collect();
    plain.eq_ignore_ascii_case("toolscall")
}

/// Says to an upstream that nobody waits for the answer to this request.
pub(crate) fn cancellation_line(request_id: &RpcId, reason: &str) -> Vec<u8> {
    notification_line("notifications/cancelled", &CancelParams { request_id, reason })
}

/// The request that a cancellation is about.
pub(crate) fn cancelled_id(message: &RpcMessage) -> Option<RpcId> {
    serde_json::from_str(message.params()?.get("requestId")?.get()).ok()
}

fn task_id(message: &RpcMessage) -> Option<TaskId> {
    message.params()?.get_text("taskId")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_looks_like_a_call_is_not_passed_on() {
        for method in ["tools/call ", "Tools/Call", "tools//call", "tools\\call", "tools.call\0"] {
            assert!(is_like_call(method), "{method}");
        }
        for method in ["tools/list", "prompts/get", "tools/callback", "sampling/createMessage"] {
            assert!(!is_like_call(method), "{method}");
        }
    }
}
