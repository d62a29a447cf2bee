//! Tasks that an earlier process began: found again by their client, they go on where their hold stands.

use std::sync::Arc;

use domain::id::HoldId;
use tokio_util::sync::CancellationToken;
use tools::mcp::RpcMessage;

use crate::calls::{CallWait, GatedCall, completed};
use crate::reply::CallReply;
use crate::session::ProxySession;

impl ProxySession {
    /// Whether there is such a task: here, or kept by an earlier process of ours.
    pub(crate) async fn find_or_resume_task(self: &Arc<Self>, id: &str) -> bool {
        if self.call_tasks.find(id).is_some() {
            return true;
        }
        let Ok(hold) = id.parse::<HoldId>() else { return false };
        let kept = self.gate.service().find_task(hold).await.ok().flatten();
        let Some(message) = kept.and_then(|line| RpcMessage::parse(&line).ok()) else {
            return false;
        };
        let cancelled = CancellationToken::new();
        let Ok(call) = self.read_call(&self.own_id(), message, cancelled.clone()) else {
            return false;
        };
        // Of two that ask at once, one takes it up.
        if self.call_tasks.start_unless_known(hold, cancelled, self.now()) {
            let session = self.clone();
            self.tracker.spawn(async move { session.resume_task(hold, call).await });
        }
        true
    }

    async fn resume_task(&self, hold: HoldId, call: GatedCall) {
        let found = self.gate.service().find(hold).await.ok().flatten();
        let is_used = found.is_none_or(|hold| !hold["outcome"].is_null());
        let verdict = match is_used {
            // Its approval was used: asked about again it would be another call.
            true => {
                let why = "The call was begun before a restart: it may or may not have been carried out, and its result is not kept. Look before you try again.";
                let state = completed(&CallReply::failed(why).in_era(call.meta.era));
                return self.call_tasks.finish(hold, state, self.now());
            }
            false => self.clear_call(&call, &CallWait::endless()).await,
        };
        self.finish_task(hold, &call, verdict).await;
    }
}
