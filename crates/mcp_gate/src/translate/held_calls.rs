//! A legacy upstream asks in the middle of a call, and a client without a handshake cannot be asked. So the call stays with the
//! upstream, the client gets the question as its result, and comes back with the answer.
//!
//! The approval covers the whole of it: the upstream is called once, however often the client comes back. A client that does not
//! come back in time ends the call. What the upstream takes back needs no answer, and one that comes late goes nowhere; where all that a call
//! asked was taken back, it is not shown any more either.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::future::join_all;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tools::mcp::{INTERNAL_ERROR, RawObject, RpcId, RpcKind, RpcMessage};

use super::shapes::{answer_for, put_member};
use crate::calls::GatedCall;
use crate::era::ClientEra;
use crate::limits::{HELD_CALLS_MAX, QUESTION_WITHIN, QUESTIONS_OF_A_CALL_MAX};
use crate::merge::METHOD_NOT_FOUND;
use crate::random::fresh_key;
use crate::reply::{RpcFailure, error_line, notification_line, result_line};
use crate::session::{ProxySession, cancelled_id};
use crate::upstream::{Upstream, UpstreamError};

/// What begins the name of a call that is held, so that it is never taken for an upstream's own state.
const HELD_PREFIX: &str = "holdpoint-held-";
/// What a modern result can ask for.
const ASKABLE: [(&str, &str); 3] = [
    ("elicitation/create", "elicitation"),
    ("sampling/createMessage", "sampling"),
    ("roots/list", "roots"),
];

/// What a client that can be asked this declares.
pub(crate) fn capability_of(method: &str) -> Option<&'static str> {
    ASKABLE.iter().find(|(askable, _)| *askable == method).map(|(_, capability)| *capability)
}

/// A call that an upstream has, and the client does not wait for at the moment.
pub(crate) struct HeldCall {
    upstream: Arc<Upstream>,
    wire: RpcId,
    response: oneshot::Receiver<Result<RpcMessage, UpstreamError>>,
    /// Cancelled once `response` is there.
    answered: CancellationToken,
    asks: mpsc::Receiver<UpstreamQuestion>,
    open: Vec<UpstreamQuestion>,
    table: Arc<HeldCalls>,
    is_over: bool,
}

struct UpstreamQuestion {
    key: String,
    id: RpcId,
    method: String,
    params: Option<Box<RawValue>>,
    /// Cancelled when the upstream takes it back.
    withdrawn: CancellationToken,
}

/// What can be held, and what is.
#[derive(Default)]
pub(crate) struct HeldCalls(Mutex<HeldTable>);

#[derive(Default)]
struct HeldTable {
    /// Who hears what an upstream asks about a call, by the id under which the upstream has the call.
    asks: HashMap<RpcId, QuestionTaker>,
    parked: HashMap<String, HeldCall>,
    /// The client's newest request for a held call.
    newest: HashMap<RpcId, RpcId>,
    questions: u64,
}

struct QuestionTaker {
    upstream: usize,
    capabilities: RawObject,
    to: mpsc::Sender<UpstreamQuestion>,
    /// What has no answer yet, by the upstream's ids.
    unanswered: HashMap<RpcId, CancellationToken>,
}

impl HeldCalls {
    fn lock(&self) -> MutexGuard<'_, HeldTable> {
        self.0.lock().unpoisoned()
    }

    /// The client cancelled the call: nothing that is asked is about it any more.
    pub(crate) fn forget(&self, id: &RpcId) {
        self.lock().asks.remove(id);
    }

    /// The id under which the upstream has the call that the client asks for with this one.
    pub(crate) fn wire_of(&self, id: &RpcId) -> Option<RpcId> {
        self.lock().newest.get(id).cloned()
    }

    /// Nobody answers what the call with this state asks: its upstream is told so now, and not when the time for it is over.
    pub(crate) fn give_up(&self, state: &str) {
        let held = self.lock().parked.remove(state);
        // What is dropped takes the lock.
        drop(held);
    }

    /// The upstream takes back what it asked under this id.
    fn withdraw(&self, upstream: usize, question: &RpcId) {
        let mut table = self.lock();
        for taker in table.asks.values_mut().filter(|taker| taker.upstream == upstream) {
            if let Some(withdrawn) = taker.unanswered.remove(question) {
                withdrawn.cancel();
            }
        }
    }

    /// Returns when the call with this state has nothing left to ask: the upstream answered it, or took all its questions back.
    pub(crate) async fn wait_until_unasked(&self, state: &str) {
        let waits = self.lock().parked.get(state).map(|held| {
            let withdrawn = held.open.iter().map(|question| question.withdrawn.clone());
            (held.answered.clone(), withdrawn.collect::<Vec<_>>())
        });
        let Some((answered, withdrawn)) = waits else { return std::future::pending().await };
        tokio::select! {
            () = answered.cancelled() => {}
            _ = join_all(withdrawn.iter().map(CancellationToken::cancelled)) => {}
        }
    }
}

