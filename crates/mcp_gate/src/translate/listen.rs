//! That a list or a resource changed is told to each client as its era tells it: on a stream that it asked for, or by itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use ports::unpoisoned::Unpoisoned as _;
use serde_json::json;
use serde_json::value::RawValue;
use tools::mcp::{INVALID_REQUEST, RawObject, RpcId, RpcKind, RpcMessage};

use super::shapes::put_member;
use crate::era::{ClientEra, SUBSCRIPTION_KEY};
use crate::limits::{LISTENERS_MAX, WATCHED_MAX};
use crate::listing::own_meta;
use crate::reply::{RpcFailure, notification_line};
use crate::session::ProxySession;

/// What is said of lists, and how a client asks to hear it.
const LISTS: [(&str, &str); 3] = [
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
];
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

#[derive(Default)]
pub(crate) struct Listeners(Mutex<ListenTable>);

#[derive(Default)]
struct ListenTable {
    /// What clients without a handshake listen for, by their requests.
    clients: HashMap<RpcId, ClientStream>,
    /// Streams that we asked modern upstreams for, and whose they are. `None`: the one client with a handshake.
    own: HashMap<RpcId, (usize, Option<RpcId>)>,
    /// What the client with a handshake wants to hear of.
    watched: BTreeSet<String>,
}

struct ClientStream {
    wanted: RawObject,
    /// What the request said of itself and its client.
    meta: Option<RawObject>,
}

impl Listeners {
    /// `false`: there are too many.
    fn keep(&self, id: &RpcId, stream: ClientStream) -> bool {
        let mut table = self.lock();
        let has_room = table.clients.len() < LISTENERS_MAX;
        if has_room {
            table.clients.insert(id.clone(), stream);
        }
        has_room
    }

    fn lock(&self) -> MutexGuard<'_, ListenTable> {
        self.0.lock().unpoisoned()
    }
}

impl ProxySession {
    /// A client without a handshake listens, until it cancels its request.
    pub(crate) async fn listen_for(self: &Arc<Self>, id: &RpcId, params: &RawObject) {
        let wanted = params.get_object("notifications").unwrap_or_default();
        let stream = ClientStream { wanted: wanted.clone(), meta: own_meta(params) };
        if !self.listeners.keep(id, stream) {
            let why = "too many streams are open; close one of them";
            return self.reply_error(id, RpcFailure::new(INVALID_REQUEST, why)).await;
        }
        let params = json!({"notifications": wanted, "_meta": {SUBSCRIPTION_KEY: id}});
        self.out().send(Some(id), notification_line(ACKNOWLEDGED, &params)).await;
        let uris: Vec<String> = uris_of(&wanted);
        for index in 0..self.upstreams.len() {
            match self.upstreams[index].era.era() {
                Some(ClientEra::Legacy) => {
                    uris.iter().for_each(|uri| self.subscribe(index, uri, true))
                }
                Some(ClientEra::Modern) => self.listen_upstream(index, Some(id.clone()), &wanted),
                None => {}
            }
        }
    }

    /// What a client with a handshake is told by itself, a modern upstream is asked for.
    pub(crate) fn listen_for_legacy(self: &Arc<Self>) {
        let watched = self.listeners.lock().watched.clone();
        for index in 0..self.upstreams.len() {
            if self.upstreams[index].era.era() == Some(ClientEra::Modern) {
                let mut wanted = RawObject::default();
                for (_, key) in LISTS {
                    let _ = wanted.set_value(key, &true);
                }
                if !watched.is_empty() {
                    let _ = wanted.set_value("resourceSubscriptions", &watched);
                }
                self.stop_listening(|whose, of| whose == index && of.is_none());
                self.listen_upstream(index, None, &wanted);
            }
        }
    }

    pub(crate) fn watch_resource(self: &Arc<Self>, uri: &str, is_wanted: bool) {
        {
            let watched = &mut self.listeners.lock().watched;
            match is_wanted {
                true if watched.len() < WATCHED_MAX => watched.insert(uri.to_owned()),
                true => return,
                false => watched.remove(uri),
            };
        }
        self.listen_for_legacy();
    }

    fn subscribe(self: &Arc<Self>, index: usize, uri: &str, is_wanted: bool) {
        let method = if is_wanted { "resources/subscribe" } else { "resources/unsubscribe" };
        let (session, uri) = (self.clone(), uri.to_owned());
        self.tracker.spawn(async move {
            let upstream = session.upstreams[index].clone();
            let _ = session.request_own(&upstream, method, &json!({"uri": uri})).await;
        });
    }

