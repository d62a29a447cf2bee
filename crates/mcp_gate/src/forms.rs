//! The question as a form that the client shows to its user, in both eras.
//!
//! What is answered there is the answer of the person whose token we have, so all of this must hold: somebody chose
//! it (`--answer-in-client`), the token is a person's, the server says that this person may answer now, the risk is not
//! high, and the whole call fits into the form. Otherwise the call waits for people elsewhere.

use domain::visible::visible_multiline;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tools::mcp::RpcMessage;

use crate::call_wait::CallWait;
use crate::calls::GatedCall;
use crate::era::ClientEra;
use crate::gate::{GateQuestion, PendingHold, PersonVerdict, QuestionSubject};
use crate::gate_hold::GateHold;
use crate::limits::FORM_MESSAGE_MAX;
use crate::session::ProxySession;
use crate::states::OpenForm;

/// What begins a state of ours, so that it is never taken for an upstream's.
const STATE_PREFIX: &str = "holdpoint-form-";
const APPROVAL: &str = "approval";

/// Whether this call may be asked about in the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormRung {
    None,
    /// The form is the result, and the call comes again with what was answered.
    Modern,
    /// The form is a request of ours.
    Legacy,
}

/// What the client's user made of the form.
#[derive(Debug, PartialEq, Eq)]
enum FormAnswer {
    Approved,
    Denied(Option<String>),
    /// Put away, or nothing that we understand: the question stays open.
    Undecided,
}

impl FormAnswer {
    fn parse(result: &Value) -> FormAnswer {
        let content = &result["content"];
        match (result["action"].as_str(), content["decision"].as_str()) {
            (Some("accept"), Some("approve")) => FormAnswer::Approved,
            (Some("accept"), Some("deny")) | (Some("decline"), _) => {
                FormAnswer::Denied(content["reason"].as_str().map(str::to_owned))
            }
            _ => FormAnswer::Undecided,
        }
    }
}

#[derive(Serialize)]
struct FormParams {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    message: String,
    #[serde(rename = "requestedSchema")]
    requested_schema: Value,
}

impl FormParams {
    /// No default: a person says it themselves.
    fn new(era: ClientEra, message: String) -> FormParams {
        FormParams {
            mode: (era == ClientEra::Modern).then_some("form"),
            message,
            requested_schema: json!({
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "enum": ["approve", "deny"]},
                    "reason": {"type": "string"},
                },
                "required": ["decision"],
            }),
        }
    }
}

/// All of the call, or nothing: what is not shown cannot be approved.
fn form_message(tool: &str, arguments: &Value) -> Option<String> {
    let arguments = serde_json::to_string_pretty(arguments).ok()?;
    let message =
        format!("Approve `{tool}` with these arguments?\n{}", visible_multiline(&arguments));
    (message.len() <= FORM_MESSAGE_MAX).then_some(message)
}

impl ProxySession {
    /// Takes the answer out of a call that comes again with one of our forms, and says whether another may be shown.
    pub(crate) async fn take_form_answer(&self, call: &mut GatedCall) -> anyhow::Result<FormRung> {
        let state = call.params.get_text("requestState");
        let mut is_undecided = false;
        if let Some(state) = state.filter(|state| state.starts_with(STATE_PREFIX)) {
            call.params.remove("requestState");
            let responses = call.params.remove("inputResponses");
            // Forged, replayed or for another call: it answers nothing.
            if let Some(form) = self.states.take_form(&state, call.key) {
                let responses =
                    responses.map(|responses| serde_json::from_str::<Value>(responses.get()));
                let responses = responses.transpose()?.unwrap_or_default();
                let answer = FormAnswer::parse(&responses[APPROVAL]);
                is_undecided = answer == FormAnswer::Undecided;
                self.give_answer(&form.hold, answer).await?;
            }
        }
        let capabilities = match call.meta.era {
            ClientEra::Modern => call.meta.capabilities,
            ClientEra::Legacy => self.legacy_capabilities(),
        };
        if !self.options.answer_in_client || !capabilities.forms || is_undecided {
            return Ok(FormRung::None);
        }
        Ok(match call.meta.era {
            ClientEra::Modern => FormRung::Modern,
            ClientEra::Legacy => FormRung::Legacy,
        })
    }

