//! Tasks that an earlier process began: found again by their client, they go on where their hold stands.

use std::sync::Arc;

use domain::hold::HoldReplyState;
use domain::id::HoldId;
use tokio_util::sync::CancellationToken;
use tools::mcp::RpcMessage;

use crate::call_wait::CallWait;
use crate::calls::GatedCall;
use crate::gate_hold::GateHold;
use crate::reply::CallReply;
use crate::session::ProxySession;
use crate::task_calls::completed;
use crate::tasks::TaskId;

impl ProxySession {
    /// Whether there is such a task: here, or kept by an earlier process of ours.
    pub(crate) async fn find_or_resume_task(self: &Arc<Self>, id: &TaskId) -> bool {
        if self.call_tasks.find(id).is_some() {
            return true;
        }
        let Some(kept) = self.gate.service().find_task(id).await.ok().flatten() else {
            return false;
        };
        let Ok(message) = RpcMessage::parse(&kept.request) else { return false };
        let cancelled = CancellationToken::new();
        let Ok(call) = self.read_call(&self.own_id(), message, cancelled.clone()) else {
            return false;
        };
        // Of two that ask at once, one takes it up.
        match self.call_tasks.start_unless_known(id, cancelled, self.now()) {
            Ok(true) => {
                let (session, id) = (self.clone(), id.clone());
                self.tracker.spawn(async move { session.resume_task(&id, kept.hold, call).await });
                true
            }
            Ok(false) => true,
            // It is kept, and can be asked for again when there is room.
            Err(_) => false,
        }
    }

    async fn resume_task(&self, id: &TaskId, hold: HoldId, call: GatedCall) {
        let found = self.gate.service().find(hold).await.ok().flatten();
        if let Some(why) = why_it_is_over(found.as_ref()) {
            let state = completed(&CallReply::failed(why).in_era(call.meta.era));
            return self.call_tasks.finish(id, state, self.now());
        }
        let verdict = self.clear_call(&call, &CallWait::of_task(id.clone(), hold)).await;
        self.finish_task(id, &call, verdict).await;
    }
}

/// A task goes on while people are asked, or with an approval of its call that was not used. Anything else would be
/// asked about, or carried out, a second time: also what was agreed to is a definition, since the call behind it may have run.
fn why_it_is_over(hold: Option<&GateHold>) -> Option<&'static str> {
    let is_unused = hold.is_some_and(|hold| hold.call.is_some() && hold.outcome.is_none());
    match hold.map(|hold| hold.state) {
        Some(HoldReplyState::Pending) => None,
        Some(HoldReplyState::Approved) if is_unused => None,
        Some(HoldReplyState::Denied | HoldReplyState::Expired | HoldReplyState::Cancelled) => {
            Some("Nothing was run: people did not allow the call.")
        }
        Some(HoldReplyState::Approved | HoldReplyState::Answered | HoldReplyState::Other)
        | None => Some(
            "The call was begun before a restart: it may or may not have been carried out, and its result is not kept. Look before you try again.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::gate_hold::tests::hold;

    #[test]
    fn a_task_goes_on_only_while_its_call_has_not_run() {
        let over = |more: Value| why_it_is_over(Some(&hold(&more))).is_some();
        assert!(!over(json!({"state": "pending", "call": null, "outcome": null})));
        assert!(!over(
            json!({"state": "approved", "call": {"tool": "t", "arguments": {}}, "outcome": null})
        ));
        assert!(over(
            json!({"state": "approved", "call": {"tool": "t", "arguments": {}}, "outcome": {"state": "executing"}})
        ));
        assert!(over(json!({"state": "approved", "call": null, "outcome": null})));
        assert!(over(
            json!({"state": "denied", "call": {"tool": "t", "arguments": {}}, "outcome": null})
        ));
        let call = json!({"tool": "t", "arguments": {}});
        assert!(over(json!({"state": "postponed", "call": call, "outcome": null})));
        assert!(why_it_is_over(None).is_some());
    }
}
