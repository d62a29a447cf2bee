//! The tools `ask_person` and `check_answer`.

use std::time::Duration;

use domain::hold::HoldReplyState;
use domain::id::HoldId;
use domain::visible::visible;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::ask::{lines, unanswered};
use crate::cli::card::choices;
use crate::cli::client::Client;
use crate::cli::mcp::waiting::{wait_until, withdraw};
use mcp_gate::gate::hold_id;
use mcp_gate::reply::CallReply;

/// As an agent asks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonQuestion {
    kind: String,
    question: String,
    options: Option<Vec<String>>,
    multiple: Option<bool>,
    allow_other: Option<bool>,
    form: Option<Value>,
    context: Option<Value>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    people: Vec<String>,
    expires_in_s: Option<u64>,
}

/// As the server takes it. What does not fit the kind it refuses, with words for the agent.
#[derive(Serialize)]
struct QuestionBody<'a> {
    kind: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiple: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_other: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audience: Option<AskedPeople<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_s: Option<u64>,
}

#[derive(Serialize)]
struct AskedPeople<'a> {
    people: &'a [String],
    roles: &'a [String],
}

impl PersonQuestion {
    fn body(&self) -> QuestionBody<'_> {
        let is_addressed = !self.people.is_empty() || !self.roles.is_empty();
        QuestionBody {
            kind: &self.kind,
            title: &self.question,
            options: self.options.as_deref(),
            multiple: self.multiple,
            allow_other: self.allow_other,
            schema: self.form.as_ref(),
            context: self.context.as_ref(),
            audience: is_addressed
                .then_some(AskedPeople { people: &self.people, roles: &self.roles }),
            expires_in_s: self.expires_in_s,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerCheck {
    hold: String,
}

/// What an agent learns about a question.
#[derive(Serialize)]
struct PersonAnswer {
    hold: String,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    url: String,
}

/// `None`: cancelled, and the question is withdrawn.
pub(super) async fn ask(
    client: &Client,
    arguments: &Value,
    wait: Duration,
    cancelled: &CancellationToken,
) -> Option<CallReply> {
    let until = Instant::now() + wait;
    let asked = async {
        let question: PersonQuestion = serde_json::from_value(arguments.clone())?;
        client.post("/v1/holds", &question.body()).await
    };
    let opened = match asked.await {
        Ok(opened) => opened,
        Err(error) => return Some(failed(&error)),
    };
    let id = match hold_id(&opened) {
        Ok(id) => id,
        Err(error) => return Some(failed(&error)),
    };
    if HoldReplyState::of(&opened) != HoldReplyState::Pending {
        return Some(answer_reply(client, id, &opened));
    }
    tokio::select! {
        waited = wait_until(client, id, until) => Some(match waited {
            Ok(Some(hold)) => answer_reply(client, id, &hold),
            Ok(None) => answer_reply(client, id, &opened),
            Err(error) => failed(&error),
        }),
        () = cancelled.cancelled() => {
            withdraw(client, id, "the agent no longer waits").await;
            None
        }
    }
}

pub(super) async fn check(
    client: &Client,
    arguments: &Value,
    wait: Duration,
    cancelled: &CancellationToken,
) -> Option<CallReply> {
    let until = Instant::now() + wait;
    let looked = async {
        let check: AnswerCheck = serde_json::from_value(arguments.clone())?;
        let id: HoldId = check
            .hold
            .parse()
            .map_err(|_| anyhow::anyhow!("`hold` is the id that ask_person returned: hold_…"))?;
        let hold = client.hold(id).await?;
        if HoldReplyState::of(&hold) != HoldReplyState::Pending {
            return Ok(answer_reply(client, id, &hold));
        }
        let decided = wait_until(client, id, until).await?;
        Ok(answer_reply(client, id, decided.as_ref().unwrap_or(&hold)))
    };
    tokio::select! {
        looked = looked => Some(looked.unwrap_or_else(|error: anyhow::Error| failed(&error))),
        // Looking leaves the question as it is.
        () = cancelled.cancelled() => None,
    }
}

fn failed(error: &anyhow::Error) -> CallReply {
    CallReply::failed(format!("Nobody was asked, or nobody could say what was answered: {error:#}"))
}

fn answer_reply(client: &Client, id: HoldId, hold: &Value) -> CallReply {
    let state = hold["state"].as_str().unwrap_or_default();
    let decision = &hold["decision"];
    let text = |value: &Value| value.as_str().map(visible);
    let url = client.page(id);
    let answer = PersonAnswer {
        hold: id.to_string(),
        state: state.to_owned(),
        answer: answered(hold),
        by: text(&decision["by"]),
        reason: text(&decision["reason"]),
        url: url.clone(),
    };
    let words = match HoldReplyState::of(hold) {
        HoldReplyState::Pending => format!(
            "Nobody has answered yet. The question stays open at {url}; look again with check_answer and the hold {id}. \
             Until then do not act as if somebody had agreed."
        ),
        HoldReplyState::Approved => {
            format!("Approved by {}.", answer.by.as_deref().unwrap_or("a person"))
        }
        HoldReplyState::Answered => lines(hold),
        HoldReplyState::Denied
        | HoldReplyState::Expired
        | HoldReplyState::Cancelled
        | HoldReplyState::Other => unanswered(hold),
    };
    // A reply without its structure would not fit the schema that we announced; it always can be written.
    let structured = serde_json::to_value(&answer).unwrap_or_default();
    CallReply::text(words).structured(structured)
}

fn answered(hold: &Value) -> Option<Value> {
    let decision = &hold["decision"];
    if decision["choose"].is_array() {
        return Some(choices(hold, decision).into());
    }
    let fill = decision.get("fill").filter(|fill| !fill.is_null())?;
    match (&hold["schema"], &fill["text"]) {
        (Value::Null, Value::String(text)) => Some(text.as_str().into()),
        _ => Some(fill.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn client() -> Client {
        Client::with_token("http://127.0.0.1:1", None).unwrap()
    }

    fn reply(hold: Value) -> Value {
        let id = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8".parse().unwrap();
        serde_json::to_value(answer_reply(&client(), id, &hold)).unwrap()
    }

    #[test]
    fn an_open_question_is_no_yes() {
        let said = reply(json!({"state": "pending"}));
        assert_eq!(said["structuredContent"]["state"], "pending");
        let text = said["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("check_answer") && text.contains("hold_01"), "{text}");
    }

    #[test]
    fn answers_are_given_by_label_as_form_and_as_text() {
        let chosen = reply(json!({
            "state": "answered", "options": [{"id": "1", "label": "Blue"}], "decision": {"choose": ["1"], "by": "ana"},
        }));
        assert_eq!(chosen["structuredContent"]["answer"], json!(["Blue"]));
        assert_eq!(chosen["structuredContent"]["by"], "ana");
        let text = reply(
            json!({"state": "answered", "schema": null, "decision": {"fill": {"text": "hi"}}}),
        );
        assert_eq!(text["structuredContent"]["answer"], "hi");
        let form = reply(
            json!({"state": "answered", "schema": {"type": "object"}, "decision": {"fill": {"n": 1}}}),
        );
        assert_eq!(form["structuredContent"]["answer"], json!({"n": 1}));
        let denied = reply(
            json!({"state": "denied", "decision": {"verdict": "deny", "by": "bo", "reason": "no"}}),
        );
        assert_eq!(denied["structuredContent"]["reason"], "no");
    }

    #[tokio::test]
    async fn without_a_server_the_agent_is_told_what_to_do() {
        let asked = json!({"kind": "fill", "question": "Who?"});
        let never = CancellationToken::new();
        let said = ask(&client(), &asked, Duration::from_secs(1), &never).await.unwrap();
        let said = serde_json::to_value(said).unwrap();
        assert_eq!(said["isError"], true);
        assert!(said["content"][0]["text"].as_str().unwrap().contains("holdpoint serve"), "{said}");
    }
}