    async fn give_answer(&self, shown: &GateHold, answer: FormAnswer) -> anyhow::Result<()> {
        match answer {
            FormAnswer::Approved => self.gate.service().answer(shown, PersonVerdict::Approve).await,
            FormAnswer::Denied(reason) => {
                let verdict = PersonVerdict::Deny { reason: reason.as_deref() };
                self.gate.service().answer(shown, verdict).await
            }
            FormAnswer::Undecided => Ok(()),
        }
    }

    /// A result with the form, for a modern client. A legacy one is asked here, and its answer goes to the server; what was
    /// decided is heard from there. Without a form this never returns.
    pub(crate) async fn show_form(
        &self,
        call: &GatedCall,
        wait: &CallWait,
        question: &GateQuestion,
        pending: &PendingHold,
    ) -> anyhow::Result<Box<RawValue>> {
        let on_the_table = pending.hold.call.as_ref().map(|call| &call.arguments);
        let message = match &question.subject {
            // Edited by a person since: what would run now is on the page, and not in this call.
            QuestionSubject::Call { tool, arguments }
                if wait.form != FormRung::None
                    && call.others.is_none()
                    && on_the_table == Some(arguments.value()) =>
            {
                form_message(tool, arguments.value())
            }
            _ => None,
        };
        let Some(message) = message else { return std::future::pending().await };
        if !self.gate.may_answer(pending).await {
            return std::future::pending().await;
        }
        let params = FormParams::new(call.meta.era, message);
        if wait.form == FormRung::Modern {
            return self.form_result(call, pending, &params);
        }
        let answer = self.ask_client(&call.id, "elicitation/create", &params).await;
        let answer = answer.as_ref().map_or(FormAnswer::Undecided, read_answer);
        self.give_answer(&pending.hold, answer).await?;
        std::future::pending().await
    }

    fn form_result(
        &self,
        call: &GatedCall,
        pending: &PendingHold,
        params: &FormParams,
    ) -> anyhow::Result<Box<RawValue>> {
        let state = format!("{STATE_PREFIX}{}", crate::random::fresh_key()?);
        let (hold, _waiter) = (pending.hold.clone(), pending.waiter.join_again());
        let form = OpenForm { key: call.key, hold, _waiter };
        anyhow::ensure!(self.states.keep_form(state.clone(), form), "too many forms are open");
        Ok(to_raw_value(&json!({
            "resultType": "input_required",
            "requestState": state,
            "inputRequests": {APPROVAL: {"method": "elicitation/create", "params": params}},
        }))?)
    }
}

fn read_answer(message: &RpcMessage) -> FormAnswer {
    let result = message.object.get("result").map(RawValue::get).unwrap_or_default();
    FormAnswer::parse(&serde_json::from_str(result).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_accepted_form_that_says_approve_approves() {
        let of = |answer: Value| FormAnswer::parse(&answer);
        let yes = json!({"action": "accept", "content": {"decision": "approve"}});
        assert_eq!(of(yes), FormAnswer::Approved);
        for no in [
            json!({"action": "decline", "content": {"decision": "approve"}}),
            json!({"action": "accept", "content": {"decision": "deny"}}),
        ] {
            assert_eq!(of(no), FormAnswer::Denied(None));
        }
        for open in [
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"decision": "Approve"}}),
            json!({"action": "cancel", "content": {"decision": "approve"}}),
            json!({"content": {"decision": "approve"}}),
            json!(null),
        ] {
            assert_eq!(of(open), FormAnswer::Undecided);
        }
    }

    #[test]
    fn a_call_that_does_not_fit_is_not_asked_about_in_a_form() {
        let shown = form_message("f__write", &json!({"a": "x\u{202e}y"})).unwrap();
        assert!(shown.contains("f__write") && !shown.contains('\u{202e}'), "{shown}");
        assert!(form_message("t", &json!({"a": "x".repeat(FORM_MESSAGE_MAX)})).is_none());
    }
}
