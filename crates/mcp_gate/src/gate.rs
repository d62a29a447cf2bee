//! One question to Holdpoint: opened or found again, judged, and its approval used once.
//!
//! Every error is a denial. Nothing here knows MCP, and where Holdpoint is (over HTTP, or this process) is behind
//! [`HoldService`].

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use domain::digest::{Digest, Framed};
use domain::hold::{HoldReplyState, Risk};
use domain::id::HoldId;
use domain::json::{Arguments, canonical};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::config::{UpstreamConfig, UpstreamReach};
use crate::gate_hold::{GateHold, GateOutcome, WITHDRAWN};
use crate::question_waiters::{QuestionWaiter, QuestionWaiters};
use crate::tasks::{KeptTask, TaskId};

/// Holdpoint, as the owner of one token sees it.
#[async_trait]
pub trait HoldService: Send + Sync {
    /// Which Holdpoint this is, and whose calls are asked about: no question of one is found by another.
    fn source(&self) -> String;

    /// Where people see a hold.
    fn page(&self, id: HoldId) -> String;

    fn now(&self) -> Timestamp;

    /// Which hold was opened for a call, if it is remembered.
    async fn find_question(&self, key: Digest) -> anyhow::Result<Option<HoldId>>;

    /// Durable when this returns.
    async fn keep_question(&self, key: Digest, hold: HoldId) -> anyhow::Result<()>;

    /// If it still names this hold: another call may have asked anew meanwhile.
    async fn forget_question(&self, key: Digest, hold: HoldId);

    /// The hold is durable when this returns. Policy may have decided it.
    async fn open(&self, question: &GateQuestion) -> anyhow::Result<GateHold>;

    /// `None`: there is no such hold.
    async fn find(&self, id: HoldId) -> anyhow::Result<Option<GateHold>>;

    /// `None`: nobody has decided by then.
    async fn wait_decided(&self, id: HoldId, until: Instant) -> anyhow::Result<Option<GateHold>>;

    /// Takes up an approval. `false`: another call did.
    async fn start(&self, id: HoldId) -> anyhow::Result<bool>;

    /// What became of the call that an approval was used for.
    async fn report(&self, id: HoldId, ended: Result<(), String>) -> anyhow::Result<()>;

    async fn withdraw(&self, id: HoldId, reason: &str);

    /// Keeps the request of a task, and the hold that it waits for. Durable when this returns, where tasks outlive the process.
    async fn keep_task(&self, _: &TaskId, _: HoldId, _: &[u8]) -> anyhow::Result<()> {
        Ok(())
    }

    /// What an earlier process kept of a task of this caller.
    async fn find_task(&self, _: &TaskId) -> anyhow::Result<Option<KeptTask>> {
        Ok(None)
    }

    async fn is_frozen(&self) -> anyhow::Result<bool>;

    /// Whether the owner of the token is a person who may answer this hold now. In doubt: no.
    async fn may_answer(&self, id: HoldId) -> bool;

    async fn answer(&self, shown: &GateHold, verdict: PersonVerdict<'_>) -> anyhow::Result<()>;
}

pub struct HoldGate {
    service: Arc<dyn HoldService>,
    waiters: Arc<QuestionWaiters>,
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
    /// Members of the call beside its tool and arguments, which the upstream gets too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_members: Option<Value>,
    /// Names of what the client adds to the call of its own accord; they are no part of what is approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_meta: Vec<String>,
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
            other_members: None,
            other_meta: Vec::new(),
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

/// A question that people have before them, and that this call waits for.
pub struct PendingHold {
    pub(crate) hold: GateHold,
    /// Whether this call asked it. Otherwise it was found: an equal call asked it.
    pub(crate) is_new: bool,
    pub(crate) waiter: QuestionWaiter,
}

impl PendingHold {
    pub(crate) fn id(&self) -> HoldId {
        self.hold.id
    }
}

enum Judged {
    Leave(GateLeave),
    /// Another call used the approval, or took the question back.
    OfAnotherCall,
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
    /// The waiters are those of all sessions of this process.
    pub fn new(service: Arc<dyn HoldService>, waiters: Arc<QuestionWaiters>) -> HoldGate {
        HoldGate { service, waiters }
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
                Some(hold) if hold.match_key.as_deref() != Some(&*question.context.match_key) => {}
                Some(hold) if hold.is_pending() => {
                    return Ok(GateStanding::Pending(Box::new(self.join(hold, false))));
                }
                Some(hold) => match self.judge(question, &hold).await? {
                    Judged::Leave(leave) => {
                        self.service.forget_question(key, id).await;
                        return Ok(GateStanding::Cleared(leave));
                    }
                    // Said once, to the call that came back for it. The next one is a new question.
                    Judged::Refused(why) => {
                        self.service.forget_question(key, id).await;
                        return Ok(GateStanding::Refused(why));
                    }
                    Judged::OfAnotherCall => {}
                },
                None => {}
            }
            self.service.forget_question(key, id).await;
        }
        let opened = self.service.open(question).await?;
        if opened.is_pending() {
            let pending = self.join(opened, true);
            self.service.keep_question(key, pending.id()).await?;
            return Ok(GateStanding::Pending(Box::new(pending)));
        }
        match self.judge(question, &opened).await? {
            Judged::Leave(leave) => Ok(GateStanding::Cleared(leave)),
            Judged::Refused(why) => Ok(GateStanding::Refused(why)),
            Judged::OfAnotherCall => anyhow::bail!("the approval was used before"),
        }
    }

