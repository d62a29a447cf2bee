//! Which reply carries which message.
//!
//! Two clients with one token may use the same ids and progress tokens at the same time. So each request goes on under a number
//! of ours, and its answer, its progress and its subscription come back under what the client said.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tools::mcp::{RawObject, RpcId, RpcKind, RpcMessage};

use crate::era::SUBSCRIPTION_KEY;
use crate::limits::{
    CALLS_MAX, REPLAY_BYTES_MAX, REPLAY_EVENTS_MAX, STREAM_OUTBOX_MAX, STREAM_STALLED,
};
use crate::peer::ClientLink;

/// The standing stream of a session; requests are counted from 1.
const STANDING: u64 = 0;

/// A message on its way to the client.
#[derive(Clone, Debug)]
pub struct StreamEvent {
    /// Only where a stream can be taken up again.
    pub id: Option<String>,
    pub data: Vec<u8>,
    /// The answer: nothing follows.
    pub is_last: bool,
}

pub(super) struct RequestStreams {
    /// Whether events are kept for a client that comes back for them.
    is_replayed: bool,
    state: Mutex<StreamTable>,
}

#[derive(Default)]
struct StreamTable {
    next: u64,
    open: HashMap<u64, OpenStream>,
    standing: Option<mpsc::Sender<StreamEvent>>,
    events: u64,
    kept: VecDeque<KeptEvent>,
    kept_bytes: usize,
}

struct OpenStream {
    client_id: RpcId,
    progress_token: Option<Box<RawValue>>,
    to: mpsc::Sender<StreamEvent>,
}

struct KeptEvent {
    stream: u64,
    event: u64,
    data: Vec<u8>,
    is_last: bool,
}

/// Why a request gets no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoStream {
    IdInUse,
    TooMany,
}

