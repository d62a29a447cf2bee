//! Whether what became of a hold lets exactly this call run.

use domain::hold::HoldReplyState;
use domain::visible::visible;
use serde::Deserialize;
use serde_json::Value;

use crate::files::AgentFiles;
use crate::host::AgentHost;
use crate::proposal::HookProposal;
use crate::question::HookQuestion;
use crate::reply::{AllowedCall, HookReply};

/// What a hook reads of a hold, in the shape of the HTTP API.
#[derive(Debug, Deserialize)]
pub struct HoldReply {
    pub id: String,
    pub state: HoldReplyState,
    rule: Option<String>,
    call: Option<ApprovedArguments>,
    decision: Option<HoldDecision>,
    cancelled: Option<Withdrawal>,
}

#[derive(Debug, Deserialize)]
struct ApprovedArguments {
    tool: String,
    arguments: Value,
}

#[derive(Debug, Deserialize)]
struct HoldDecision {
    by: Option<String>,
    rule: Option<String>,
    reason: Option<String>,
    note: Option<String>,
    content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Withdrawal {
    by: Option<String>,
    reason: Option<String>,
}

/// An approval that does not fit the call any more.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    #[error("the approval is for another tool")]
    OtherTool,
    #[error(
        "the arguments that were approved are not of this call, or lead to other files by now; try again"
    )]
    OtherArguments,
    #[error("the file has changed since the question was asked; read it again, and try again")]
    FileChanged,
}

#[derive(Debug)]
pub enum Judgement {
    Reply(HookReply),
    /// Leave for one call: the server must be told first that it starts, and refuses while all is frozen, if the
    /// rules have become stricter, and a second time.
    TakeUp(UnusedApproval),
}

/// Leave for one call that is not used yet.
#[derive(Debug)]
pub struct UnusedApproval(AllowedCall);

impl UnusedApproval {
    /// Only a start that the server took lets the call run.
    pub fn start<S, E>(self, started: Result<S, E>) -> Result<HookReply, E> {
        started.map(|_| HookReply::Allow(self.0))
    }
}

pub fn judge(
    proposal: &HookProposal,
    files: &dyn AgentFiles,
    question: &HookQuestion<'_>,
    hold: &HoldReply,
) -> Result<Judgement, Mismatch> {
    let (HoldReplyState::Approved, Some(approved)) = (hold.state, &hold.call) else {
        return Ok(Judgement::Reply(HookReply::Deny(why_not(hold))));
    };
    if approved.tool != proposal.tool {
        return Err(Mismatch::OtherTool);
    }
    let input = approved.arguments.get("input").unwrap_or(&Value::Null);
    // Files are looked at again: links may lead elsewhere by now.
    let now = serde_json::to_value(proposal.arguments(files, input)).unwrap_or_default();
    if approved.arguments != now {
        return Err(Mismatch::OtherArguments);
    }
    let is_edited = *input != proposal.input;
    // What people looked at, whether they edited the call or not.
    if proposal.diff(files, &proposal.input).as_deref() != question.diff() {
        return Err(Mismatch::FileChanged);
    }
    if is_edited && !can_take(proposal, input) {
        return Ok(Judgement::Reply(HookReply::deny_naming(input)));
    }
    let edited = is_edited.then(|| input.clone());
    let by = hold.decision.as_ref().and_then(|decision| decision.by.as_deref()).map(visible);
    let reason = match by {
        Some(by) => format!("approved by {by} in Holdpoint ({})", visible(&hold.id)),
        None => format!("allowed by Holdpoint's policy{}", rule_text(hold)),
    };
    Ok(Judgement::TakeUp(UnusedApproval(AllowedCall::new(edited, reason))))
}

/// Gemini merges what it is handed into its own arguments, so none can be taken away.
fn can_take(proposal: &HookProposal, input: &Value) -> bool {
    let keeps_all = || {
        let own = proposal.input.as_object().into_iter().flatten();
        own.map(|(key, _)| key).all(|key| input.get(key).is_some())
    };
    match proposal.host {
        AgentHost::Claude | AgentHost::Codex => true,
        AgentHost::Gemini => keeps_all(),
        AgentHost::Cursor => false,
    }
}

fn rule_text(hold: &HoldReply) -> String {
    hold.rule.as_deref().map(|rule| format!(" (rule \"{}\")", visible(rule))).unwrap_or_default()
}