    fn join(&self, hold: GateHold, is_new: bool) -> PendingHold {
        let waiter = self.waiters.join(hold.id);
        PendingHold { hold, is_new, waiter }
    }

    /// People have decided. `None`: what they said was for another call, and this one has to be asked about anew.
    pub async fn take_decision(
        &self,
        question: &GateQuestion,
        hold: &GateHold,
    ) -> anyhow::Result<Option<GateStanding>> {
        let judged = self.judge(question, hold).await?;
        self.service.forget_question(question.key, hold.id).await;
        Ok(match judged {
            Judged::Leave(leave) => Some(GateStanding::Cleared(leave)),
            Judged::Refused(why) => Some(GateStanding::Refused(why)),
            Judged::OfAnotherCall => None,
        })
    }

    async fn judge(&self, question: &GateQuestion, hold: &GateHold) -> anyhow::Result<Judged> {
        if hold.was_withdrawn_by_a_call() {
            return Ok(Judged::OfAnotherCall);
        }
        // mutant: mcp-what-is-not-denied-is-approved
        if hold.state != HoldReplyState::Approved {
            return Ok(Judged::Refused(hold.why_not()));
        }
        let decision = hold.decision.as_ref().context("it is approved, and nobody said so")?;
        let is_automatic = decision.is_automatic();
        anyhow::ensure!(is_automatic || decision.by.is_some(), "it is approved by nobody");
        let QuestionSubject::Call { tool, arguments } = &question.subject else {
            return Ok(Judged::Leave(GateLeave { hold: hold.id, edited: None }));
        };
        let approved = hold.call.as_ref().context("the approval is for no call")?;
        // mutant: mcp-an-approval-is-for-any-tool
        anyhow::ensure!(approved.tool == *tool, "the approval is for another tool");
        let edited = match approved.arguments == *arguments.value() {
            true => None,
            false => {
                let edited = Arguments::from_value(approved.arguments.clone());
                Some(edited.context("the approved arguments cannot be used")?)
            }
        };
        // What a rule allows, it allows each time. What a person approved is used once.
        if is_automatic {
            anyhow::ensure!(edited.is_none(), "a rule allowed another call than this one");
            return Ok(Judged::Leave(GateLeave { hold: hold.id, edited }));
        }
        if hold.outcome.is_some() {
            return Ok(Judged::OfAnotherCall);
        }
        match self.service.start(hold.id).await.context("the approval could not be taken up")? {
            true => Ok(Judged::Leave(GateLeave { hold: hold.id, edited })),
            // mutant: mcp-an-approval-is-used-twice
            false => Ok(Judged::OfAnotherCall),
        }
    }

    /// Whether a call that was let through may go on: nothing is frozen, and its hold still says that it runs.
    pub async fn check_going_on(&self, id: HoldId) -> anyhow::Result<()> {
        anyhow::ensure!(!self.service.is_frozen().await?, "everything is frozen");
        let hold = self.service.find(id).await?.context("its hold is gone")?;
        let is_running = matches!(hold.outcome, None | Some(GateOutcome::Executing));
        let is_approved = hold.state == HoldReplyState::Approved;
        anyhow::ensure!(is_approved && is_running, "its approval is over");
        Ok(())
    }

