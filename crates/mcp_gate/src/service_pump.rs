//! Keeps the wire to a service running: a POST for each message, and the standing stream of a legacy session.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tools::mcp::{
    HeardMessage, INTERNAL_ERROR, RawHttpError, RawHttpLink, RpcId, RpcKind, RpcMessage,
};

use crate::era::ClientEra;
use crate::limits::{LISTEN_AGAIN, NOTICE_WITHIN, UPSTREAM_ENDS_WITHIN};
use crate::reply::{RpcFailure, error_line};
use crate::session::cancelled_id;
use crate::upstream::{OTHER_CONSENT, Upstream, UpstreamError};

pub(crate) struct ServicePump<'a> {
    link: Arc<RawHttpLink>,
    upstream: &'a Upstream,
    messages: mpsc::Sender<HeardMessage>,
    posts: JoinSet<PostEnd>,
    in_flight: HashMap<RpcId, AbortHandle>,
}

/// What became of one POST: whose it was, and why it has no answer.
type PostEnd = (Option<RpcId>, Result<(), RawHttpError>);

impl<'a> ServicePump<'a> {
    pub(crate) fn new(
        link: Arc<RawHttpLink>,
        upstream: &'a Upstream,
        messages: mpsc::Sender<HeardMessage>,
    ) -> ServicePump<'a> {
        ServicePump { link, upstream, messages, posts: JoinSet::new(), in_flight: HashMap::new() }
    }

    pub(crate) async fn run(mut self, mut lines: mpsc::Receiver<Vec<u8>>) {
        let gone = self.upstream.gone_token().clone();
        loop {
            tokio::select! {
                biased;
                () = gone.cancelled() => break,
                Some(ended) = self.posts.join_next(), if !self.posts.is_empty() => {
                    if let Ok((id, ended)) = ended {
                        self.end_post(id, ended).await;
                    }
                }
                line = lines.recv() => {
                    let Some(line) = line else { break };
                    // Ours, and so a message.
                    let Ok(message) = RpcMessage::parse(&line) else { continue };
                    tokio::select! {
                        () = self.take(message) => {}
                        () = gone.cancelled() => break,
                    }
                }
            }
        }
        self.upstream.hang_up("nobody needs it any more".into());
        self.posts.shutdown().await;
        let _ = tokio::time::timeout(UPSTREAM_ENDS_WITHIN, self.link.end_session()).await;
    }

    async fn take(&mut self, message: RpcMessage) {
        match &message.kind {
            // Until it is answered nobody knows the session that everything after it belongs to.
            RpcKind::Request { id, method } if method == "initialize" => {
                let id = id.clone();
                let ended = self.link.post(&message, &self.messages).await;
                self.end_post(Some(id), ended).await;
            }
            RpcKind::Request { id, .. } => {
                let (id, link, messages) = (id.clone(), self.link.clone(), self.messages.clone());
                let of = id.clone();
                let post = async move { (Some(of), link.post(&message, &messages).await) };
                self.in_flight.insert(id, self.posts.spawn(post));
            }
            RpcKind::Notification { method } => {
                let (is_cancel, is_ready) =
                    (method == "notifications/cancelled", method == "notifications/initialized");
                // To a modern service, the end of the request is its cancellation. One with a handshake is told, also if it
                // gives its sessions no ids.
                let cancelled = is_cancel.then(|| cancelled_id(&message)).flatten();
                if self.upstream.era.era() != Some(ClientEra::Modern) || !is_cancel {
                    self.post_notice(&message).await;
                }
                if let Some(post) = cancelled.and_then(|id| self.in_flight.remove(&id)) {
                    post.abort();
                }
                if is_ready && self.link.has_session() {
                    self.keep_listening();
                }
            }
            RpcKind::Response { .. } => self.post_notice(&message).await,
        }
    }

    /// In the order in which they were said. A failure shows at the next request.
    async fn post_notice(&self, message: &RpcMessage) {
        let posted = self.link.post(message, &self.messages);
        if !matches!(tokio::time::timeout(NOTICE_WITHIN, posted).await, Ok(Ok(()))) {
            tracing::debug!(upstream = %self.upstream.name(), "MCP notification not delivered");
        }
    }

    fn keep_listening(&mut self) {
        let (link, messages) = (self.link.clone(), self.messages.clone());
        let gone = self.upstream.gone_token().clone();
        self.posts.spawn(async move {
            loop {
                match link.listen(&messages).await {
                    // Some end it after a while, and take another.
                    Ok(true) | Err(RawHttpError::NotSent(_) | RawHttpError::Lost(_)) => {}
                    Ok(false) | Err(RawHttpError::SessionGone | RawHttpError::OtherConsent) => {
                        return (None, Ok(()));
                    }
                }
                tokio::select! {
                    () = gone.cancelled() => return (None, Ok(())),
                    () = tokio::time::sleep(LISTEN_AGAIN) => {}
                }
            }
        });
    }

    async fn end_post(&mut self, id: Option<RpcId>, ended: Result<(), RawHttpError>) {
        let Some(id) = id else { return };
        self.in_flight.remove(&id);
        let name = self.upstream.name();
        let error = match ended {
            Ok(()) => return,
            Err(RawHttpError::NotSent(why)) => {
                UpstreamError::NotSent(format!("the MCP server `{name}` cannot be used: {why}"))
            }
            Err(RawHttpError::Lost(why)) => {
                UpstreamError::Lost(format!("the MCP server `{name}` did not answer: {why}"))
            }
            Err(RawHttpError::SessionGone) => {
                let why = format!("the MCP server `{name}` has forgotten our session");
                self.upstream.hang_up("it has forgotten our session".into());
                UpstreamError::NotSent(why)
            }
            Err(RawHttpError::OtherConsent) => {
                self.upstream.hang_up(OTHER_CONSENT.into());
                UpstreamError::NotSent(format!("the MCP server `{name}`: {OTHER_CONSENT}"))
            }
        };
        if self.upstream.fail(&id, error.clone()) {
            return;
        }
        let (UpstreamError::NotSent(why) | UpstreamError::Lost(why)) = error;
        let line = error_line(Some(&id), RpcFailure::new(INTERNAL_ERROR, why));
        if let Ok(message) = RpcMessage::parse(&line) {
            let _ = self.messages.send((Some(id), message)).await;
        }
    }
}
