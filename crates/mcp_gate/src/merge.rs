//! Several upstreams as one server: its handshake, and whose a request is. Each is spoken to in its own era.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use domain::visible::visible;
use futures_util::future::join_all;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::{Map, Value, json};
use tools::mcp::limits::CONNECT_WITHIN;
use tools::mcp::{INTERNAL_ERROR, INVALID_PARAMS, RawObject, RpcId, RpcKind, RpcMessage};

use crate::era::{ClientEra, HOLDPOINT};
use crate::limits::RELAYED_MAX;
use crate::listing::own_meta;
use crate::merge_lists::MergedList;
use crate::reply::{RpcFailure, error_line};
use crate::session::ProxySession;
use crate::translate::found::client_era;
use crate::upstream::Upstream;

pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// What we could not take apart again.
const NOT_MERGED: [&str; 3] = ["tasks", "experimental", "extensions"];

#[derive(Default)]
pub(crate) struct MergeState {
    /// What each upstream can do, by its place.
    capabilities: Mutex<HashMap<usize, Map<String, Value>>>,
    /// Requests of upstreams that the client has before it, by the ids that we gave them.
    relayed: Mutex<HashMap<RpcId, (usize, RpcId)>>,
    /// Whose a resource or a template of resources is.
    resources: Mutex<HashMap<String, usize>>,
    /// Whether all have been spoken with for a client without a handshake.
    pub(crate) met: tokio::sync::OnceCell<()>,
}

impl MergeState {
    pub(crate) fn offers(&self, upstream: usize, capability: &str) -> bool {
        let all = self.capabilities.lock().unpoisoned();
        all.get(&upstream).is_some_and(|offered| offered.contains_key(capability))
    }

    pub(crate) fn note_capabilities(&self, upstream: usize, offered: Value) {
        let mut offered = match offered {
            Value::Object(offered) => offered,
            _ => Map::new(),
        };
        offered.retain(|name, _| !NOT_MERGED.contains(&name.as_str()));
        self.capabilities.lock().unpoisoned().insert(upstream, offered);
    }

    /// What one of them can do, all can.
    pub(crate) fn all_capabilities(&self) -> Map<String, Value> {
        let mut merged = Map::new();
        let all = self.capabilities.lock().unpoisoned();
        all.values().for_each(|offered| merge_capabilities(&mut merged, offered));
        merged
    }

    pub(crate) fn note_resource(&self, uri: String, upstream: usize) {
        self.resources.lock().unpoisoned().insert(uri, upstream);
    }
}

impl ProxySession {
    /// Whose tool or prompt this is, and what that upstream calls it.
    pub(crate) fn split_name(&self, name: &str) -> Option<(usize, String)> {
        let (server, own) = name.split_once("__")?;
        let index = self.upstreams.iter().position(|upstream| upstream.name() == server)?;
        (!own.is_empty()).then(|| (index, own.to_owned()))
    }

    pub(crate) async fn take_merged(
        self: Arc<Self>,
        id: &RpcId,
        method: &str,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        let bad = |why: &str| RpcFailure::new(INVALID_PARAMS, why);
        let params = match (message.params(), client_era(&message)) {
            (Some(params), _) => params,
            // Some leave it out where nothing has to be said.
            (None, ClientEra::Legacy) if message.object.get("params").is_none() => {
                RawObject::default()
            }
            (None, _) => return Err(bad("`params` must be an object")),
        };
        let era = client_era(&message);
        if let (ClientEra::Modern, Some(meta)) = (era, own_meta(&params)) {
            self.meet_all(&meta).await;
        }
        if let Some(list) = MergedList::of_method(method) {
            let (session, id) = (self.clone(), id.clone());
            self.tracker
                .spawn(async move { session.reply_list(&id, list, era, &own_meta(&params)).await });
            return Ok(());
        }
        match method {
            "server/discover" if era == ClientEra::Modern => {
                let discovered = self.merged_discovery(id)?;
                self.reply_as_is(id, &discovered).await;
            }
            "subscriptions/listen" if era == ClientEra::Modern => {
                self.listen_for(id, &params).await;
            }
            "ping" if era == ClientEra::Legacy => self.reply(id, &json!({})).await,
            "initialize" | "logging/setLevel" if era == ClientEra::Legacy => {
                let (session, id, method) = (self.clone(), id.clone(), method.to_owned());
                self.tracker.spawn(async move {
                    let replied = match method == "initialize" {
                        true => session.shake_hands(&message).await,
                        false => session.set_level(&params).await,
                    };
                    match replied {
                        Ok(result) => session.reply(&id, &result).await,
                        Err(failure) => session.reply_error(&id, failure).await,
                    }
                });
            }
            "prompts/get" => {
                let name = params.get_text("name").unwrap_or_default();
                let (index, own) =
                    self.split_name(&name).ok_or_else(|| bad("there is no such prompt"))?;
                self.pass_changed(id, method, index, message, |params| {
                    params.set_value("name", &own)
                })?;
            }
            "resources/subscribe" | "resources/unsubscribe" if era == ClientEra::Modern => {
                let why = format!("`{method}` is not spoken in this era of the protocol");
                return Err(RpcFailure::new(METHOD_NOT_FOUND, why));
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                let uri = params.get_text("uri").unwrap_or_default();
                let index = self.find_resource(&uri).ok_or_else(|| bad(UNKNOWN_RESOURCE))?;
                self.forward(id, method, index, message)?;
            }
            "completion/complete" => self.pass_completion(id, &params, message)?,
            _ => {
                let why =
                    format!("`{}` is not offered for several servers at once", visible(method));
                return Err(RpcFailure::new(METHOD_NOT_FOUND, why));
            }
        }
        Ok(())
    }