    fn listen_upstream(self: &Arc<Self>, index: usize, whose: Option<RpcId>, wanted: &RawObject) {
        let own = self.own_id();
        self.listeners.lock().own.insert(own.clone(), (index, whose.clone()));
        let mut object = RawObject::default();
        let _ = object.set_value("jsonrpc", &"2.0");
        let _ = object.set_value("id", &own);
        let _ = object.set_value("method", &"subscriptions/listen");
        let mut params = RawObject::default();
        put_member(&mut params, "notifications", wanted);
        let meta = whose.and_then(|id| self.listeners.lock().clients.get(&id)?.meta.clone());
        if let Some(meta) = meta {
            put_member(&mut params, "_meta", &meta);
        }
        put_member(&mut object, "params", &params);
        let session = self.clone();
        self.tracker.spawn(async move {
            let upstream = session.upstreams[index].clone();
            let object = session.in_upstream_era(&upstream, object);
            tokio::select! {
                // It ends when the upstream has no more to say, or does not do it at all.
                _ = upstream.request(&own, &object) => {}
                () = session.stopped.cancelled() => {}
            }
            session.listeners.lock().own.remove(&own);
        });
    }

    fn stop_listening(&self, is_over: impl Fn(usize, Option<&RpcId>) -> bool) {
        let over: Vec<(RpcId, usize)> = {
            let mut table = self.listeners.lock();
            let over =
                table.own.iter().filter(|(_, (index, whose))| is_over(*index, whose.as_ref()));
            let over: Vec<_> = over.map(|(own, (index, _))| (own.clone(), *index)).collect();
            over.iter().for_each(|(own, _)| drop(table.own.remove(own)));
            over
        };
        for (own, index) in over {
            let params = json!({"requestId": own, "reason": "nobody listens any more"});
            if let Ok(cancel) =
                RpcMessage::parse(&notification_line("notifications/cancelled", &params))
            {
                let _ = self.upstreams[index].send(&cancel.object);
            }
        }
    }

    /// The client closed the stream that this request is. Whether it was one.
    pub(crate) fn end_listening(&self, id: &RpcId) -> bool {
        let is_one = self.listeners.lock().clients.remove(id).is_some();
        if is_one {
            self.stop_listening(|_, whose| whose == Some(id));
        }
        is_one
    }

    /// Whether a notification of an upstream was about a list or a resource, and was told in another form, or not at all.
    pub(crate) async fn tell_change(&self, index: usize, message: &RpcMessage) -> bool {
        let RpcKind::Notification { method } = &message.kind else { return false };
        let params = message.params().unwrap_or_default();
        let meta = params.get_object("_meta").unwrap_or_default();
        let named = meta.get(SUBSCRIPTION_KEY).map(RawValue::get);
        if let Some(own) = named.and_then(|named| serde_json::from_str::<RpcId>(named).ok())
            && self.is_own_id(&own)
        {
            let whose = self.listeners.lock().own.get(&own).cloned();
            // What it acknowledges, the client has heard from us already.
            if let (Some((of, whose)), true) = (whose, method != ACKNOWLEDGED)
                && of == index
            {
                self.send_change(method, params, whose.as_ref()).await;
            }
            return true;
        }
        let is_change = method == UPDATED || LISTS.iter().any(|(list, _)| list == method);
        let is_legacy_upstream = self.upstreams[index].era.era() == Some(ClientEra::Legacy);
        if !is_change || !is_legacy_upstream || self.is_legacy_session() {
            return false;
        }
        let uri = params.get_text("uri").unwrap_or_default();
        let listening: Vec<RpcId> = {
            let table = self.listeners.lock();
            let wants = |wanted: &RawObject| match LISTS.iter().find(|(list, _)| list == method) {
                Some((_, key)) => wanted.get(key).is_some_and(|wants| wants.get() == "true"),
                None => uris_of(wanted).contains(&uri),
            };
            table
                .clients
                .iter()
                .filter(|(_, stream)| wants(&stream.wanted))
                .map(|(id, _)| id.clone())
                .collect()
        };
        for id in listening {
            self.send_change(method, params.clone(), Some(&id)).await;
        }
        true
    }

    async fn send_change(&self, method: &str, mut params: RawObject, whose: Option<&RpcId>) {
        let mut meta = params.get_object("_meta").unwrap_or_default();
        match whose {
            Some(id) => {
                let _ = meta.set_value(SUBSCRIPTION_KEY, id);
            }
            None => {
                meta.remove(SUBSCRIPTION_KEY);
            }
        }
        put_member(&mut params, "_meta", &meta);
        if params.get("_meta").is_some_and(|meta| meta.get() == "{}") {
            params.remove("_meta");
        }
        self.out().send(whose, notification_line(method, &params)).await;
    }
}

fn uris_of(wanted: &RawObject) -> Vec<String> {
    let uris = wanted.get("resourceSubscriptions").map(RawValue::get).unwrap_or("[]");
    serde_json::from_str(uris).unwrap_or_default()
}
