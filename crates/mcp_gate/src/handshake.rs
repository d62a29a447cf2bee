//! What a client said of itself in its handshake, if it shook hands, and how much of an upstream's log it wants.

use std::sync::Arc;

use ports::unpoisoned::Unpoisoned as _;
use tools::mcp::{RawObject, RpcKind, RpcMessage};

use crate::era::{ClientCapabilities, ClientEra};
use crate::session::ProxySession;
use crate::translate::held_calls::capability_of;
use crate::translate::shapes::{LOG_LEVEL_KEY, meta_of_handshake};
use crate::upstream::Upstream;

/// What a client with a handshake said in it.
#[derive(Default)]
pub(crate) struct Handshake {
    capabilities: ClientCapabilities,
    params: Option<RawObject>,
    /// How much of an upstream's log it wants to hear.
    level: Option<String>,
}

impl ProxySession {
    pub(crate) fn note_handshake(&self, message: &RpcMessage) {
        let params = message.params().unwrap_or_default();
        let declared = params.get("capabilities").map(ClientCapabilities::parse);
        *self.handshake.lock().unpoisoned() = Handshake {
            capabilities: declared.unwrap_or_default(),
            params: Some(params),
            level: None,
        };
    }

    pub(crate) fn legacy_capabilities(&self) -> ClientCapabilities {
        self.handshake.lock().unpoisoned().capabilities
    }

    /// Whether the client shook hands. One that did not hears nothing that it did not ask for.
    pub(crate) fn is_legacy_session(&self) -> bool {
        self.handshake.lock().unpoisoned().params.is_some()
    }

    /// What the client said in its handshake, as a request without one says it.
    pub(crate) fn handshake_meta(&self) -> Option<RawObject> {
        let handshake = self.handshake.lock().unpoisoned();
        Some(meta_of_handshake(handshake.params.as_ref()?, handshake.level.as_deref()))
    }

    /// Whether the client said in its handshake that it can be asked this.
    pub(crate) fn client_declares(&self, method: &str) -> bool {
        let handshake = self.handshake.lock().unpoisoned();
        let declared = handshake.params.as_ref().and_then(|it| it.get_object("capabilities"));
        capability_of(method).is_some_and(|key| declared.is_some_and(|it| it.get(key).is_some()))
    }

    /// A client without a handshake hears an upstream's log if a request of it says so.
    pub(crate) fn is_not_for_modern(&self, message: &RpcMessage) -> bool {
        match &message.kind {
            RpcKind::Notification { method } if method == "notifications/message" => {
                self.handshake.lock().unpoisoned().level.is_none()
            }
            _ => false,
        }
    }

    /// A request of a client without a handshake says how much of the log it wants; an upstream with one is told apart from it.
    pub(crate) fn note_log_level(self: &Arc<Self>, upstream: &Arc<Upstream>, meta: &RawObject) {
        let Some(level) = meta.get_text(LOG_LEVEL_KEY) else { return };
        let said = self.handshake.lock().unpoisoned().level.replace(level.clone());
        if said.as_ref() != Some(&level) && upstream.era.era() == Some(ClientEra::Legacy) {
            let (session, upstream) = (self.clone(), upstream.clone());
            self.tracker.spawn(async move {
                let params = serde_json::json!({"level": level});
                let _ = session.request_own(&upstream, "logging/setLevel", &params).await;
            });
        }
    }

    pub(crate) fn set_log_level(&self, level: Option<String>) {
        self.handshake.lock().unpoisoned().level = level;
    }
}