fn why_not(hold: &HoldReply) -> String {
    let said = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(visible);
    let because = |reason: Option<String>| reason.map(|why| format!(": {why}")).unwrap_or_default();
    let why = match (hold.state, &hold.decision) {
        // A person's own words in the tool's place: the model gets them, and nothing runs.
        (HoldReplyState::Answered, Some(decision)) => {
            let content = said(&decision.content).unwrap_or_default();
            return format!("A person answered in place of this call: {content}");
        }
        (HoldReplyState::Denied, Some(decision)) => {
            let by = match (said(&decision.by), said(&decision.rule)) {
                (Some(by), _) => format!(" by {by}"),
                (None, Some(rule)) => format!(" by the rule \"{rule}\""),
                (None, None) => String::new(),
            };
            let reason = said(&decision.reason).or_else(|| said(&decision.note));
            format!("Denied{by}{}", because(reason))
        }
        (HoldReplyState::Expired, _) => "Expired: nobody answered in time.".to_owned(),
        (HoldReplyState::Cancelled, _) => {
            let withdrawal = hold.cancelled.as_ref();
            let by = withdrawal.and_then(|withdrawal| said(&withdrawal.by));
            let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
            let reason = withdrawal.and_then(|withdrawal| said(&withdrawal.reason));
            format!("Cancelled: taken back{by}{}", because(reason))
        }
        _ => "There is no approval.".to_owned(),
    };
    crate::reply::denial(&format!("{why}{}", rule_text(hold)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::files::UnseenFiles;
    use crate::proposal::sample;

    fn hold(state: &str, input: &Value, decision: Value) -> HoldReply {
        let hold = json!({
            "id": "hold_1", "state": state, "rule": null, "decision": decision, "more": 1,
            "call": {"tool": "Bash", "arguments": {"cwd": "/r", "input": input}},
        });
        HoldReply::deserialize(&hold).unwrap()
    }

    fn judged(host: AgentHost, hold: &HoldReply) -> Result<Judgement, Mismatch> {
        let call = json!({"command": "ls", "description": "d"});
        let proposal = HookProposal { host, ..sample("Bash", call) };
        let question = HookQuestion::new(&proposal, &UnseenFiles, None);
        judge(&proposal, &UnseenFiles, &question, hold)
    }

    #[test]
    fn i08_i52_leave_must_be_taken_up_before_the_call_runs() {
        let call = json!({"command": "ls", "description": "d"});
        for decision in [json!({"by": "ana"}), json!({"by": null, "rule": "reads pass"})] {
            let approved = hold("approved", &call, decision);
            let Ok(Judgement::TakeUp(unused)) = judged(AgentHost::Claude, &approved) else {
                panic!("it runs only when the server has taken its start")
            };
            assert!(unused.start::<(), _>(Err("used before")).is_err());
        }
    }

    #[test]
    fn an_approval_of_something_else_is_none() {
        let call = json!({"command": "ls", "description": "d"});
        let mut other = hold("approved", &call, json!({"by": "ana"}));
        other.call.as_mut().unwrap().tool = "Write".into();
        assert!(matches!(judged(AgentHost::Claude, &other), Err(Mismatch::OtherTool)));
        let mut other = hold("approved", &call, json!({"by": "ana"}));
        other.call.as_mut().unwrap().arguments["cwd"] = json!("/etc");
        assert!(matches!(judged(AgentHost::Claude, &other), Err(Mismatch::OtherArguments)));
        let mut none = hold("approved", &call, json!({"by": "ana"}));
        none.call = None;
        let denied = judged(AgentHost::Claude, &none);
        assert!(matches!(denied, Ok(Judgement::Reply(HookReply::Deny(_)))), "{denied:?}");
    }

    #[test]
    fn edits_go_only_to_agents_that_can_take_them() {
        let edited = hold("approved", &json!({"command": "pwd"}), json!({"by": "ana"}));
        for host in [AgentHost::Claude, AgentHost::Codex] {
            assert!(matches!(judged(host, &edited), Ok(Judgement::TakeUp(_))));
        }
        for host in [AgentHost::Gemini, AgentHost::Cursor] {
            let Ok(Judgement::Reply(HookReply::Deny(why))) = judged(host, &edited) else {
                panic!("{host:?} cannot take an argument away")
            };
            assert!(why.contains(r#"{"command":"pwd"}"#), "{why}");
        }
    }

    #[test]
    fn every_other_state_denies_and_says_why() {
        for (state, decision, said) in [
            ("pending", json!(null), "no approval"),
            ("denied", json!({"by": "ana", "reason": "not now"}), "Denied by ana: not now"),
            ("denied", json!({"by": null, "rule": "never"}), "Denied by the rule \"never\""),
            ("answered", json!({"by": "ana", "content": "use the API"}), "use the API"),
            ("expired", json!(null), "nobody answered"),
            ("cancelled", json!(null), "taken back"),
            ("of a newer server", json!({"by": "ana"}), "no approval"),
        ] {
            let Ok(Judgement::Reply(HookReply::Deny(why))) =
                judged(AgentHost::Claude, &hold(state, &json!({}), decision))
            else {
                panic!("{state} is no approval")
            };
            assert!(why.contains(said), "{state}: {why}");
        }
    }
}