    fn pass_changed(
        self: &Arc<Self>,
        id: &RpcId,
        method: &str,
        index: usize,
        mut message: RpcMessage,
        change: impl FnOnce(&mut RawObject) -> serde_json::Result<()>,
    ) -> Result<(), RpcFailure> {
        let unwritable = |_| RpcFailure::new(INTERNAL_ERROR, "the request cannot be passed on");
        let mut params = message.params().unwrap_or_default();
        change(&mut params).map_err(unwritable)?;
        message.object.set("params", params.to_raw().map_err(unwritable)?);
        self.forward(id, method, index, message)
    }

    fn pass_completion(
        self: &Arc<Self>,
        id: &RpcId,
        params: &RawObject,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        let bad = |why: &str| RpcFailure::new(INVALID_PARAMS, why);
        let mut reference = params.get_object("ref").unwrap_or_default();
        if let Some(uri) = reference.get_text("uri") {
            let index = self.find_resource(&uri).ok_or_else(|| bad(UNKNOWN_RESOURCE))?;
            return self.forward(id, "completion/complete", index, message);
        }
        let name = reference.get_text("name").unwrap_or_default();
        let (index, own) = self.split_name(&name).ok_or_else(|| bad("there is no such prompt"))?;
        self.pass_changed(id, "completion/complete", index, message, |params| {
            reference.set_value("name", &own)?;
            params.set("ref", reference.to_raw()?);
            Ok(())
        })
    }

    /// The upstream that listed it, or the only one that has resources at all.
    fn find_resource(&self, uri: &str) -> Option<usize> {
        if let Some(index) = self.merge.resources.lock().unpoisoned().get(uri) {
            return Some(*index);
        }
        let has_resources = |index: &usize| self.merge.offers(*index, "resources");
        let mut having = (0..self.upstreams.len()).filter(has_resources);
        having.next().filter(|_| having.next().is_none())
    }

    /// The client's own words go to each upstream. One that does not come to terms is left out.
    async fn shake_hands(&self, message: &RpcMessage) -> Result<Value, RpcFailure> {
        let shaken =
            join_all(self.upstreams.iter().map(|upstream| self.shake_one(upstream, message)));
        let mut versions = Vec::new();
        for (index, shaken) in shaken.await.into_iter().enumerate() {
            let mut result = match shaken {
                Ok(result) => result,
                Err(error) => {
                    self.leave_out(index, &format!("{error:#}"));
                    continue;
                }
            };
            versions.extend(result["protocolVersion"].as_str().map(str::to_owned));
            self.merge.note_capabilities(index, result["capabilities"].take());
        }
        // The oldest is understood by all.
        let version = versions.into_iter().min().ok_or_else(|| {
            RpcFailure::new(INTERNAL_ERROR, "none of the MCP servers came to terms with us")
        })?;
        let merged = self.merge.all_capabilities();
        Ok(json!({"protocolVersion": version, "capabilities": merged, "serverInfo": HOLDPOINT}))
    }

