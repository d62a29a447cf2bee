//! One question to the Holdpoint server: opened or found again, judged, and its approval used once.
//!
//! Every error is a denial. Nothing here knows MCP.

use anyhow::Context as _;
use domain::digest::{Digest, Framed};
use domain::id::HoldId;
use domain::json::{Arguments, canonical};
use domain::visible::visible;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::config::UpstreamConfig;
use super::questions::OpenQuestions;
use crate::cli::ask::unanswered;
use crate::cli::client::Client;
use crate::cli::mcp::waiting::hold_id;
use crate::cli::problem::Problem;

pub(super) struct HoldGate {
    client: Client,
    questions: OpenQuestions,
}

/// What people are asked.
pub(super) struct GateQuestion {
    /// Finds the question again when the same call comes back.
    pub(super) key: Digest,
    pub(super) title: String,
    pub(super) context: QuestionContext,
    pub(super) subject: QuestionSubject,
}

pub(super) enum QuestionSubject {
    /// May this call be made? The policy decides whether anybody is asked.
    Call { tool: String, arguments: Arguments },
    /// May a changed tool be used at all? That is always asked.
    Definition,
}

/// What people see beside the call itself.
#[derive(Serialize)]
pub(super) struct QuestionContext {
    pub(super) mcp_server: String,
    pub(super) says_it_is: Option<String>,
    pub(super) program: String,
    pub(super) directory: String,
    /// Names only: values may be secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) variables: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pinned_definition: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offered_definition: Option<Value>,
    match_key: String,
}

impl QuestionContext {
    pub(super) fn new(config: &UpstreamConfig, identity: Option<String>) -> QuestionContext {
        QuestionContext {
            mcp_server: config.name.clone(),
            says_it_is: identity,
            program: config.program.clone(),
            directory: config.directory().display().to_string(),
            variables: config.env.keys().cloned().collect(),
            pinned_definition: None,
            offered_definition: None,
            match_key: String::new(),
        }
    }
}

#[derive(Serialize)]
struct HoldBody<'a> {
    kind: &'static str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallBody<'a>>,
    context: &'a QuestionContext,
}

#[derive(Serialize)]
struct CallBody<'a> {
    tool: &'a str,
    arguments: &'a RawValue,
}

#[derive(Serialize)]
struct OutcomeReport<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
}

#[derive(Serialize)]
struct AnswerBody<'a> {
    digest: &'a Value,
    answer: PersonVerdict<'a>,
}

/// What a person said in the client.
#[derive(Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub(super) enum PersonVerdict<'a> {
    Approve,
    Deny { reason: Option<&'a str> },
}

/// Leave to go on, once.
pub(super) struct GateLeave {
    pub(super) hold: HoldId,
    /// What a person made of the arguments, if they changed them.
    pub(super) edited: Option<Arguments>,
}

pub(super) enum GateStanding {
    Cleared(GateLeave),
    Refused(String),
    Pending(Box<PendingHold>),
}

pub(super) struct PendingHold {
    pub(super) id: HoldId,
    pub(super) hold: Value,
}

enum Judged {
    Leave(GateLeave),
    UsedBefore,
    Refused(String),
}

/// Source, tool, canonical arguments, and whatever else the call says.
pub(super) fn match_key(source: Digest, tool: &str, arguments: &Arguments, others: &str) -> Digest {
    Framed::new("holdpoint.mcp.match.v1")
        .field("source", source.as_bytes())
        .field("tool", tool.as_bytes())
        .field("arguments", &canonical(arguments.value()))
        .field("others", others.as_bytes())
        .finish()
}