/// What a call with this state goes on with.
pub(crate) enum HeldState {
    /// It is none of ours.
    Foreign,
    Here(Box<HeldCall>),
    /// It was given up: to send the call anew would run it twice.
    Over,
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        {
            let mut table = self.table.lock();
            table.asks.remove(&self.wire);
            table.newest.retain(|_, wire| *wire != self.wire);
        }
        if self.is_over {
            return;
        }
        self.forget_withdrawn();
        for question in std::mem::take(&mut self.open) {
            self.refuse(&question.id, "nobody answered");
        }
        let params =
            json!({"requestId": self.wire, "reason": "the client does not wait for it any more"});
        self.send(&notification_line("notifications/cancelled", &params));
    }
}

impl HeldCall {
    fn send(&self, line: &[u8]) {
        if let Ok(message) = RpcMessage::parse(line) {
            let _ = self.upstream.send(&message.object);
        }
    }

    fn refuse(&self, question: &RpcId, why: &str) {
        self.send(&error_line(Some(question), RpcFailure::new(INTERNAL_ERROR, why)));
    }

    fn forget_withdrawn(&mut self) {
        self.open.retain(|question| !question.withdrawn.is_cancelled());
    }

    /// Gives the upstream what the client answered. What it did not answer stays open, and what was taken back needs no answer.
    fn answer(&mut self, responses: &RawObject) {
        self.forget_withdrawn();
        for question in std::mem::take(&mut self.open) {
            match responses.get(&question.key) {
                Some(response) => {
                    if let Some(taker) = self.table.lock().asks.get_mut(&self.wire) {
                        taker.unanswered.remove(&question.id);
                    }
                    self.send(&result_line(&question.id, &response));
                }
                None => self.open.push(question),
            }
        }
    }

    /// The result in which the client reads what is asked.
    fn questions(&self, state: &str) -> Option<RawObject> {
        let mut requests = RawObject::default();
        for question in &self.open {
            let mut request = RawObject::default();
            request.set_value("method", &question.method).ok()?;
            if let Some(params) = &question.params {
                request.set("params", params.clone());
            }
            put_member(&mut requests, &question.key, &request);
        }
        let mut result = RawObject::default();
        result.set_value("resultType", &"input_required").ok()?;
        result.set_value("requestState", &state).ok()?;
        put_member(&mut result, "inputRequests", &requests);
        Some(result)
    }
}

impl ProxySession {
    pub(crate) fn take_held(&self, call: &GatedCall) -> HeldState {
        let state = call.params.get_text("requestState").unwrap_or_default();
        if !state.starts_with(HELD_PREFIX) {
            return HeldState::Foreign;
        }
        let held = self.held.lock().parked.remove(&state);
        held.map_or(HeldState::Over, |held| HeldState::Here(Box::new(held)))
    }

    /// A call of a client without a handshake to an upstream with one. The answer is its result, or what the upstream asks.
    pub(crate) async fn call_legacy_upstream(
        &self,
        call: &GatedCall,
        wire: &RpcId,
        object: RawObject,
        held: Option<Box<HeldCall>>,
    ) -> Result<RpcMessage, UpstreamError> {
        let mut held = match held {
            Some(mut held) => {
                let responses = call.params.get_object("inputResponses").unwrap_or_default();
                held.answer(&responses);
                let newest = (call.id.clone(), held.wire.clone());
                self.held.lock().newest.insert(newest.0, newest.1);
                held
            }
            None => Box::new(self.begin_held(call, wire, object)),
        };
        loop {
            while let Ok(more) = held.asks.try_recv() {
                held.open.push(more);
            }
            held.forget_withdrawn();
            tokio::select! {
                biased;
                // The answer to the call is the last word, whatever was asked before it.
                response = &mut held.response => {
                    held.is_over = true;
                    let lost = || Err(UpstreamError::Lost("the session ended".into()));
                    let response = response.unwrap_or_else(|_| lost())?;
                    return Ok(answer_for(ClientEra::Modern, "tools/call", response.with_id(&call.id)));
                }
                () = std::future::ready(()), if !held.open.is_empty() => return self.park(call, *held),
                Some(question) = held.asks.recv() => held.open.push(question),
            }
        }
    }

    fn begin_held(&self, call: &GatedCall, wire: &RpcId, object: RawObject) -> HeldCall {
        let (to, asks) = mpsc::channel(QUESTIONS_OF_A_CALL_MAX);
        let (tell, response) = oneshot::channel();
        let meta = call.params.get_object("_meta").unwrap_or_default();
        let capabilities = meta.get_object(crate::era::CAPABILITIES_KEY).unwrap_or_default();
        let taker =
            QuestionTaker { upstream: call.index, capabilities, to, unanswered: HashMap::new() };
        self.held.lock().asks.insert(wire.clone(), taker);
        let (upstream, id) = (call.upstream.clone(), wire.clone());
        let answered = CancellationToken::new();
        let is_answered = answered.clone();
        self.tracker.spawn(async move {
            let _ = tell.send(upstream.request(&id, &object).await);
            is_answered.cancel();
        });
        HeldCall {
            upstream: call.upstream.clone(),
            wire: wire.clone(),
            response,
            answered,
            asks,
            open: Vec::new(),
            table: self.held.clone(),
            is_over: false,
        }
    }

