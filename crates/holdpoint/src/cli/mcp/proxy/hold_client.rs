//! Holdpoint over HTTP, with the token of this user, and the open questions in files.

use async_trait::async_trait;
use domain::digest::Digest;
use domain::id::HoldId;
use domain::time::Timestamp;
use mcp_gate::gate::{GateQuestion, HoldService, PersonVerdict, QuestionContext, QuestionSubject};
use mcp_gate::gate_hold::GateHold;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::questions::OpenQuestions;
use crate::cli::client::Client;
use crate::cli::mcp::waiting::{wait_until, withdraw};
use crate::cli::output::now;
use crate::cli::problem::Problem;

pub(super) struct HoldClient {
    client: Client,
    questions: OpenQuestions,
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
    digest: Option<String>,
    answer: PersonVerdict<'a>,
}

impl HoldClient {
    pub(super) fn new(client: Client, questions: OpenQuestions) -> HoldClient {
        HoldClient { client, questions }
    }

    async fn report_outcome(
        &self,
        id: HoldId,
        state: &'static str,
        result: Option<&str>,
    ) -> anyhow::Result<()> {
        let report = OutcomeReport { state, result };
        self.client.post(&format!("/v1/holds/{id}/outcome"), &report).await.map(drop)
    }
}

#[async_trait]
impl HoldService for HoldClient {
    fn source(&self) -> String {
        self.client.server().as_str().to_owned()
    }

    fn page(&self, id: HoldId) -> String {
        self.client.page(id)
    }

    fn now(&self) -> Timestamp {
        now()
    }

    async fn find_question(&self, key: Digest) -> anyhow::Result<Option<HoldId>> {
        Ok(self.questions.find(key))
    }

    async fn keep_question(&self, key: Digest, hold: HoldId) -> anyhow::Result<()> {
        self.questions.keep(key, hold)
    }

    async fn forget_question(&self, key: Digest, hold: HoldId) {
        self.questions.forget(key, hold);
    }

    async fn open(&self, question: &GateQuestion) -> anyhow::Result<GateHold> {
        let call = match &question.subject {
            QuestionSubject::Call { tool, arguments } => {
                let arguments = serde_json::from_slice::<&RawValue>(arguments.bytes())?;
                Some(CallBody { tool, arguments })
            }
            QuestionSubject::Definition => None,
        };
        let body =
            HoldBody { kind: "approve", title: &question.title, call, context: &question.context };
        GateHold::parse(&self.client.post("/v1/holds", &body).await?)
    }

    async fn find(&self, id: HoldId) -> anyhow::Result<Option<GateHold>> {
        match self.client.hold(id).await {
            Ok(hold) => GateHold::parse(&hold).map(Some),
            Err(error) if has_status(&error, 404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn wait_decided(&self, id: HoldId, until: Instant) -> anyhow::Result<Option<GateHold>> {
        let decided = wait_until(&self.client, id, until).await?;
        decided.as_ref().map(GateHold::parse).transpose()
    }

    async fn start(&self, id: HoldId) -> anyhow::Result<bool> {
        match self.report_outcome(id, "executing", None).await {
            Ok(()) => Ok(true),
            Err(error) if has_status(&error, 409) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn report(&self, id: HoldId, ended: Result<(), String>) -> anyhow::Result<()> {
        match &ended {
            Ok(()) => self.report_outcome(id, "succeeded", None).await,
            Err(why) => self.report_outcome(id, "failed", Some(why)).await,
        }
    }

    async fn withdraw(&self, id: HoldId, reason: &str) {
        withdraw(&self.client, id, reason).await;
    }

    async fn is_frozen(&self) -> anyhow::Result<bool> {
        Ok(self.client.get("/v1/freeze").await?["frozen"] != false)
    }

    async fn may_answer(&self, id: HoldId) -> bool {
        let me = self.client.get("/v1/me").await.unwrap_or_default();
        let has = |scope: &Value| scope == "answer";
        let is_person = me["kind"] == "person"
            && me["scopes"].as_array().is_some_and(|scopes| scopes.iter().any(has));
        if !is_person {
            return false;
        }
        let mine = self.client.get("/v1/holds?state=pending&mine=true&limit=100").await;
        let mine = mine.unwrap_or_default();
        let id = id.to_string();
        mine["items"].as_array().into_iter().flatten().any(|hold| hold["id"] == id.as_str())
    }

    async fn answer(&self, shown: &GateHold, verdict: PersonVerdict<'_>) -> anyhow::Result<()> {
        let body =
            AnswerBody { digest: shown.digest.map(|digest| digest.to_string()), answer: verdict };
        let path = format!("/v1/holds/{}/answer", shown.id);
        self.client.post(&path, &body).await.map(drop)
    }
}

fn has_status(error: &anyhow::Error, status: u16) -> bool {
    error.downcast_ref::<Problem>().is_some_and(|problem| problem.status == status)
}