impl RequestStreams {
    pub(super) fn new(is_replayed: bool) -> RequestStreams {
        RequestStreams { is_replayed, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, StreamTable> {
        self.state.lock().unpoisoned()
    }

    pub(super) fn is_quiet(&self) -> bool {
        let table = self.lock();
        let is_heard = table.standing.as_ref().is_some_and(|standing| !standing.is_closed());
        table.open.is_empty() && !is_heard
    }

    /// The message as it goes on, its number, and what is said about it.
    pub(super) fn open(
        &self,
        id: &RpcId,
        message: RpcMessage,
    ) -> Result<(u64, RpcMessage, mpsc::Receiver<StreamEvent>), NoStream> {
        let mut table = self.lock();
        // In a session an id is the client's name for one request; without one, each client has ids of its own.
        if self.is_replayed && table.open.values().any(|open| open.client_id == *id) {
            return Err(NoStream::IdInUse);
        }
        if table.open.len() >= CALLS_MAX {
            return Err(NoStream::TooMany);
        }
        table.next += 1;
        let number = table.next;
        let (to, events) = mpsc::channel(STREAM_OUTBOX_MAX);
        let mut message = message.with_id(&internal_id(number));
        let progress_token = swap_progress_token(&mut message, number);
        table.open.insert(number, OpenStream { client_id: id.clone(), progress_token, to });
        Ok((number, message, events))
    }

    /// The number under which a request of the client goes on.
    pub(super) fn find(&self, client_id: &RpcId) -> Option<u64> {
        let table = self.lock();
        table.open.iter().find(|(_, open)| open.client_id == *client_id).map(|(number, _)| *number)
    }

    /// Nothing more is said about it. Whether it was open.
    pub(super) fn close(&self, number: u64) -> bool {
        self.lock().open.remove(&number).is_some()
    }

    /// What a session's client hears by itself, and what it missed of the stream that its last event was on. A newer
    /// stream takes the place of an older one.
    pub(super) fn attach(&self, last_event: Option<&str>) -> mpsc::Receiver<StreamEvent> {
        let capacity = STREAM_OUTBOX_MAX + REPLAY_EVENTS_MAX;
        let (to, events) = mpsc::channel(capacity);
        let mut table = self.lock();
        let after = last_event.and_then(parse_event_id);
        let stream = after.map_or(STANDING, |(stream, _)| stream);
        let mut is_over = stream != STANDING && !table.open.contains_key(&stream);
        if let Some((stream, event)) = after {
            let missed =
                table.kept.iter().filter(|kept| kept.stream == stream && kept.event > event);
            for kept in missed {
                is_over |= kept.is_last;
                let event = StreamEvent {
                    id: Some(event_id(kept.stream, kept.event)),
                    data: kept.data.clone(),
                    is_last: kept.is_last,
                };
                // There is room for all that is kept.
                let _ = to.try_send(event);
            }
        }
        match table.open.get_mut(&stream) {
            Some(open) => open.to = to,
            None if !is_over => table.standing = Some(to),
            // All that there was to say was said: the stream ends when the last event is read.
            None => {}
        }
        events
    }

    /// The stream of a number, and the event as it goes out on it.
    fn prepare(
        &self,
        stream: u64,
        data: Vec<u8>,
        is_last: bool,
    ) -> (Option<mpsc::Sender<StreamEvent>>, StreamEvent) {
        let mut table = self.lock();
        let to = match stream {
            STANDING => table.standing.clone(),
            number => table.open.get(&number).map(|open| open.to.clone()),
        };
        let mut id = None;
        if self.is_replayed {
            table.events += 1;
            let event = table.events;
            id = Some(event_id(stream, event));
            table.kept_bytes += data.len();
            table.kept.push_back(KeptEvent { stream, event, data: data.clone(), is_last });
            while table.kept.len() > REPLAY_EVENTS_MAX || table.kept_bytes > REPLAY_BYTES_MAX {
                let Some(old) = table.kept.pop_front() else { break };
                table.kept_bytes -= old.data.len();
            }
        }
        if is_last {
            table.open.remove(&stream);
        }
        (to, StreamEvent { id, data, is_last })
    }

    /// Where a message that an upstream says by itself belongs, and how the client knows it.
    fn route(&self, about: Option<&RpcId>, message: &mut RpcMessage) -> Option<u64> {
        let about = about.and_then(internal_number);
        let is_request = matches!(message.kind, RpcKind::Request { .. });
        // What was asked on any stream is taken back on any.
        let is_withdrawal = matches!(&message.kind, RpcKind::Notification { method } if method == "notifications/cancelled");
        let named = if is_request { None } else { self.restore_names(message) };
        let table = self.lock();
        let is_open = |number: &u64| table.open.contains_key(number);
        if let Some(number) = named.or(about).filter(is_open) {
            return Some(number);
        }
        if named.is_some() {
            return None;
        }
        if self.is_replayed && table.standing.as_ref().is_some_and(|to| !to.is_closed()) {
            return Some(STANDING);
        }
        // Nobody says which request a program's message is about. With one, there is no choice.
        let mut open = table.open.keys();
        match (open.next(), open.next()) {
            (Some(number), None) => Some(*number),
            (Some(number), Some(_)) if is_request || (is_withdrawal && self.is_replayed) => {
                Some(*number)
            }
            (None, _) if self.is_replayed && !is_request => Some(STANDING),
            _ => None,
        }
    }

    /// Puts the client's own names back, and says which stream they belong to.
    fn restore_names(&self, message: &mut RpcMessage) -> Option<u64> {
        let mut params = message.params()?;
        let table = self.lock();
        let number_of = |raw: &RawValue| {
            serde_json::from_str::<RpcId>(raw.get()).ok().as_ref().and_then(internal_number)
        };
        let number = if let Some(number) = params.get("progressToken").and_then(number_of) {
            let token = table.open.get(&number)?.progress_token.clone()?;
            params.set("progressToken", token);
            number
        } else {
            let mut meta = params.get_object("_meta")?;
            let number = number_of(meta.get(SUBSCRIPTION_KEY)?)?;
            meta.set_value(SUBSCRIPTION_KEY, &table.open.get(&number)?.client_id).ok()?;
            params.set("_meta", meta.to_raw().ok()?);
            number
        };
        message.object.set("params", params.to_raw().ok()?);
        Some(number)
    }

    async fn deliver(&self, stream: u64, data: Vec<u8>, is_last: bool) -> bool {
        let (to, event) = self.prepare(stream, data, is_last);
        let Some(to) = to else { return false };
        // A client that does not read must not keep the others of its session waiting.
        matches!(tokio::time::timeout(STREAM_STALLED, to.send(event)).await, Ok(Ok(())))
    }
}

pub(super) fn internal_id(number: u64) -> RpcId {
    RpcId::Text(format!("hp-{number}"))
}

fn internal_number(id: &RpcId) -> Option<u64> {
    match id {
        RpcId::Text(text) => text.strip_prefix("hp-")?.parse().ok(),
        RpcId::Number(_) => None,
    }
}

fn event_id(stream: u64, event: u64) -> String {
    format!("{stream}-{event}")
}

fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

fn swap_progress_token(message: &mut RpcMessage, number: u64) -> Option<Box<RawValue>> {
    let mut params = message.params()?;
    let mut meta = params.get_object("_meta")?;
    let token = meta.get("progressToken")?.to_owned();
    meta.set_value("progressToken", &internal_id(number)).ok()?;
    params.set("_meta", meta.to_raw().ok()?);
    message.object.set("params", params.to_raw().ok()?);
    Some(token)
}

/// A result of `subscriptions/listen` names the subscription once more.
fn restore_subscription(object: &mut RawObject, client_id: &RpcId) -> Option<()> {
    let mut result = object.get_object("result")?;
    let mut meta = result.get_object("_meta")?;
    meta.get(SUBSCRIPTION_KEY)?;
    meta.set_value(SUBSCRIPTION_KEY, client_id).ok()?;
    result.set("_meta", meta.to_raw().ok()?);
    object.set("result", result.to_raw().ok()?);
    Some(())
}

#[async_trait]
impl ClientLink for RequestStreams {
    async fn send(&self, about: Option<&RpcId>, line: Vec<u8>) -> bool {
        let Ok(mut message) = RpcMessage::parse(&line) else { return false };
        match self.route(about, &mut message) {
            Some(stream) => self.deliver(stream, message.object.to_line(), false).await,
            None => false,
        }
    }

    async fn finish(&self, id: &RpcId, line: Vec<u8>) {
        let Some(number) = internal_number(id) else { return };
        let client_id = self.lock().open.get(&number).map(|open| open.client_id.clone());
        let (Some(client_id), Ok(message)) = (client_id, RpcMessage::parse(&line)) else { return };
        let mut message = message.with_id(&client_id);
        restore_subscription(&mut message.object, &client_id);
        self.deliver(number, message.object.to_line(), true).await;
    }

    fn try_send(&self, about: Option<&RpcId>, line: Vec<u8>) {
        let Ok(mut message) = RpcMessage::parse(&line) else { return };
        let Some(stream) = self.route(about, &mut message) else { return };
        let (to, event) = self.prepare(stream, message.object.to_line(), false);
        if let Some(to) = to {
            let _ = to.try_send(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str, meta: &str) -> (RpcId, RpcMessage) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{{meta}}}}}}}"#
        );
        (serde_json::from_str(id).unwrap(), RpcMessage::parse(line.as_bytes()).unwrap())
    }

    fn text(event: Option<StreamEvent>) -> String {
        event.map(|event| String::from_utf8(event.data).unwrap()).unwrap_or_default()
    }

    #[tokio::test]
    async fn two_clients_with_one_id_get_their_own_answers_and_progress() {
        let streams = RequestStreams::new(false);
        let (id, first) = request("0", r#""progressToken":7"#);
        let (_, second) = request("0", r#""progressToken":7"#);
        let (one, passed, mut to_one) = streams.open(&id, first).unwrap();
        let (two, _, mut to_two) = streams.open(&id, second).unwrap();
        assert_ne!(one, two);
        assert!(passed.object.to_line().windows(4).any(|w| w == b"hp-1"));
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"hp-2","progress":1}}"#;
        assert!(streams.send(None, progress.into()).await);
        assert_eq!(text(to_two.recv().await), progress.replace("\"hp-2\"", "7"));
        let answer = r#"{"jsonrpc":"2.0","id":"hp-1","result":{}}"#;
        streams.finish(&internal_id(one), answer.into()).await;
        let last = to_one.recv().await.unwrap();
        assert!(last.is_last && last.id.is_none());
        assert_eq!(text(Some(last)), r#"{"jsonrpc":"2.0","id":0,"result":{}}"#);
        streams.finish(&internal_id(one), answer.into()).await;
        assert!(to_one.recv().await.is_none(), "an answer comes once");
        assert!(to_two.try_recv().is_err(), "and to no other");
    }

    #[tokio::test]
    async fn a_question_is_taken_back_also_while_several_requests_are_open() {
        let streams = RequestStreams::new(true);
        let mut events = Vec::new();
        for id in ["1", "2"] {
            let (id, message) = request(id, "");
            events.push(streams.open(&id, message).unwrap().2);
        }
        let notice =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert!(streams.send(None, notice.into()).await);
        let heard: Vec<_> = events.iter_mut().filter_map(|events| events.try_recv().ok()).collect();
        assert_eq!(heard.len(), 1);
        assert_eq!(text(heard.into_iter().next()), notice);
    }

    #[tokio::test]
    async fn what_was_missed_is_told_to_a_client_that_comes_back() {
        let streams = RequestStreams::new(true);
        let (id, message) = request("5", "");
        let (number, _, mut events) = streams.open(&id, message).unwrap();
        assert_eq!(streams.open(&id, request("5", "").1).err(), Some(NoStream::IdInUse));
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        streams.send(Some(&internal_id(number)), notice.into()).await;
        let first = events.recv().await.unwrap();
        drop(events);
        streams
            .finish(&internal_id(number), br#"{"jsonrpc":"2.0","id":"x","result":1}"#.to_vec())
            .await;
        let mut again = streams.attach(first.id.as_deref());
        let missed = again.recv().await.unwrap();
        assert!(missed.is_last);
        assert_eq!(text(Some(missed)), r#"{"jsonrpc":"2.0","id":5,"result":1}"#);
        assert!(again.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_is_kept_for_a_client_is_bounded() {
        let streams = RequestStreams::new(true);
        let notice = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{}"}}}}"#,
            "x".repeat(REPLAY_BYTES_MAX / 8)
        );
        for _ in 0..REPLAY_EVENTS_MAX * 2 {
            streams.send(None, notice.clone().into_bytes()).await;
        }
        let table = streams.lock();
        assert!(table.kept_bytes <= REPLAY_BYTES_MAX && table.kept.len() <= REPLAY_EVENTS_MAX);
    }
}
