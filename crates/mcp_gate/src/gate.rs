//! One question to Holdpoint: opened or found again, judged, and its approval used once.
//!
//! Every error is a denial. Nothing here knows MCP, and where Holdpoint is (over HTTP, or this process) is behind
//! [`HoldService`].

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use domain::digest::{Digest, Framed};
use domain::id::HoldId;
use domain::json::{Arguments, canonical};
use domain::time::Timestamp;
use domain::visible::visible;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::config::{UpstreamConfig, UpstreamReach};

/// Holdpoint, as the owner of one token sees it. Holds are in the shapes of the HTTP API.
#[async_trait]
pub trait HoldService: Send + Sync {
    /// Which Holdpoint this is, and whose calls are asked about: no question of one is found by another.
    fn source(&self) -> String;

    /// Where people see a hold.
    fn page(&self, id: HoldId) -> String;

    fn now(&self) -> Timestamp;

    /// Why a hold is no approval, for the model.
    fn describe(&self, hold: &Value) -> String;

    /// Which hold was opened for a call, if it is remembered.
    async fn find_question(&self, key: Digest) -> anyhow::Result<Option<HoldId>>;

    /// Durable when this returns.
    async fn keep_question(&self, key: Digest, hold: HoldId) -> anyhow::Result<()>;

    /// If it still names this hold: another call may have asked anew meanwhile.
    async fn forget_question(&self, key: Digest, hold: HoldId);

    /// The hold is durable when this returns. Policy may have decided it.
    async fn open(&self, question: &GateQuestion) -> anyhow::Result<Value>;

    /// `None`: there is no such hold.
    async fn find(&self, id: HoldId) -> anyhow::Result<Option<Value>>;

    /// `None`: nobody has decided by then.
    async fn wait_decided(&self, id: HoldId, until: Instant) -> anyhow::Result<Option<Value>>;

    /// Takes up an approval. `false`: another call did.
    async fn start(&self, id: HoldId) -> anyhow::Result<bool>;

    /// What became of the call that an approval was used for.
    async fn report(&self, id: HoldId, ended: Result<(), String>) -> anyhow::Result<()>;

    async fn withdraw(&self, id: HoldId, reason: &str);

    /// Keeps the request of a task, by the hold that it waits for. Durable when this returns, where tasks outlive the process.
    async fn keep_task(&self, _: HoldId, _: &[u8]) -> anyhow::Result<()> {
        Ok(())
    }

    /// The request of a task of this caller that an earlier process kept.
    async fn find_task(&self, _: HoldId) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    async fn is_frozen(&self) -> anyhow::Result<bool>;

    /// Whether the owner of the token is a person who may answer this hold now. In doubt: no.
    async fn may_answer(&self, id: HoldId) -> bool;

    async fn answer(&self, pending: &PendingHold, verdict: PersonVerdict<'_>)
    -> anyhow::Result<()>;
}

pub struct HoldGate {
    service: Arc<dyn HoldService>,
}

/// What people are asked.
pub struct GateQuestion {
    /// Finds the question again when the same call comes back.
    pub key: Digest,
    pub title: String,
    pub context: QuestionContext,
    pub subject: QuestionSubject,
}

pub enum QuestionSubject {
    /// May this call be made? The policy decides whether anybody is asked.
    Call { tool: String, arguments: Arguments },
    /// May a changed tool be used at all? That is always asked.
    Definition,
}

/// What people see beside the call itself.
#[derive(Serialize)]
pub struct QuestionContext {
    pub mcp_server: String,
    pub says_it_is: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Names only: values may be secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_definition: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_definition: Option<Value>,
    pub match_key: String,
}

impl QuestionContext {
    pub fn new(config: &UpstreamConfig, identity: Option<String>) -> QuestionContext {
        let (program, directory, url, variables) = match &config.reach {
            UpstreamReach::Program(program) => (
                Some(program.program.clone()),
                Some(program.directory().display().to_string()),
                None,
                program.env.keys().cloned().collect(),
            ),
            UpstreamReach::Service(service) => (None, None, Some(service.shown_url()), Vec::new()),
        };
        QuestionContext {
            mcp_server: config.name.clone(),
            says_it_is: identity,
            program,
            directory,
            url,
            variables,
            pinned_definition: None,
            offered_definition: None,
            match_key: String::new(),
        }
    }
}

/// What a person said in the client.
#[derive(Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum PersonVerdict<'a> {
    Approve,
    Deny { reason: Option<&'a str> },
}

/// Leave to go on, once.
pub struct GateLeave {
    pub hold: HoldId,
    /// What a person made of the arguments, if they changed them.
    pub edited: Option<Arguments>,
}

pub enum GateStanding {
    Cleared(GateLeave),
    Refused(String),
    Pending(Box<PendingHold>),
}

pub struct PendingHold {
    pub id: HoldId,
    pub hold: Value,
}

enum Judged {
    Leave(GateLeave),
    UsedBefore,
    Refused(String),
}

/// Source, tool, canonical arguments, and whatever else the call says.
pub fn match_key(source: Digest, tool: &str, arguments: &Arguments, others: &str) -> Digest {
    Framed::new("holdpoint.mcp.match.v1")
        .field("source", source.as_bytes())
        .field("tool", tool.as_bytes())
        .field("arguments", &canonical(arguments.value()))
        .field("others", others.as_bytes())
        .finish()
}

impl HoldGate {
    pub fn new(service: Arc<dyn HoldService>) -> HoldGate {
        HoldGate { service }
    }