    fn park(&self, call: &GatedCall, held: HeldCall) -> Result<RpcMessage, UpstreamError> {
        let lost = |why: &str| UpstreamError::Lost(why.to_owned());
        let state = fresh_key().map_err(|_| lost("no name can be made for the call"))?;
        let state = format!("{HELD_PREFIX}{state}");
        let questions =
            held.questions(&state).ok_or_else(|| lost("what it asks cannot be written"))?;
        // The upstream may answer what it was asked under this id: the client must not use it for anything else.
        self.retire(&held.wire);
        {
            let mut table = self.held.lock();
            if table.parked.len() >= HELD_CALLS_MAX {
                drop(table);
                return Err(lost("too many calls wait for answers of the client"));
            }
            table.parked.insert(state.clone(), held);
        }
        let (table, stopped, named) = (self.held.clone(), self.stopped.clone(), state);
        self.tracker.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(QUESTION_WITHIN) => {}
                () = stopped.cancelled() => {}
            }
            let over = table.lock().parked.remove(&named);
            drop(over);
        });
        let mut answer = RawObject::default();
        let _ = answer.set_value("jsonrpc", &"2.0");
        let _ = answer.set_value("id", &call.id);
        put_member(&mut answer, "result", &questions);
        RpcMessage::parse(&answer.to_line()).map_err(|bad| lost(bad.why))
    }

    /// What a legacy upstream asks a client that never shook hands. Whether it was taken.
    pub(crate) fn take_question(
        &self,
        index: usize,
        about: Option<&RpcId>,
        message: &RpcMessage,
    ) -> bool {
        let RpcKind::Request { id, method } = &message.kind else { return false };
        let refuse = |code: i64, why: &str| {
            let line = error_line(Some(id), RpcFailure::new(code, why));
            if let Ok(refusal) = RpcMessage::parse(&line) {
                let _ = self.upstreams[index].send(&refusal.object);
            }
        };
        if method == "ping" {
            if let Ok(pong) = RpcMessage::parse(&result_line(id, &json!({}))) {
                let _ = self.upstreams[index].send(&pong.object);
            }
            return true;
        }
        let Some(capability) = capability_of(method) else {
            refuse(METHOD_NOT_FOUND, "the client does not do that");
            return true;
        };
        let mut table = self.held.lock();
        table.questions += 1;
        let key = format!("up.{}", table.questions);
        let taker = match about.filter(|about| table.asks.contains_key(*about)) {
            Some(about) => table.asks.get_mut(about),
            // On pipes no question says which call it is about.
            None => {
                let mut takers = table.asks.values_mut().filter(|taker| taker.upstream == index);
                takers.next().filter(|_| takers.next().is_none())
            }
        };
        let Some(taker) = taker.filter(|taker| taker.upstream == index) else {
            drop(table);
            refuse(
                INTERNAL_ERROR,
                "this client can be asked only in the course of a call, and only when one call is under way; call again, one at a time",
            );
            return true;
        };
        if taker.capabilities.get(capability).is_none() {
            drop(table);
            refuse(METHOD_NOT_FOUND, "the client does not do that");
            return true;
        }
        let params = question_params(method, message.params());
        let withdrawn = CancellationToken::new();
        let question = UpstreamQuestion {
            key,
            id: id.clone(),
            method: method.clone(),
            params,
            withdrawn: withdrawn.clone(),
        };
        let has_room = taker.unanswered.len() < QUESTIONS_OF_A_CALL_MAX;
        let is_taken = has_room && taker.to.try_send(question).is_ok();
        if is_taken {
            taker.unanswered.insert(id.clone(), withdrawn);
        }
        drop(table);
        if !is_taken {
            refuse(INTERNAL_ERROR, "too many questions in one call");
        }
        true
    }

    /// A legacy upstream takes back what it asked a client that never shook hands. Whether it did.
    pub(crate) fn take_withdrawal(&self, index: usize, message: &RpcMessage) -> bool {
        let RpcKind::Notification { method } = &message.kind else { return false };
        if method != "notifications/cancelled" {
            return false;
        }
        if let Some(id) = cancelled_id(message) {
            self.held.withdraw(index, &id);
        }
        true
    }
}

/// A modern question says which kind it is.
fn question_params(method: &str, params: Option<RawObject>) -> Option<Box<RawValue>> {
    let mut params = params?;
    if method == "elicitation/create" && params.get("mode").is_none() {
        params.set("mode", to_raw_value(&"form").ok()?);
    }
    // A modern question has no name beside its key.
    params.remove("elicitationId");
    params.to_raw().ok()
}
