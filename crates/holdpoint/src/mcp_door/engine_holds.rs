//! Holds of this process's own engine, as the owner of one token sees them.
//!
//! The token is looked at before each step: one that is revoked while a call waits ends the call, also if it was approved.

use std::time::Duration;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use domain::answer::{Answer, ApprovalScope, DenyReason};
use domain::digest::Digest;
use domain::event::TokenScope;
use domain::hold::Question;
use domain::id::HoldId;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use engine::{Answering, Caller, Engine, Error, NewHold, Reported, Until};
use mcp_gate::gate::{GateQuestion, HoldService, PersonVerdict, QuestionSubject};
use mcp_gate::gate_hold::GateHold;
use mcp_gate::limits::QUESTION_KEPT;
use mcp_gate::tasks::{KeptTask, TaskId};
use ports::store::PutNote;
use server::McpCaller;
use tokio::time::Instant;

/// Where open questions are noted, by their match key.
const QUESTIONS: &str = "mcp.questions";
/// Where the requests of tasks are kept, by the hold that each waits for.
const TASKS: &str = "mcp.tasks";
/// Whether the token still holds is looked at this often while a call waits.
const TOKEN_CHECKED: Duration = Duration::from_secs(15);

pub(super) struct EngineHolds {
    engine: Engine,
    caller: McpCaller,
    route: String,
}

impl EngineHolds {
    pub(super) fn new(engine: Engine, caller: McpCaller, route: &str) -> EngineHolds {
        EngineHolds { engine, caller, route: route.to_owned() }
    }

    fn caller(&self) -> Result<Caller> {
        (self.caller.find)().context("the token is revoked or has expired; use another")
    }

    /// Whose a task is, and at which address: it is found by that token, there.
    fn task_owner(&self) -> Vec<u8> {
        format!("{}\n{}\n{}\n", self.caller.stable_name, self.caller.token, self.route).into_bytes()
    }

    fn note(
        shelf: &str,
        key: &str,
        value: Option<Vec<u8>>,
        expected: Option<u64>,
        now: Timestamp,
    ) -> PutNote {
        let kept_ms = u64::try_from(QUESTION_KEPT.as_millis()).unwrap_or(u64::MAX);
        PutNote {
            shelf: shelf.into(),
            key: key.into(),
            value,
            expected,
            due_at: None,
            forget_at: Some(now.plus_ms(kept_ms)),
        }
    }
}

#[async_trait]
impl HoldService for EngineHolds {
    fn source(&self) -> String {
        format!("door {}", self.caller.stable_name)
    }

    fn page(&self, id: HoldId) -> String {
        format!("{}/holds/{id}", self.caller.origin)
    }

    fn now(&self) -> Timestamp {
        self.engine.now()
    }

    async fn find_question(&self, key: Digest) -> Result<Option<HoldId>> {
        let note = self.engine.read_note(QUESTIONS, key.digits(&mut [0; 64])).await?;
        let id = note.as_ref().and_then(|note| std::str::from_utf8(&note.value).ok());
        Ok(id.and_then(|id| id.parse().ok()))
    }

    async fn keep_question(&self, key: Digest, hold: HoldId) -> Result<()> {
        let value = Some(hold.to_string().into_bytes());
        self.engine
            .write_note(EngineHolds::note(
                QUESTIONS,
                key.digits(&mut [0; 64]),
                value,
                None,
                self.now(),
            ))
            .await?;
        Ok(())
    }

    async fn forget_question(&self, key: Digest, hold: HoldId) {
        let note = self.engine.read_note(QUESTIONS, key.digits(&mut [0; 64])).await;
        let note = note.ok().flatten().filter(|note| note.value == hold.to_string().as_bytes());
        if let Some(note) = note {
            let put = EngineHolds::note(QUESTIONS, &note.key, None, Some(note.version), self.now());
            // One that stays costs another look: the server says whether an approval was used.
            let _ = self.engine.write_note(put).await;
        }
    }

    async fn open(&self, question: &GateQuestion) -> Result<GateHold> {
        let call = match &question.subject {
            QuestionSubject::Call { tool, arguments } => Some((tool.clone(), arguments.clone())),
            QuestionSubject::Definition => None,
        };
        let new = NewHold {
            question: Question::Approve,
            title: question.title.clone(),
            call,
            context: serde_json::to_value(&question.context)?,
            diff: None,
            audience: None,
            risk: None,
            expires_in_ms: None,
            callback: None,
        };
        let hold = Box::pin(self.engine.open_hold(&self.caller()?, new, None)).await?;
        Ok(GateHold::of(&hold))
    }

