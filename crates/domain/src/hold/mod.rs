//! A durable question that stops a call until a person answers.
//!
//! A hold is the same thing wherever it lives: in a session, or by itself when an outside program
//! opened it. What follows from a decision is the business of the session or external hold around it.

mod asked_by;
mod cancel_reason;
mod command;
mod judge;
mod names;
mod origin;
mod question;

use std::sync::Arc;

use serde_json::Value;

pub use asked_by::AskedBy;
pub use cancel_reason::{CancelReason, SUPERSEDED};
pub use command::HoldCommand;
pub use judge::{Edited, Judgement};
pub use names::{HoldStateName, QuestionKind};
pub use origin::{Callback, HoldOrigin};
pub use question::{AnswerMismatch, Choice, Question, find_option};

use crate::answer::Answer;
use crate::call::Call;
use crate::caption::Caption;
use crate::digest::{Digest, Framed};
use crate::grant::ClearedBy;
use crate::id::{CallId, HoldId};
use crate::json::canonical;
use crate::outcome::ToolResult;
use crate::person::{Actor, Audience, PersonId, Proof, Requester};
use crate::time::Timestamp;
use crate::warning::Warning;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    Low,
    #[default]
    Medium,
    High,
    Critical,
}

impl Risk {
    pub const ALL: [Risk; 4] = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical];

    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }

    pub fn parse(text: &str) -> Option<Risk> {
        Risk::ALL.into_iter().find(|risk| risk.name() == text)
    }
}

/// What a tool found out about a call before anybody was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    pub summary: Option<Caption>,
    pub rows: Option<u64>,
    pub diff: Option<String>,
    pub warnings: Vec<Warning>,
    /// The view warns of look-alike words with their codes. Views of holds that were opened before there were codes
    /// have none, so that they keep their digests.
    pub codes_look_alikes: bool,
}

impl Preview {
    /// For a question about `call` that is asked now.
    #[must_use]
    pub fn about(self, call: Option<&Call>) -> Preview {
        let codes_look_alikes = call.is_some_and(crate::view::has_look_alikes);
        Preview { codes_look_alikes, ..self }
    }
}

/// A question to people and everything they need to judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    pub id: HoldId,
    /// Rises with every change; an answer names the digest of the version that was shown.
    pub version: u32,
    pub question: Question,
    pub state: HoldState,
    pub risk: Risk,
    /// Three characters to tell open holds apart in a chat.
    pub tag: String,
    pub title: Caption,
    pub origin: HoldOrigin,
    /// The hold that this one follows from: a settled, retried or re-asked one.
    pub parent: Option<HoldId>,
    pub opener: Actor,
    pub requester: Option<PersonId>,
    pub call: Option<Arc<Call>>,
    pub preview: Preview,
    pub context: Value,
    /// The model's own words: shown as such, and never as ours.
    pub rationale: Option<String>,
    /// Shared, as it seldom changes and every change copies the hold.
    pub audience: Arc<Audience>,
    pub rule: Option<String>,
    pub policy: Digest,
    pub opened_at: Timestamp,
    /// `None`: it waits for ever (a `settle` hold).
    pub expires_at: Option<Timestamp>,
    pub claimed_by: Option<PersonId>,
    pub votes: Vec<Arc<Vote>>,
    pub two_phase: bool,
    pub outcome: Option<HoldOutcome>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum HoldState {
    Pending,
    Approved(Decision),
    Denied(Decision),
    Answered(Decision),
    Expired { at: Timestamp },
    Cancelled { by: Actor, reason: CancelReason, at: Timestamp },
}

impl HoldState {
    pub fn state_name(&self) -> HoldStateName {
        match self {
            HoldState::Pending => HoldStateName::Pending,
            HoldState::Approved(_) => HoldStateName::Approved,
            HoldState::Denied(_) => HoldStateName::Denied,
            HoldState::Answered(_) => HoldStateName::Answered,
            HoldState::Expired { .. } => HoldStateName::Expired,
            HoldState::Cancelled { .. } => HoldStateName::Cancelled,
        }
    }

    pub fn name(&self) -> &'static str {
        self.state_name().name()
    }

    /// Whether the program that opened a hold goes on by this: an approval, or an answer to its question. A
    /// denial, an expiry, a withdrawal and a text in place of the call start nothing.
    pub fn releases(&self) -> bool {
        match self {
            HoldState::Approved(_) => true,
            HoldState::Answered(decision) => {
                let answer = decision.vote().map(|vote| &vote.answer);
                !matches!(answer, Some(Answer::Respond { .. }))
            }
            HoldState::Pending
            | HoldState::Denied(_)
            | HoldState::Expired { .. }
            | HoldState::Cancelled { .. } => false,
        }
    }

    pub fn decision(&self) -> Option<&Decision> {
        match self {
            HoldState::Approved(decision)
            | HoldState::Denied(decision)
            | HoldState::Answered(decision) => Some(decision),
            _ => None,
        }
    }
}

/// One person's answer, with all that is needed to show later what they knew.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    pub answer: Answer,
    pub by: PersonId,
    pub at: Timestamp,
    pub via: String,
    pub proof: Proof,
    /// Of the call that was on the table when the answer counted.
    pub digest: Digest,
    /// Of the text that this person was shown.
    pub view: Digest,
}

/// What stands. It never changes again.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The answer that decided, and everybody whose vote counted towards it.
    People { vote: Arc<Vote>, voters: Vec<PersonId> },
    /// No person was asked: a rule or a standing grant spoke.
    Automatic { allowed: bool, by: ClearedBy, at: Timestamp },
}

