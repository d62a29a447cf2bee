//! Tasks that an earlier process began: found again by their client, they go on where their hold stands.

use std::sync::Arc;

use domain::id::HoldId;
use serde_json::Value;
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
        if let Some(why) = why_it_is_over(found.as_ref()) {
            let state = completed(&CallReply::failed(why).in_era(call.meta.era));
            return self.call_tasks.finish(hold, state, self.now());
        }
        let verdict = self.clear_call(&call, &CallWait::endless()).await;
        self.finish_task(hold, &call, verdict).await;
    }
}

/// A task goes on while people are asked, or with an approval of its call that was not used. Anything else would be
/// asked about, or carried out, a second time: also what was agreed to is a definition, since the call behind it may have run.
fn why_it_is_over(hold: Option<&Value>) -> Option<&'static str> {
    let state = hold.and_then(|hold| hold["state"].as_str());
    let is_unused = hold.is_some_and(|hold| !hold["call"].is_null() && hold["outcome"].is_null());
    match state {
        Some("pending") => None,
        Some("approved") if is_unused => None,
        Some("denied" | "expired" | "cancelled") => {
            Some("Nothing was run: people did not allow the call.")
        }
        _ => Some(
            "The call was begun before a restart: it may or may not have been carried out, and its result is not kept. Look before you try again.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_goes_on_only_while_its_call_has_not_run() {
        let over = |hold| why_it_is_over(Some(&hold)).is_some();
        assert!(!over(json!({"state": "pending", "call": null, "outcome": null})));
        assert!(!over(json!({"state": "approved", "call": {"tool": "t"}, "outcome": null})));
        assert!(over(
            json!({"state": "approved", "call": {"tool": "t"}, "outcome": {"state": "executing"}})
        ));
        assert!(over(json!({"state": "approved", "call": null, "outcome": null})));
        assert!(over(json!({"state": "denied", "call": {"tool": "t"}, "outcome": null})));
        assert!(why_it_is_over(None).is_some());
    }
}