impl HoldGate {
    pub(super) fn new(client: Client, questions: OpenQuestions) -> HoldGate {
        HoldGate { client, questions }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Finds the question again, or asks it.
    pub(super) async fn ask(&self, question: &mut GateQuestion) -> anyhow::Result<GateStanding> {
        let key = question.key;
        question.context.match_key = key.to_string();
        if let Some(id) = self.questions.find(key) {
            match self.client.hold(id).await {
                Ok(hold) if hold["context"]["match_key"] != question.context.match_key.as_str() => {
                    self.questions.forget(key, id);
                }
                Ok(hold) if hold["state"] == "pending" => {
                    return Ok(GateStanding::Pending(Box::new(PendingHold { id, hold })));
                }
                Ok(hold) => match self.judge(question, id, &hold).await? {
                    Judged::Leave(leave) => {
                        self.questions.forget(key, id);
                        return Ok(GateStanding::Cleared(leave));
                    }
                    // Said once, to the call that came back for it. The next one is a new question.
                    Judged::Refused(why) => {
                        self.questions.forget(key, id);
                        return Ok(GateStanding::Refused(why));
                    }
                    Judged::UsedBefore => self.questions.forget(key, id),
                },
                Err(error) if is_unknown(&error) => self.questions.forget(key, id),
                Err(error) => return Err(error),
            }
        }
        let opened = self.open(question).await?;
        let id = hold_id(&opened)?;
        if opened["state"] == "pending" {
            self.questions.keep(key, id)?;
            return Ok(GateStanding::Pending(Box::new(PendingHold { id, hold: opened })));
        }
        match self.judge(question, id, &opened).await? {
            Judged::Leave(leave) => Ok(GateStanding::Cleared(leave)),
            Judged::Refused(why) => Ok(GateStanding::Refused(why)),
            Judged::UsedBefore => anyhow::bail!("the approval was used before"),
        }
    }

    async fn open(&self, question: &GateQuestion) -> anyhow::Result<Value> {
        let call = match &question.subject {
            QuestionSubject::Call { tool, arguments } => {
                let arguments = serde_json::from_slice::<&RawValue>(arguments.bytes())?;
                Some(CallBody { tool, arguments })
            }
            QuestionSubject::Definition => None,
        };
        let body =
            HoldBody { kind: "approve", title: &question.title, call, context: &question.context };
        self.client.post("/v1/holds", &body).await
    }

    /// People have decided. `None`: the approval was used by another call meanwhile.
    pub(super) async fn take_decision(
        &self,
        question: &GateQuestion,
        id: HoldId,
        hold: &Value,
    ) -> anyhow::Result<Option<GateStanding>> {
        let judged = self.judge(question, id, hold).await?;
        self.questions.forget(question.key, id);
        Ok(match judged {
            Judged::Leave(leave) => Some(GateStanding::Cleared(leave)),
            Judged::Refused(why) => Some(GateStanding::Refused(why)),
            Judged::UsedBefore => None,
        })
    }

    async fn judge(
        &self,
        question: &GateQuestion,
        id: HoldId,
        hold: &Value,
    ) -> anyhow::Result<Judged> {
        let rule = hold["rule"].as_str().map(|rule| format!(" (rule \"{}\")", visible(rule)));
        let rule = rule.unwrap_or_default();
        match hold["state"].as_str() {
            Some("approved") => {}
            Some("answered") => {
                let decision = &hold["decision"];
                let said = decision["content"].as_str().or_else(|| decision["respond"].as_str());
                let said = said.map_or_else(|| unanswered(hold), visible);
                return Ok(Judged::Refused(format!("A person answered in its place: {said}")));
            }
            _ => return Ok(Judged::Refused(format!("{}{rule}", unanswered(hold)))),
        }
        let QuestionSubject::Call { tool, arguments } = &question.subject else {
            return Ok(Judged::Leave(GateLeave { hold: id, edited: None }));
        };
        anyhow::ensure!(hold["call"]["tool"] == tool.as_str(), "the approval is for another tool");
        let approved = &hold["call"]["arguments"];
        let edited = match approved == arguments.value() {
            true => None,
            false => {
                let edited = Arguments::from_value(approved.clone());
                Some(edited.context("the approved arguments cannot be used")?)
            }
        };
        // What a rule allows, it allows each time. What a person approved is used once.
        if hold["decision"]["by"].is_null() {
            anyhow::ensure!(edited.is_none(), "a rule allowed another call than this one");
            return Ok(Judged::Leave(GateLeave { hold: id, edited }));
        }
        if !hold["outcome"].is_null() {
            return Ok(Judged::UsedBefore);
        }
        match report_outcome(&self.client, id, "executing", None).await {
            Ok(()) => Ok(Judged::Leave(GateLeave { hold: id, edited })),
            Err(error) if is_taken(&error) => Ok(Judged::UsedBefore),
            Err(error) => Err(error.context("the approval could not be taken up")),
        }
    }

    /// Whether a call that was let through may go on: nothing is frozen, and its hold still says that it runs.
    pub(super) async fn check_going_on(&self, id: HoldId) -> anyhow::Result<()> {
        let freeze = self.client.get("/v1/freeze").await?;
        anyhow::ensure!(freeze["frozen"] == false, "everything is frozen");
        let hold = self.client.hold(id).await?;
        let is_running = matches!(hold["outcome"]["state"].as_str(), None | Some("executing"));
        anyhow::ensure!(hold["state"] == "approved" && is_running, "its approval is over");
        Ok(())
    }

    /// The call is not wanted any more.
    pub(super) async fn withdraw(&self, question: &GateQuestion, id: HoldId) {
        self.questions.forget(question.key, id);
        crate::cli::mcp::waiting::withdraw(&self.client, id, "the client cancelled the call").await;
    }

    /// Whether the owner of our token is a person whom the server would let answer this, now. In doubt: no.
    pub(super) async fn may_answer(&self, pending: &PendingHold) -> bool {
        let is_harmless = matches!(pending.hold["risk"].as_str(), Some("low" | "medium"));
        let me = self.client.get("/v1/me").await.unwrap_or_default();
        let has = |scope: &Value| scope == "answer";
        let is_person = me["kind"] == "person"
            && me["scopes"].as_array().is_some_and(|scopes| scopes.iter().any(has));
        if !is_harmless || !is_person {
            return false;
        }
        let mine = self.client.get("/v1/holds?state=pending&mine=true&limit=100").await;
        let mine = mine.unwrap_or_default();
        let id = pending.id.to_string();
        mine["items"].as_array().into_iter().flatten().any(|hold| hold["id"] == id.as_str())
    }

    pub(super) async fn answer(
        &self,
        pending: &PendingHold,
        answer: PersonVerdict<'_>,
    ) -> anyhow::Result<()> {
        let body = AnswerBody { digest: &pending.hold["digest"], answer };
        let path = format!("/v1/holds/{}/answer", pending.id);
        self.client.post(&path, &body).await.map(drop)
    }
}

/// What became of the call that an approval was used for: `executing`, `succeeded` or `failed`.
pub(super) async fn report_outcome(
    client: &Client,
    id: HoldId,
    state: &'static str,
    result: Option<&str>,
) -> anyhow::Result<()> {
    let report = OutcomeReport { state, result };
    client.post(&format!("/v1/holds/{id}/outcome"), &report).await.map(drop)
}

fn is_unknown(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Problem>().is_some_and(|problem| problem.status == 404)
}

fn is_taken(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Problem>().is_some_and(|problem| problem.status == 409)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_has_one_key_however_it_is_spelled() {
        let key = |tool: &str, text: &str| {
            match_key(Digest::of(b"s"), tool, &Arguments::parse(text.as_bytes()).unwrap(), "")
        };
        let one = key("write", r#"{"a":1.10,"b":2}"#);
        assert_eq!(one, key("write", r#"{"b": 2, "a": 1.1}"#));
        assert_ne!(one, key("write", r#"{"a":1.1,"b":3}"#));
        assert_ne!(one, key("read", r#"{"a":1.1,"b":2}"#));
    }
}