impl Decision {
    pub fn at(&self) -> Timestamp {
        match self {
            Decision::People { vote, .. } => vote.at,
            Decision::Automatic { at, .. } => *at,
        }
    }

    pub fn vote(&self) -> Option<&Arc<Vote>> {
        match self {
            Decision::People { vote, .. } => Some(vote),
            Decision::Automatic { .. } => None,
        }
    }
}

/// What became of an approved call.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldOutcome {
    Executing,
    Succeeded(ToolResult),
    Failed(ToolResult),
    Unknown,
}

impl HoldOutcome {
    pub fn name(&self) -> &'static str {
        match self {
            HoldOutcome::Executing => "executing",
            HoldOutcome::Succeeded(_) => "succeeded",
            HoldOutcome::Failed(_) => "failed",
            HoldOutcome::Unknown => "unknown",
        }
    }

    pub fn is_final(&self) -> bool {
        matches!(self, HoldOutcome::Succeeded(_) | HoldOutcome::Failed(_))
    }
}

/// A change of a hold that does not decide it. `Outcome` and `Revealed` also come after the decision.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldChange {
    Voted(Arc<Vote>),
    /// The call was edited: earlier votes are void, and a new digest is asked about.
    Revised {
        title: Caption,
        call: Arc<Call>,
        audience: Arc<Audience>,
        rule: Option<String>,
        risk: Risk,
        preview: Preview,
        votes: Vec<Arc<Vote>>,
    },
    Claimed(PersonId),
    Unclaimed,
    Outcome(HoldOutcome),
    /// This person looked at its secrets. Nothing else changes: it is kept for the audit.
    Revealed(PersonId),
}

impl Hold {
    pub fn is_pending(&self) -> bool {
        self.state == HoldState::Pending
    }

    pub fn is_overdue(&self, now: Timestamp) -> bool {
        // mutant: expiry-one-late
        self.is_pending() && self.expires_at.is_some_and(|at| at <= now)
    }

    /// Asks whether a run that used up a budget may go on: it gates no call of its session.
    pub fn asks_to_go_on(&self) -> bool {
        self.question == Question::Approve && self.call.is_none() && self.session().is_some()
    }

    pub fn call_id(&self) -> Option<CallId> {
        self.call.as_ref().map(|call| call.id)
    }

    /// Binds an answer to what was asked: the call, or for a bare question the question itself.
    pub fn digest(&self) -> Digest {
        match (&self.call, &self.question) {
            (Some(call), Question::Approve) => call.digest(),
            _ => {
                let call = self.call.as_ref().map(|call| call.digest().to_string());
                Framed::new("holdpoint.question.v1")
                    .field("hold", self.id.to_string().as_bytes())
                    .field("kind", self.question.kind().name().as_bytes())
                    .field("title", self.title.as_bytes())
                    .field("question", &self.question.canonical())
                    .field("context", &canonical(&self.context))
                    .field("call", call.unwrap_or_default().as_bytes())
                    .finish()
            }
        }
    }

    pub fn requested_by(&self) -> Requester<'_> {
        Requester { person: self.requester.as_ref(), login_makers: &self.audience.login_makers }
    }

    pub fn admits(&self, who: &PersonId, people: &crate::person::People) -> bool {
        self.audience.admits(who, self.requester.as_ref(), people)
    }

    /// Whether everything about this hold has come to its end.
    pub fn is_settled(&self) -> bool {
        match &self.state {
            HoldState::Pending => false,
            HoldState::Approved(_) if self.call.is_some() => {
                self.outcome.as_ref().is_some_and(HoldOutcome::is_final)
            }
            _ => true,
        }
    }

    /// Whether the login by which this person voted here is good enough for `audience`.
    pub fn login_counts(&self, who: &PersonId, audience: &Audience) -> bool {
        let mut votes = self.votes.iter().rev();
        !audience.refuse_made_logins
            || votes
                .find(|vote| vote.by == *who)
                .is_some_and(|vote| audience.accepts_login(who, &vote.proof))
    }

    pub fn changed(&mut self, change: &HoldChange) {
        match change {
            HoldChange::Voted(vote) => self.votes.push(vote.clone()),
            HoldChange::Revised { title, call, audience, rule, risk, preview, votes } => {
                self.title = title.clone();
                self.call = Some(call.clone());
                self.audience = audience.clone();
                self.rule = rule.clone();
                self.risk = *risk;
                self.preview = preview.clone();
                // mutant: edit-keeps-votes.revision
                self.votes = votes.clone();
                self.policy = call.policy;
            }
            HoldChange::Claimed(who) => self.claimed_by = Some(who.clone()),
            HoldChange::Unclaimed => self.claimed_by = None,
            HoldChange::Outcome(outcome) => self.outcome = Some(outcome.clone()),
            HoldChange::Revealed(_) => {}
        }
        self.version += 1;
    }

    /// Its call was started, and the tool was never given it.
    pub(crate) fn not_begun(&mut self) {
        self.outcome = None;
        self.version += 1;
    }

    pub fn decided(&mut self, state: HoldState) {
        // The deciding vote is listed among the answers like every other.
        if let Some(vote) = state.decision().and_then(Decision::vote)
            && !self.votes.contains(vote)
        {
            self.votes.push(vote.clone());
        }
        self.state = state;
        self.version += 1;
    }
}

/// Three characters that are easy to tell apart, from the random part of the id.
pub fn tag_of(id: HoldId) -> String {
    const LETTERS: &[u8] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut chance = id.0.chance();
    (0..3)
        .map(|_| {
            let letter = LETTERS[(chance % LETTERS.len() as u128) as usize] as char;
            chance /= LETTERS.len() as u128;
            letter
        })
        .collect()
}
