//! A durable question that stops a call until a person answers.
//!
//! A hold is the same thing wherever it lives: in a session, or by itself when an outside program
//! opened it. What follows from a decision is the business of the session or external hold around it.

mod asked_by;
mod call_on_hold;
mod cancel_reason;
mod command;
mod comment;
mod judge;
mod names;
mod origin;
mod question;

use std::sync::Arc;

use serde_json::Value;

pub use asked_by::AskedBy;
pub use call_on_hold::CallOnHold;
pub use cancel_reason::{CancelReason, SUPERSEDED};
pub use command::HoldCommand;
pub use comment::Comment;
pub use judge::{Edited, Judgement};
pub use names::{HoldReplyState, HoldStateName, QuestionKind};
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

/// How carefully people should look. At `High` and `Critical` a yes must be confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Listed, and shown like all others.
    Low,
    /// The default, where neither a rule nor the asker says anything else.
    #[default]
    Medium,
    /// A yes takes a second step on every surface.
    High,
    /// As `High`; in words a yes takes a longer code.
    Critical,
}

impl Risk {
    /// All of them, from the lowest.
    pub const ALL: [Risk; 4] = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical];

    /// The word by which records, rules and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }

    /// The risk of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<Risk> {
        Risk::ALL.into_iter().find(|risk| risk.name() == text)
    }
}

/// What a tool found out about a call before anybody was asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preview {
    /// In one line. `None` if the tool has nothing to say beyond the call.
    pub summary: Option<Caption>,
    /// How many rows a statement would change. `None` for other tools, and where it could not be tried.
    pub rows: Option<u64>,
    /// What would be edited, as the lines of a diff. It is foreign text.
    pub diff: Option<String>,
    /// Shown before anything else of the preview.
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
///
/// ```
/// use holdpoint_domain::hold::{Decision, Hold, HoldState};
/// use holdpoint_domain::time::Timestamp;
///
/// /// One line for a list of one's own. The text to decide by is `view::render(hold)`.
/// fn line(hold: &Hold, now: Timestamp) -> String {
///     let state = match &hold.state {
///         HoldState::Pending if hold.is_overdue(now) => "expires".to_owned(),
///         HoldState::Pending => format!("waits at {} risk", hold.risk.name()),
///         HoldState::Approved(Decision::People { voters, .. }) => format!("approved by {voters:?}"),
///         other => other.name().to_owned(),
///     };
///     format!("{} {}: {state}", hold.tag, hold.title)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// Names the hold; for one of no session it names the stream, too.
    pub id: HoldId,
    /// Rises with every change, claims and comments included. An answer names the digest ([`Hold::digest`]), which
    /// changes only with what is asked.
    pub version: u32,
    /// What is asked, and so which answers fit.
    pub question: Question,
    /// Pending, or how it ended.
    pub state: HoldState,
    /// How carefully people should look.
    pub risk: Risk,
    /// Three characters to tell open holds apart in a chat.
    pub tag: String,
    /// In one line. Of a call it is the tool's, or made of tool and arguments.
    pub title: Caption,
    /// Where it comes from, and so in which stream it lives.
    pub origin: HoldOrigin,
    /// The hold that this one follows from: a settled, retried or re-asked one.
    pub parent: Option<HoldId>,
    /// Who opened it: a program, or whoever opened the session.
    pub opener: Actor,
    /// In whose name it is asked. `None` where no person is behind it.
    pub requester: Option<PersonId>,
    /// The call that waits, with what became of it. `None` for a bare question.
    pub call_on_hold: Option<CallOnHold>,
    /// What the tool found out before anybody was asked.
    pub preview: Preview,
    /// The asker's own, shown beside the question as foreign text; null if nothing.
    pub context: Value,
    /// The model's own words: shown as such, and never as ours.
    pub rationale: Option<String>,
    /// Shared, as it seldom changes and every change copies the hold.
    pub audience: Arc<Audience>,
    /// The name of the rule that asks. `None` if the default does, or no policy was asked.
    pub rule: Option<String>,
    /// Version of the policy by which it is asked.
    pub policy: Digest,
    /// When people were asked.
    pub opened_at: Timestamp,
    /// `None`: it waits for ever (a `settle` hold).
    pub expires_at: Option<Timestamp>,
    /// Who said that they look after it. It gives no authority.
    pub claimed_by: Option<PersonId>,
    /// Answers that count, in order. An edit makes the earlier ones void and takes them away.
    pub votes: Vec<Arc<Vote>>,
    /// What people said to one another about it, oldest first.
    pub comments: Vec<Arc<Comment>>,
    /// The model was told already that a person is asked, and calls again; nothing waits in the meantime.
    pub two_phase: bool,
}

/// Where a hold is. Once it is no longer pending it never changes again.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldState {
    /// People are asked.
    Pending,
    /// The call may run, within the time that an approval is good for.
    Approved(Decision),
    /// The call does not run, or the question stays unanswered.
    Denied(Decision),
    /// With the asked-for content, or with a result in the tool's place.
    Answered(Decision),
    /// The deadline passed without a decision.
    Expired {
        /// The deadline, or the moment at which it was found to have passed.
        at: Timestamp,
    },
    /// Taken back without an answer.
    Cancelled {
        /// Who took it back.
        by: Actor,
        /// What the model and other people are told.
        reason: CancelReason,
        /// When it was taken back.
        at: Timestamp,
    },
}

impl HoldState {
    /// The state's name, without what is true in it.
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

    /// The word by which records and the API tell it.
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