    /// The call is not wanted any more. Another one that waits for the same question keeps it.
    pub async fn withdraw(&self, question: &GateQuestion, pending: PendingHold) {
        let id = pending.id();
        // mutant: mcp-one-of-two-takes-the-question-back
        if pending.waiter.leave() {
            self.service.forget_question(question.key, id).await;
            self.service.withdraw(id, WITHDRAWN).await;
        }
    }

    /// Whether the owner of the token may say yes or no in a form, where less is seen than on the page.
    pub async fn may_answer(&self, pending: &PendingHold) -> bool {
        let is_harmless = matches!(pending.hold.risk, Some(Risk::Low | Risk::Medium));
        is_harmless && self.service.may_answer(pending.id()).await
    }
}

/// The id of a hold in the shape of the HTTP API.
pub fn hold_id(hold: &Value) -> anyhow::Result<HoldId> {
    let id = hold["id"].as_str().and_then(|id| id.parse().ok());
    id.context("the server's reply names no hold")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use ports::unpoisoned::Unpoisoned as _;
    use serde_json::json;

    use super::*;
    use crate::gate_hold::tests::hold;

    const HOLD: &str = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";

    /// One hold, as a test wants it.
    struct OneHold {
        hold: Mutex<GateHold>,
        question: Mutex<Option<HoldId>>,
        is_started: AtomicBool,
        is_withdrawn: AtomicBool,
    }

    #[async_trait]
    impl HoldService for OneHold {
        fn source(&self) -> String {
            "test".into()
        }

        fn page(&self, id: HoldId) -> String {
            id.to_string()
        }

        fn now(&self) -> Timestamp {
            Timestamp::from_ms(0)
        }

        async fn find_question(&self, _: Digest) -> anyhow::Result<Option<HoldId>> {
            Ok(*self.question.lock().unpoisoned())
        }

        async fn keep_question(&self, _: Digest, hold: HoldId) -> anyhow::Result<()> {
            *self.question.lock().unpoisoned() = Some(hold);
            Ok(())
        }

        async fn forget_question(&self, _: Digest, _: HoldId) {
            self.question.lock().unpoisoned().take();
        }

        async fn open(&self, _: &GateQuestion) -> anyhow::Result<GateHold> {
            Ok(self.hold.lock().unpoisoned().clone())
        }

        async fn find(&self, _: HoldId) -> anyhow::Result<Option<GateHold>> {
            Ok(Some(self.hold.lock().unpoisoned().clone()))
        }

        async fn wait_decided(&self, _: HoldId, _: Instant) -> anyhow::Result<Option<GateHold>> {
            Ok(None)
        }

        async fn start(&self, _: HoldId) -> anyhow::Result<bool> {
            Ok(!self.is_started.swap(true, Ordering::SeqCst))
        }

        async fn report(&self, _: HoldId, _: Result<(), String>) -> anyhow::Result<()> {
            Ok(())
        }

        async fn withdraw(&self, _: HoldId, _: &str) {
            self.is_withdrawn.store(true, Ordering::SeqCst);
        }

        async fn is_frozen(&self) -> anyhow::Result<bool> {
            Ok(false)
        }

        async fn may_answer(&self, _: HoldId) -> bool {
            true
        }

        async fn answer(&self, _: &GateHold, _: PersonVerdict<'_>) -> anyhow::Result<()> {
            Ok(())
        }
    }

    fn question() -> GateQuestion {
        let arguments = Arguments::parse(br#"{"a": 1}"#).unwrap();
        let context = QuestionContext {
            mcp_server: "s".into(),
            says_it_is: None,
            program: None,
            directory: None,
            url: None,
            variables: Vec::new(),
            pinned_definition: None,
            offered_definition: None,
            other_members: None,
            other_meta: Vec::new(),
            match_key: String::new(),
        };
        let subject = QuestionSubject::Call { tool: "s__write".into(), arguments };
        GateQuestion { key: Digest::of(b"k"), title: String::new(), context, subject }
    }

    /// A hold about the call of [`question`], with `more` in it.
    fn asked(more: &Value) -> GateHold {
        let mut whole = json!({
            "id": HOLD, "call": {"tool": "s__write", "arguments": {"a": 1}},
            "context": {"match_key": Digest::of(b"k").to_string()},
        });
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hold(&whole)
    }

    fn gate(hold: GateHold) -> (HoldGate, Arc<OneHold>) {
        let service = Arc::new(OneHold {
            hold: Mutex::new(hold),
            question: Mutex::default(),
            is_started: AtomicBool::default(),
            is_withdrawn: AtomicBool::default(),
        });
        (HoldGate::new(service.clone(), Arc::default()), service)
    }

    fn approved(more: &Value) -> GateHold {
        let mut whole = json!({"state": "approved", "decision": {"by": "ana"}});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked(&whole)
    }

    async fn judged(hold: GateHold) -> anyhow::Result<Option<GateStanding>> {
        let (gate, _) = gate(hold.clone());
        gate.take_decision(&question(), &hold).await
    }

    #[tokio::test]
    async fn only_an_approval_that_somebody_gave_lets_a_call_run() {
        let leave = judged(approved(&json!({}))).await.unwrap();
        assert!(matches!(leave, Some(GateStanding::Cleared(GateLeave { edited: None, .. }))));
        for state in ["pending", "denied", "answered", "expired", "cancelled", "postponed"] {
            let refused = judged(approved(&json!({"state": state}))).await.unwrap();
            assert!(matches!(refused, Some(GateStanding::Refused(_))), "{state}");
        }
        for nobody in [json!(null), json!({}), json!({"by": null})] {
            assert!(judged(approved(&json!({"decision": nobody}))).await.is_err());
        }
        let ruled =
            judged(approved(&json!({"decision": {"by": null, "rule": "r"}}))).await.unwrap();
        assert!(matches!(ruled, Some(GateStanding::Cleared(_))));
    }

    #[tokio::test]
    async fn an_approval_is_for_its_tool_and_for_the_arguments_that_people_left() {
        for other in [json!(null), json!({"tool": "s__delete", "arguments": {"a": 1}})] {
            assert!(judged(approved(&json!({"call": other}))).await.is_err(), "{other}");
        }
        let edited = json!({"call": {"tool": "s__write", "arguments": {"a": 2}}});
        let Some(GateStanding::Cleared(leave)) = judged(approved(&edited)).await.unwrap() else {
            panic!("an edit is an approval")
        };
        assert_eq!(leave.edited.unwrap().value(), &json!({"a": 2}));
    }

    #[tokio::test]
    async fn of_equal_calls_one_has_the_approval() {
        let hold = approved(&json!({}));
        let (gate, _) = gate(hold.clone());
        let first = gate.take_decision(&question(), &hold).await.unwrap();
        assert!(matches!(first, Some(GateStanding::Cleared(_))));
        assert!(gate.take_decision(&question(), &hold).await.unwrap().is_none());
        for state in ["executing", "succeeded", "failed", "unknown", "paused"] {
            let used = approved(&json!({"outcome": {"state": state}}));
            assert!(judged(used).await.unwrap().is_none(), "{state}");
        }
    }

    #[tokio::test]
    async fn a_question_is_taken_back_when_the_last_call_leaves_it() {
        let (gate, service) = gate(asked(&json!({})));
        let ask = async || match gate.ask(&mut question()).await.unwrap() {
            GateStanding::Pending(pending) => *pending,
            GateStanding::Cleared(_) | GateStanding::Refused(_) => panic!("nobody decided"),
        };
        let (first, second) = (ask().await, ask().await);
        assert!(first.is_new && !second.is_new);
        gate.withdraw(&question(), first).await;
        assert!(!service.is_withdrawn.load(Ordering::SeqCst));
        assert!(service.question.lock().unpoisoned().is_some(), "a third call finds it");
        gate.withdraw(&question(), second).await;
        assert!(service.is_withdrawn.load(Ordering::SeqCst));
        let withdrawn =
            asked(&json!({"state": "cancelled", "cancelled": {"by": "p", "reason": WITHDRAWN}}));
        assert!(judged(withdrawn).await.unwrap().is_none(), "another process took it back");
    }

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