    async fn find(&self, id: HoldId) -> Result<Option<GateHold>> {
        match self.engine.hold(&self.caller()?, id).await {
            Ok(hold) => Ok(Some(GateHold::of(&hold))),
            Err(Error::Refused(Refusal::NotFound { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn wait_decided(&self, id: HoldId, until: Instant) -> Result<Option<GateHold>> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let wait = left.min(TOKEN_CHECKED);
            let waited = self.engine.wait(&self.caller()?, id, Until::Decided, wait).await?;
            if let Some(hold) = waited {
                return Ok(Some(GateHold::of(&hold)));
            }
            if left <= wait {
                return Ok(None);
            }
        }
    }

    async fn start(&self, id: HoldId) -> Result<bool> {
        match self.engine.start_outside(&self.caller()?, id, None).await {
            Ok(_) => Ok(true),
            Err(Error::Refused(
                Refusal::AlreadyDecided { .. } | Refusal::OutOfTurn { .. } | Refusal::Overtaken,
            )) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn report(&self, id: HoldId, ended: Result<(), String>) -> Result<()> {
        let reported = Reported { succeeded: ended.is_ok(), result: ended.err() };
        self.engine.report_outcome(&self.caller()?, id, reported, None).await?;
        Ok(())
    }

    async fn withdraw(&self, id: HoldId, reason: &str) {
        let Ok(caller) = self.caller() else { return };
        // It may be decided by now; otherwise it expires.
        if let Err(error) = self.engine.cancel_hold(&caller, id, Some(reason.into()), None).await {
            tracing::debug!(%id, %error, "a question of an MCP client was not withdrawn");
        }
    }

    async fn keep_task(&self, id: &TaskId, hold: HoldId, request: &[u8]) -> Result<()> {
        let mut value = self.task_owner();
        // A request begins with a brace, and a task mostly waits for the hold that it is named by.
        if hold != id.hold() {
            value.extend_from_slice(format!("{hold}\n").as_bytes());
        }
        value.extend_from_slice(request);
        let put = EngineHolds::note(TASKS, &id.to_string(), Some(value), None, self.now());
        self.engine.write_note(put).await?;
        Ok(())
    }

    async fn find_task(&self, id: &TaskId) -> Result<Option<KeptTask>> {
        let note = self.engine.read_note(TASKS, &id.to_string()).await?;
        let owner = self.task_owner();
        let Some(kept) = note.as_ref().and_then(|note| note.value.strip_prefix(&*owner)) else {
            return Ok(None);
        };
        let elsewhere = kept.iter().position(|byte| *byte == b'\n').filter(|_| kept[0] != b'{');
        let (hold, request) = match elsewhere {
            None => (id.hold(), kept),
            Some(end) => (std::str::from_utf8(&kept[..end])?.parse()?, &kept[end + 1..]),
        };
        Ok(Some(KeptTask { hold, request: request.to_vec() }))
    }

    async fn is_frozen(&self) -> Result<bool> {
        Ok(self.engine.frozen().is_some())
    }

    async fn may_answer(&self, id: HoldId) -> bool {
        let Ok(caller) = self.caller() else { return false };
        let Some(person) = caller.person() else { return false };
        let Ok(hold) = self.engine.hold(&caller, id).await else { return false };
        caller.has(TokenScope::Answer)
            && hold.is_pending()
            && !hold.is_overdue(self.now())
            && hold.admits(person.id(), self.engine.people())
            && hold.votes.iter().all(|vote| vote.by != *person.id())
    }

    async fn answer(&self, shown: &GateHold, verdict: PersonVerdict<'_>) -> Result<()> {
        let answer = match verdict {
            PersonVerdict::Approve => {
                Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
            }
            PersonVerdict::Deny { reason } => {
                Answer::Deny { reason: reason.map(DenyReason::from), stop: false }
            }
        };
        let answering = Answering { digest: shown.digest, answer };
        Box::pin(self.engine.answer(&self.caller()?, shown.id, answering, None)).await?;
        Ok(())
    }
}
