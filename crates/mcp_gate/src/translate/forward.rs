//! Requests that are no calls of tools: passed on as they are where both sides are of one era, and else in the words of the other.

use std::sync::Arc;

use domain::visible::visible;
use serde_json::json;
use tools::mcp::{INTERNAL_ERROR, INVALID_PARAMS, RawObject, RpcId, RpcMessage};

use super::found::{FoundEra, client_era};
use super::rounds::RoundsEnd;
use super::shapes::{answer_for, discover_result, put_member};
use crate::era::ClientEra;
use crate::listing::own_meta;
use crate::merge::METHOD_NOT_FOUND;
use crate::reply::RpcFailure;
use crate::session::ProxySession;
use crate::tasks::announce_tasks;
use crate::upstream::{Upstream, UpstreamError};

/// Requests that have no meaning without a handshake.
const GONE_IN_MODERN: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
/// Requests that have no meaning with one.
const NOT_IN_LEGACY: [&str; 2] = ["server/discover", "subscriptions/listen"];

impl ProxySession {
    /// To the upstream of this place. The answer comes under the same id.
    pub(crate) fn forward(
        self: &Arc<Self>,
        id: &RpcId,
        method: &str,
        index: usize,
        message: RpcMessage,
    ) -> Result<(), RpcFailure> {
        note_list_from_start(&self.upstreams[index], method, &message);
        let era = client_era(&message);
        let found = self.upstreams[index].era.era();
        let is_plain = match (era, found) {
            (_, Some(found)) => found == era && method != "initialize",
            // A client that never shook hands is passed on as it is.
            (ClientEra::Legacy, None) => method != "initialize",
            (ClientEra::Modern, None) => false,
        };
        if is_plain {
            return self.pass_request(id, method, index, &message);
        }
        let (session, id, method) = (self.clone(), id.clone(), method.to_owned());
        self.tracker.spawn(async move {
            match session.forward_translated(&id, &method, index, message).await {
                Ok(Some(answer)) => session.reply_as_is(&id, &answer.with_id(&id)).await,
                Ok(None) => {}
                Err(failure) => session.reply_error(&id, failure).await,
            }
        });
        Ok(())
    }

    /// `None`: the answer comes by itself.
    async fn forward_translated(
        self: &Arc<Self>,
        id: &RpcId,
        method: &str,
        index: usize,
        message: RpcMessage,
    ) -> Result<Option<RpcMessage>, RpcFailure> {
        let upstream = self.upstreams[index].clone();
        let era = client_era(&message);
        if era == ClientEra::Legacy && method == "initialize" {
            return self.meet_legacy(&upstream, &message).await.map(Some);
        }
        let params = message.params().unwrap_or_default();
        if let (ClientEra::Modern, Some(meta)) = (era, own_meta(&params)) {
            let found = self.meet_modern(&upstream, &meta).await?;
            self.note_log_level(&upstream, &meta);
            if method == "server/discover" {
                let result = match found {
                    FoundEra::Legacy(handshake) => discover_result(&handshake),
                    FoundEra::Modern(said) => RawObject::clone(&said),
                };
                return made_answer(id, &result).map(|mut answer| {
                    announce_tasks(&mut answer);
                    Some(answer)
                });
            }
        }
        if !upstream.era.differs_from(era) {
            return self.pass_request(id, method, index, &message).map(|()| None);
        }
        if let Some(answered) = self.answer_ourselves(id, era, method, &params).await? {
            return Ok(answered);
        }
        let object = self.in_upstream_era(&upstream, message.object.clone());
        if !self.set_sent(id, method, index) {
            return Ok(None);
        }
        let unanswered = |error: UpstreamError| RpcFailure::new(INTERNAL_ERROR, error.into_why());
        let answer = upstream.request(id, &object).await.map_err(unanswered)?;
        self.note_answer(index, method, &answer);
        let answer = match era {
            ClientEra::Modern => answer,
            ClientEra::Legacy => {
                let go_on = || async { Ok(()) };
                match self.answer_rounds(&upstream, id, &object, answer, go_on).await {
                    RoundsEnd::Answered(answer) => answer,
                    RoundsEnd::Unanswered(why) => {
                        return Err(RpcFailure::new(INTERNAL_ERROR, visible(&why)));
                    }
                    RoundsEnd::Upstream(error) => return Err(unanswered(error)),
                    RoundsEnd::Cancelled => return Ok(None),
                }
            }
        };
        Ok(Some(answer_for(era, method, answer)))
    }