    /// What stands. `None` while it is pending, and where it ended without a decision.
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
    /// As it was given.
    pub answer: Answer,
    /// Who gave it.
    pub by: PersonId,
    /// When it was committed.
    pub at: Timestamp,
    /// The surface: `web`, `cli`, the name of a channel.
    pub via: String,
    /// How they proved who they are.
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
    People {
        /// The answer that decided.
        vote: Arc<Vote>,
        /// In the order of their votes.
        voters: Vec<PersonId>,
    },
    /// No person was asked: a rule or a standing grant spoke.
    Automatic {
        /// An approval; otherwise a denial.
        allowed: bool,
        /// The rule or grant that spoke.
        by: ClearedBy,
        /// When it spoke.
        at: Timestamp,
    },
}

impl Decision {
    /// When it was decided.
    pub fn at(&self) -> Timestamp {
        match self {
            Decision::People { vote, .. } => vote.at,
            Decision::Automatic { at, .. } => *at,
        }
    }

    /// The deciding answer. `None` if no person was asked.
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
    /// The intent to run is on record. The tool may not have begun.
    Executing,
    /// The effect happened, with what the model got.
    Succeeded(ToolResult),
    /// The tool ran and failed, with what the model got.
    Failed(ToolResult),
    /// A crash or the tool left it open whether anything happened. A `settle` hold asks.
    Unknown,
}

impl HoldOutcome {
    /// The word by which records and the API tell it.
    pub fn name(&self) -> &'static str {
        match self {
            HoldOutcome::Executing => "executing",
            HoldOutcome::Succeeded(_) => "succeeded",
            HoldOutcome::Failed(_) => "failed",
            HoldOutcome::Unknown => "unknown",
        }
    }

    /// Whether nothing can change it any more. `Unknown` can still be settled.
    pub fn is_final(&self) -> bool {
        matches!(self, HoldOutcome::Succeeded(_) | HoldOutcome::Failed(_))
    }
}

/// A change of a hold that does not decide it. `Outcome`, `Revealed` and `Commented` also come after the decision.
#[derive(Clone, Debug, PartialEq)]
pub enum HoldChange {
    /// An answer counts, and more must agree.
    Voted(Arc<Vote>),
    /// The call was edited: earlier votes are void, and a new digest is asked about.
    Revised {
        /// For the edited call.
        title: Caption,
        /// The new revision.
        call: Arc<Call>,
        /// Who may answer from here on.
        audience: Arc<Audience>,
        /// The rule that asks for the edited call, if one does.
        rule: Option<String>,
        /// How carefully people should look from here on.
        risk: Risk,
        /// What the tool found out about the edited call.
        preview: Preview,
        /// Those that stand from here on: none, or that of the person who edited.
        votes: Vec<Arc<Vote>>,
    },
    /// This person looks after it.
    Claimed(PersonId),
    /// The claim ended.
    Unclaimed,
    /// Something became known about the approved call.
    Outcome(HoldOutcome),
    /// This person looked at its secrets. Nothing else changes: it is kept for the audit.
    Revealed(PersonId),
    /// A person said something to others about it.
    Commented(Arc<Comment>),
}

impl Hold {
    /// Whether people can still answer.
    pub fn is_pending(&self) -> bool {
        self.state == HoldState::Pending
    }

    /// Whether its time is over at `now` though nobody has applied the expiry yet.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        // mutant: expiry-one-late
        self.is_pending() && self.expires_at.is_some_and(|at| at <= now)
    }

    /// Asks whether a run that used up a budget may go on: it gates no call of its session.
    pub fn asks_to_go_on(&self) -> bool {
        self.question == Question::Approve && self.call().is_none() && self.session().is_some()
    }

    /// The id of the call that waits. `None` for a bare question.
    pub fn call_id(&self) -> Option<CallId> {
        self.call().map(|call| call.id)
    }

    /// Binds an answer to what was asked: the call, or for a bare question the question itself.
    pub fn digest(&self) -> Digest {
        match (self.call(), &self.question) {
            (Some(call), Question::Approve) => call.digest(),
            _ => {
                let call = self.call().map(|call| call.digest().to_string());
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

    /// The requester, and those who made the logins by which the call was asked for.
    pub fn requester_and_login_makers(&self) -> Requester<'_> {
        Requester { person: self.requester.as_ref(), login_makers: &self.audience.login_makers }
    }

    /// Whether this person may answer, by name or role, and is not kept out as the requester.
    pub fn admits(&self, who: &PersonId, people: &crate::person::People) -> bool {
        self.audience.admits(who, self.requester.as_ref(), people)
    }

    /// Whether everything about this hold has come to its end.
    pub fn is_finished(&self) -> bool {
        match &self.state {
            HoldState::Pending => false,
            HoldState::Approved(_) if self.call().is_some() => {
                self.outcome().is_some_and(HoldOutcome::is_final)
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

    /// Applies a change and raises the version. It is not checked again: an event is a fact.
    pub fn changed(&mut self, change: &HoldChange) {
        match change {
            HoldChange::Voted(vote) => self.votes.push(vote.clone()),
            HoldChange::Revised { title, call, audience, rule, risk, preview, votes } => {
                self.title = title.clone();
                self.put_call(call.clone());
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
            HoldChange::Outcome(outcome) => self.set_outcome(Some(outcome.clone())),
            HoldChange::Revealed(_) => {}
            HoldChange::Commented(comment) => self.comments.push(comment.clone()),
        }
        self.version += 1;
    }

    /// Its call was started and has not begun: the start gate refused it, or the host was never given it.
    pub(crate) fn not_begun(&mut self) {
        self.set_outcome(None);
        self.version += 1;
    }

    /// Applies the end of the hold and raises the version. It is not checked again: an event is a fact.
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
    let mut random = id.0.random_part();
    (0..3)
        .map(|_| {
            let letter = LETTERS[(random % LETTERS.len() as u128) as usize] as char;
            random /= LETTERS.len() as u128;
            letter
        })
        .collect()
}