    pub(crate) fn leave_out(&self, index: usize, why: &str) {
        let (name, why) = (self.upstreams[index].name(), visible(why));
        (self.options.warn)(&format!("the MCP server `{name}` is left out: {why}"));
        self.upstreams[index].stop();
    }

    async fn shake_one(&self, upstream: &Upstream, message: &RpcMessage) -> anyhow::Result<Value> {
        let asked = self.meet_legacy(upstream, message);
        let answer = tokio::time::timeout(CONNECT_WITHIN, asked).await?;
        let answer = answer.map_err(|failure| anyhow::anyhow!(failure.message))?;
        let result = answer.object.get("result");
        let result = result.ok_or_else(|| anyhow::anyhow!("it refused the handshake"))?;
        Ok(serde_json::from_str(result.get())?)
    }

    async fn set_level(&self, params: &RawObject) -> Result<Value, RpcFailure> {
        // Those without a handshake read it in each request.
        self.set_log_level(params.get_text("level"));
        for (index, upstream) in self.upstreams.iter().enumerate() {
            let has_handshake = upstream.era.era() == Some(ClientEra::Legacy);
            if has_handshake && self.merge.offers(index, "logging") {
                let _ = self.request_own(upstream, "logging/setLevel", params).await;
            }
        }
        Ok(json!({}))
    }

    /// What an upstream says by itself. Its ids are its own, so the client gets others.
    pub(crate) async fn relay(&self, index: usize, about: Option<&RpcId>, message: RpcMessage) {
        let message = match &message.kind {
            RpcKind::Request { id, .. } => {
                let own = self.own_id();
                {
                    let mut relayed = self.merge.relayed.lock().unpoisoned();
                    if relayed.len() >= RELAYED_MAX {
                        return self.upstreams[index].stop();
                    }
                    relayed.insert(own.clone(), (index, id.clone()));
                }
                message.with_id(&own)
            }
            RpcKind::Notification { method } if method == "notifications/cancelled" => {
                match self.with_relayed_id(index, message) {
                    Some(message) => message,
                    None => return,
                }
            }
            RpcKind::Notification { .. } | RpcKind::Response { .. } => message,
        };
        let is_heard = self.out().send(about, message.object.to_line()).await;
        if let (RpcKind::Request { id, .. }, false) = (&message.kind, is_heard) {
            let why = "the client cannot be asked now: it has no open request and no stream";
            let refusal = error_line(Some(id), RpcFailure::new(INTERNAL_ERROR, why));
            if let Ok(refusal) = RpcMessage::parse(&refusal) {
                self.answer_relayed(id, refusal);
            }
        }
    }

    fn with_relayed_id(&self, index: usize, mut message: RpcMessage) -> Option<RpcMessage> {
        let mut params = message.params()?;
        let id: RpcId = serde_json::from_str(params.get("requestId")?.get()).ok()?;
        let own = {
            let mut relayed = self.merge.relayed.lock().unpoisoned();
            let found = relayed.iter().find(|(_, whose)| **whose == (index, id.clone()));
            let own = found.map(|(own, _)| own.clone())?;
            relayed.remove(&own);
            own
        };
        params.set_value("requestId", &own).ok()?;
        message.object.set("params", params.to_raw().ok()?);
        Some(message)
    }

    /// Whether it was an upstream's.
    pub(crate) fn answer_relayed(&self, id: &RpcId, message: RpcMessage) {
        let whose = self.merge.relayed.lock().unpoisoned().remove(id);
        if let Some((index, original)) = whose {
            let _ = self.upstreams[index].send(&message.with_id(&original).object);
        }
    }
}

const UNKNOWN_RESOURCE: &str = "no server has listed this resource; list resources first";

/// What one of them can do, all can: the request goes to the one.
fn merge_capabilities(merged: &mut Map<String, Value>, offered: &Map<String, Value>) {
    for (name, value) in offered {
        match (merged.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => merge_capabilities(inner, more),
            (Some(Value::Bool(has)), Value::Bool(more)) => *has |= more,
            (Some(_), _) => {}
            (None, _) => {
                merged.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_those_of_all() {
        let mut merged = Map::new();
        for offered in [
            json!({"tools": {"listChanged": false}, "logging": {}}),
            json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}),
        ] {
            merge_capabilities(&mut merged, offered.as_object().unwrap());
        }
        assert_eq!(
            Value::Object(merged),
            json!({"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": true}})
        );
    }
}
