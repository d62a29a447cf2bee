//! Which era an upstream is of. Found out once, in the words of the first client that needs to know.

use std::sync::{Arc, Mutex};

use domain::visible::visible;
use ports::unpoisoned::Unpoisoned as _;
use serde_json::Value;
use serde_json::value::RawValue;
use tools::mcp::limits::{CONNECT_WITHIN, DISCOVER_WITHIN};
use tools::mcp::{INTERNAL_ERROR, RawObject, RpcMessage};

use super::shapes::{
    as_legacy_request, as_modern_request, handshake_of_meta, initialize_result, meta_of_handshake,
    speaks_modern,
};
use crate::era::{ClientEra, RequestMeta, SERVER_INFO_KEY};
use crate::reply::{RpcFailure, notification_line};
use crate::session::ProxySession;
use crate::upstream::{Upstream, UpstreamError};

/// What an upstream said of itself.
#[derive(Clone, Debug)]
pub(crate) enum FoundEra {
    /// In a handshake.
    Legacy(Arc<RawObject>),
    /// When it was asked what it is.
    Modern(Arc<RawObject>),
}

impl FoundEra {
    pub(crate) fn era(&self) -> ClientEra {
        match self {
            FoundEra::Legacy(_) => ClientEra::Legacy,
            FoundEra::Modern(_) => ClientEra::Modern,
        }
    }
}

#[derive(Default)]
pub(crate) struct UpstreamEra {
    found: Mutex<Option<FoundEra>>,
    /// One look at a time.
    looking: tokio::sync::Mutex<()>,
}

impl UpstreamEra {
    pub(crate) fn found(&self) -> Option<FoundEra> {
        self.found.lock().unpoisoned().clone()
    }

    pub(crate) fn era(&self) -> Option<ClientEra> {
        self.found.lock().unpoisoned().as_ref().map(FoundEra::era)
    }

    fn set(&self, found: FoundEra) -> FoundEra {
        *self.found.lock().unpoisoned() = Some(found.clone());
        found
    }

    /// Whether what a client of this era says has to be said otherwise.
    pub(crate) fn differs_from(&self, era: ClientEra) -> bool {
        self.era().is_some_and(|found| found != era)
    }
}

pub(crate) fn client_era(message: &RpcMessage) -> ClientEra {
    match RequestMeta::declared_version(message) {
        Some(_) => ClientEra::Modern,
        None => ClientEra::Legacy,
    }
}

impl ProxySession {
    /// Comes to terms with an upstream for a client without a handshake, whose request says `meta` of itself.
    pub(crate) async fn meet_modern(
        &self,
        upstream: &Upstream,
        meta: &RawObject,
    ) -> Result<FoundEra, RpcFailure> {
        if let Some(found) = upstream.era.found() {
            return Ok(found);
        }
        let _turn = upstream.era.looking.lock().await;
        if let Some(found) = upstream.era.found() {
            return Ok(found);
        }
        if let Some(found) = self.discover(upstream, meta).await {
            return Ok(found);
        }
        let no_terms = |why: String| {
            let name = upstream.name();
            RpcFailure::new(
                INTERNAL_ERROR,
                format!("the MCP server `{name}` did not come to terms with us: {why}"),
            )
        };
        let handshake = handshake_of_meta(meta);
        let asked = self.request_own(upstream, "initialize", &handshake);
        let answer = tokio::time::timeout(CONNECT_WITHIN, asked).await;
        let answer = answer.map_err(|_| no_terms("it took too long".into()))?;
        let answer = answer.map_err(|error| no_terms(format!("{error:#}")))?;
        let result = answer.object.get_object("result").ok_or_else(|| {
            let error = answer.object.get("error").map(RawValue::get).unwrap_or_default();
            no_terms(visible(&error.chars().take(300).collect::<String>()))
        })?;
        self.note_identity(upstream, result.get("serverInfo"));
        let ready = notification_line("notifications/initialized", &serde_json::json!({}));
        if let Ok(ready) = RpcMessage::parse(&ready) {
            upstream.send(&ready.object).map_err(no_terms)?;
        }
        Ok(upstream.era.set(FoundEra::Legacy(Arc::new(result))))
    }

    /// The client's own handshake, put to an upstream, or made up from what one without handshakes says. The answer is the
    /// client's.
    pub(crate) async fn meet_legacy(
        &self,
        upstream: &Upstream,
        message: &RpcMessage,
    ) -> Result<RpcMessage, RpcFailure> {
        let params = message.params().unwrap_or_default();
        let _turn = upstream.era.looking.lock().await;
        let own = self.own_id();
        let asked = message.clone().with_id(&own);
        let answer = upstream.request(&own, &asked.object).await;
        if let Ok(answer) = &answer
            && let Some(result) = answer.object.get_object("result")
        {
            self.note_identity(upstream, result.get("serverInfo"));
            upstream.era.set(FoundEra::Legacy(Arc::new(result)));
            return Ok(answer.clone());
        }
        // It may have been begun, or is gone: there is nothing to ask any more.
        if let Err(UpstreamError::Lost(why)) = answer {
            return Err(RpcFailure::new(INTERNAL_ERROR, why));
        }
        if let Some(FoundEra::Modern(found)) =
            self.discover(upstream, &meta_of_handshake(&params, None)).await
        {
            let version = params.get_text("protocolVersion");
            let mut made = RawObject::default();
            let _ = made.set_value("jsonrpc", &"2.0");
            let _ = made.set_value("id", &own);
            super::shapes::put_member(
                &mut made,
                "result",
                &initialize_result(&found, version.as_deref()),
            );
            return RpcMessage::parse(&made.to_line())
                .map_err(|bad| RpcFailure::new(INTERNAL_ERROR, bad.why));
        }
        answer.map_err(|error| RpcFailure::new(INTERNAL_ERROR, error.into_why()))
    }

    async fn discover(&self, upstream: &Upstream, meta: &RawObject) -> Option<FoundEra> {
        let mut params = RawObject::default();
        super::shapes::put_member(&mut params, "_meta", meta);
        let asked = self.request_own(upstream, "server/discover", &params);
        let answer = tokio::time::timeout(DISCOVER_WITHIN, asked).await.ok()?.ok()?;
        let result = answer.object.get_object("result").filter(speaks_modern)?;
        let meta = result.get_object("_meta");
        self.note_identity(upstream, meta.as_ref().and_then(|meta| meta.get(SERVER_INFO_KEY)));
        Some(upstream.era.set(FoundEra::Modern(Arc::new(result))))
    }

    fn note_identity(&self, upstream: &Upstream, info: Option<&RawValue>) {
        let info = info.map(RawValue::get).unwrap_or("null");
        upstream.definitions.set_identity(&serde_json::from_str::<Value>(info).unwrap_or_default());
    }

    /// A request as the upstream reads it.
    pub(crate) fn in_upstream_era(&self, upstream: &Upstream, object: RawObject) -> RawObject {
        let method = object.get_text("method").unwrap_or_default();
        let is_first_word = matches!(method.as_str(), "initialize" | "server/discover");
        match upstream.era.era() {
            Some(ClientEra::Legacy) if !is_first_word => as_legacy_request(object),
            Some(ClientEra::Modern) if !is_first_word => match self.handshake_meta() {
                Some(meta) if !says_its_era(&object) => as_modern_request(object, &meta),
                _ => object,
            },
            _ => object,
        }
    }
}

fn says_its_era(object: &RawObject) -> bool {
    let meta = object.get_object("params").and_then(|params| params.get_object("_meta"));
    meta.is_some_and(|meta| meta.get(crate::era::VERSION_KEY).is_some())
}