    /// What only one of the eras has. `Some(None)`: the answer comes by itself.
    async fn answer_ourselves(
        self: &Arc<Self>,
        id: &RpcId,
        era: ClientEra,
        method: &str,
        params: &RawObject,
    ) -> Result<Option<Option<RpcMessage>>, RpcFailure> {
        let unknown = || {
            let why = format!("`{}` is not spoken in this era of the protocol", visible(method));
            Err(RpcFailure::new(METHOD_NOT_FOUND, why))
        };
        let empty = || made_answer(id, &RawObject::default()).map(|answer| Some(Some(answer)));
        match (era, method) {
            (ClientEra::Modern, "subscriptions/listen") => {
                self.listen_for(id, params).await;
                Ok(Some(None))
            }
            (ClientEra::Modern, method) if GONE_IN_MODERN.contains(&method) => unknown(),
            // Those that an upstream has with a handshake are others.
            (ClientEra::Modern, method) if method.starts_with("tasks/") => {
                Err(RpcFailure::new(INVALID_PARAMS, "there is no such task"))
            }
            (ClientEra::Legacy, "ping") => empty(),
            (ClientEra::Legacy, "logging/setLevel") => {
                self.set_log_level(params.get_text("level"));
                empty()
            }
            (ClientEra::Legacy, "resources/subscribe" | "resources/unsubscribe") => {
                let uri = params.get_text("uri").unwrap_or_default();
                self.watch_resource(&uri, method == "resources/subscribe");
                empty()
            }
            (ClientEra::Legacy, method)
                if NOT_IN_LEGACY.contains(&method) || method.starts_with("tasks/") =>
            {
                unknown()
            }
            _ => Ok(None),
        }
    }

    /// Comes to terms with all upstreams for a client without a handshake, once. One that cannot be spoken with is left out.
    pub(crate) async fn meet_all(&self, meta: &RawObject) {
        let meet = async {
            let met = self.upstreams.iter().map(|upstream| self.meet_modern(upstream, meta));
            let met = futures_util::future::join_all(met).await;
            for (index, met) in met.into_iter().enumerate() {
                let capabilities = match met {
                    Ok(FoundEra::Legacy(said) | FoundEra::Modern(said)) => {
                        said.get("capabilities").map(ToOwned::to_owned)
                    }
                    Err(failure) => {
                        self.leave_out(index, &failure.message);
                        continue;
                    }
                };
                let capabilities = capabilities
                    .map_or(json!({}), |raw| serde_json::from_str(raw.get()).unwrap_or_default());
                self.merge.note_capabilities(index, capabilities);
            }
        };
        self.merge.met.get_or_init(|| meet).await;
    }

    /// What several upstreams are together, to a client without a handshake.
    pub(crate) fn merged_discovery(&self, id: &RpcId) -> Result<RpcMessage, RpcFailure> {
        let mut handshake = RawObject::default();
        let unwritable = |_| RpcFailure::new(INTERNAL_ERROR, "the answer cannot be written");
        handshake.set_value("capabilities", &self.merge.all_capabilities()).map_err(unwritable)?;
        handshake.set_value("serverInfo", &crate::era::HOLDPOINT).map_err(unwritable)?;
        let mut answer = made_answer(id, &discover_result(&handshake))?;
        announce_tasks(&mut answer);
        Ok(answer)
    }
}

/// The client asks for all of the tools, and not for more of them.
fn note_list_from_start(upstream: &Upstream, method: &str, message: &RpcMessage) {
    let has_cursor = message.params().is_some_and(|params| params.get("cursor").is_some());
    if method == "tools/list" && !has_cursor {
        upstream.definitions.begin_showing();
    }
}

fn made_answer(id: &RpcId, result: &RawObject) -> Result<RpcMessage, RpcFailure> {
    let mut made = RawObject::default();
    let _ = made.set_value("jsonrpc", &"2.0");
    let _ = made.set_value("id", id);
    put_member(&mut made, "result", result);
    RpcMessage::parse(&made.to_line()).map_err(|bad| RpcFailure::new(INTERNAL_ERROR, bad.why))
}