    pub fn service(&self) -> &Arc<dyn HoldService> {
        &self.service
    }

    /// Finds the question again, or asks it.
    pub async fn ask(&self, question: &mut GateQuestion) -> anyhow::Result<GateStanding> {
        let key = question.key;
        question.context.match_key = key.to_string();
        if let Some(id) = self.service.find_question(key).await? {
            match self.service.find(id).await? {
                Some(hold)
                    if hold["context"]["match_key"] != question.context.match_key.as_str() =>
                {
                    self.service.forget_question(key, id).await;
                }
                Some(hold) if hold["state"] == "pending" => {
                    return Ok(GateStanding::Pending(Box::new(PendingHold { id, hold })));
                }
                Some(hold) => match self.judge(question, id, &hold).await? {
                    Judged::Leave(leave) => {
                        self.service.forget_question(key, id).await;
                        return Ok(GateStanding::Cleared(leave));
                    }
                    // Said once, to the call that came back for it. The next one is a new question.
                    Judged::Refused(why) => {
                        self.service.forget_question(key, id).await;
                        return Ok(GateStanding::Refused(why));
                    }
                    Judged::UsedBefore => self.service.forget_question(key, id).await,
                },
                None => self.service.forget_question(key, id).await,
            }
        }
        let opened = self.service.open(question).await?;
        let id = hold_id(&opened)?;
        if opened["state"] == "pending" {
            self.service.keep_question(key, id).await?;
            return Ok(GateStanding::Pending(Box::new(PendingHold { id, hold: opened })));
        }
        match self.judge(question, id, &opened).await? {
            Judged::Leave(leave) => Ok(GateStanding::Cleared(leave)),
            Judged::Refused(why) => Ok(GateStanding::Refused(why)),
            Judged::UsedBefore => anyhow::bail!("the approval was used before"),
        }
    }

    /// People have decided. `None`: the approval was used by another call meanwhile.
    pub async fn take_decision(
        &self,
        question: &GateQuestion,
        id: HoldId,
        hold: &Value,
    ) -> anyhow::Result<Option<GateStanding>> {
        let judged = self.judge(question, id, hold).await?;
        self.service.forget_question(question.key, id).await;
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
                let said = said.map_or_else(|| self.service.describe(hold), visible);
                return Ok(Judged::Refused(format!("A person answered in its place: {said}")));
            }
            _ => return Ok(Judged::Refused(format!("{}{rule}", self.service.describe(hold)))),
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
        match self.service.start(id).await.context("the approval could not be taken up")? {
            true => Ok(Judged::Leave(GateLeave { hold: id, edited })),
            false => Ok(Judged::UsedBefore),
        }
    }

    /// Whether a call that was let through may go on: nothing is frozen, and its hold still says that it runs.
    pub async fn check_going_on(&self, id: HoldId) -> anyhow::Result<()> {
        anyhow::ensure!(!self.service.is_frozen().await?, "everything is frozen");
        let hold = self.service.find(id).await?.context("its hold is gone")?;
        let is_running = matches!(hold["outcome"]["state"].as_str(), None | Some("executing"));
        anyhow::ensure!(hold["state"] == "approved" && is_running, "its approval is over");
        Ok(())
    }

    /// The call is not wanted any more.
    pub async fn withdraw(&self, question: &GateQuestion, id: HoldId) {
        self.service.forget_question(question.key, id).await;
        self.service.withdraw(id, "the client cancelled the call").await;
    }

    /// Whether the owner of the token may say yes or no in a form, where less is seen than on the page.
    pub async fn may_answer(&self, pending: &PendingHold) -> bool {
        let is_harmless = matches!(pending.hold["risk"].as_str(), Some("low" | "medium"));
        is_harmless && self.service.may_answer(pending.id).await
    }
}

/// The id of a hold in the shape of the HTTP API.
pub fn hold_id(hold: &Value) -> anyhow::Result<HoldId> {
    let id = hold["id"].as_str().and_then(|id| id.parse().ok());
    id.context("the server's reply names no hold")
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
