//! Answers in what a client posts back. Each is looked up in our own record of the session: what was
//! never asked, or looks different from what was shown, is refused before anything is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope, DenyReason};
use domain::digest::Digest;
use domain::hold::{Hold, HoldState, Question, Vote};
use domain::id::{CallId, HoldId, MessageId, RunId};
use domain::json::canonical;
use domain::refusal::Refusal;
use domain::session::Session;
use engine::{Answering, Caller};
use serde_json::{Map, Value};

use super::super::shown;
use super::super::words::{WordsVerdict, agreed_in_output};
use super::read::{PartAnswer, ToolPart};
use super::values::{call_of, input_of, message_of};
use super::{AiSdkContext, NAME, Ui};
use crate::problem::{Problem, Reply};

/// What a post amounts to.
#[derive(Default)]
pub(crate) struct PostedAnswers {
    answers: Vec<(Arc<Hold>, Digest, Answer)>,
    /// The latest of our messages that the client has.
    pub(crate) upto: Option<MessageId>,
    /// The calls that it has, and the run of the last of them.
    pub(crate) calls: BTreeSet<CallId>,
    pub(crate) run: Option<RunId>,
    /// Something was answered before in the same way.
    repeats: bool,
    /// Something came too late.
    late: Option<(HoldId, Refusal)>,
    /// The client waits for nobody: as soon as the reply ends it posts the same again.
    pub(crate) auto_resubmits: bool,
}

impl PostedAnswers {
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

pub(crate) async fn read_answers(
    here: &AiSdkContext,
    caller: &Caller,
    session: &Session,
    parts: &[ToolPart],
    ui: Ui,
) -> Reply<PostedAnswers> {
    let mut given = PostedAnswers { auto_resubmits: !parts.is_empty(), ..PostedAnswers::default() };
    let mut latest = None;
    for part in parts {
        let call = call_of(session, &part.id).ok_or_else(|| {
            let shown = domain::visible::visible(&part.id);
            Problem::invalid("parts", format!("no call `{shown}` was shown in this chat"))
        })?;
        // Which of the two would be meant?
        if !given.calls.insert(call) {
            let shown = domain::visible::visible(&part.id);
            return Err(
                Problem::invalid("parts", format!("the call `{shown}` is there twice")).into()
            );
        }
        latest = latest.max(Some(call));
        read_answer(here, caller, session, call, part, ui, &mut given).await?;
    }
    let last = latest.and_then(|call| message_of(session, call));
    let in_last = |part: &&ToolPart| {
        call_of(session, &part.id).and_then(|call| message_of(session, call)) == last
    };
    let undecided = |part: &ToolPart| part.said == PartAnswer::Nothing { settled: false };
    given.auto_resubmits &= !parts.iter().filter(in_last).any(undecided);
    given.upto = last;
    given.run = latest.and_then(|call| session.hold_of(call)?.run());
    match given.late.take() {
        // What comes beside a repeat is told by the stream: nothing is to be stored.
        // mutant: late-beside-new
        Some((hold, late)) if !(given.is_empty() && given.repeats) => {
            Err(late.of_answer(hold, given.answers.len() + 1).into())
        }
        _ => Ok(given),
    }
}

async fn read_answer(
    here: &AiSdkContext,
    caller: &Caller,
    session: &Session,
    call: CallId,
    part: &ToolPart,
    ui: Ui,
    given: &mut PostedAnswers,
) -> Reply<()> {
    let (hold, answer) = match &part.said {
        PartAnswer::Nothing { .. } => return Ok(()),
        PartAnswer::Approval { id, approved, reason, digest } => {
            let hold = approval(session, call, id)?;
            match stands(&hold, *approved) {
                HoldStatus::Open => {}
                HoldStatus::Same => {
                    given.repeats = true;
                    return Ok(());
                }
                HoldStatus::Late(late) => {
                    given.late = Some((hold.id, late));
                    return Ok(());
                }
                HoldStatus::Other(refusal) => return Err(refusal.into()),
            }
            if digest.as_ref().is_some_and(|digest| *digest != hold.digest().to_string()) {
                return Err(Refusal::VersionConflict { hold: Box::new((*hold).clone()) }.into());
            }
            (hold, verdict(*approved, reason.clone()))
        }
        // Only for what waits: what else a client believes to be a result is not read.
        PartAnswer::Output(output) => match waiting(session, call) {
            None => return Ok(()),
            Some(hold) => {
                (hold.clone(), by_output(here, &hold, &call_tool(session, call), output, ui)?)
            }
        },
        PartAnswer::Error(text) => match waiting(session, call) {
            None => return Ok(()),
            Some(hold) => (hold.clone(), by_error(&hold, text)?),
        },
    };
    unchanged(here, session, call, part)?;
    let person = caller.must_be_person()?;
    let again = |vote: &Arc<Vote>| vote.by == *person.id() && vote.answer == answer;
    if hold.votes.iter().any(again) {
        given.repeats = true;
        return Ok(());
    }
    let digest = shown::digest(&here.app, caller, NAME, &hold).await?;
    given.answers.push((hold, digest, answer));
    Ok(())
}

/// Stores what was given, all of it or nothing. Returns only when it is on disk.
pub(crate) async fn store(
    here: &AiSdkContext,
    caller: &Caller,
    given: &PostedAnswers,
) -> Reply<()> {
    let answers = given.answers.iter().map(|(hold, digest, answer)| {
        (hold.id, Answering { digest: Some(*digest), answer: answer.clone() })
    });
    Box::pin(here.app.engine.answer_all(caller, answers.collect(), None)).await?;
    Ok(())
}

pub(crate) fn verdict(approved: bool, reason: Option<String>) -> Answer {
    match approved {
        true => Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None },
        false => {
            let reason = reason.filter(|it| !it.trim().is_empty());
            Answer::Deny { reason: reason.map(DenyReason::from), stop: false }
        }
    }
}

pub(crate) enum HoldStatus {
    Open,
    /// Decided, and just so.
    Same,
    Late(Refusal),
    Other(Refusal),
}

/// How a decision stands to an answer that comes now.
pub(crate) fn stands(hold: &Hold, approved: bool) -> HoldStatus {
    let boxed = || Box::new(hold.clone());
    match (&hold.state, approved) {
        (HoldState::Pending, _) => HoldStatus::Open,
        (HoldState::Approved(_), true) | (HoldState::Denied(_), false) => HoldStatus::Same,
        (HoldState::Expired { .. }, _) => HoldStatus::Late(Refusal::Expired { hold: boxed() }),
        // Withdrawn, for instance because a new message came: nothing was decided otherwise.
        (HoldState::Cancelled { .. }, _) => {
            HoldStatus::Late(Refusal::AlreadyDecided { hold: boxed() })
        }
        _ => HoldStatus::Other(Refusal::AlreadyDecided { hold: boxed() }),
    }
}

/// The hold that an approval names: one of this call's.
fn approval(session: &Session, call: CallId, id: &str) -> Result<Arc<Hold>, Problem> {
    // mutant: ai-sdk-any-approval
    let hold = id.parse::<HoldId>().ok().and_then(|id| session.holds.get(&id));
    let fits =
        |hold: &&Arc<Hold>| hold.call_id() == Some(call) && hold.question == Question::Approve;
    hold.filter(fits).cloned().ok_or_else(|| {
        Problem::invalid("parts", "this approval was not asked for this call in this chat")
    })
}

fn waiting(session: &Session, call: CallId) -> Option<Arc<Hold>> {
    session.hold_of(call).filter(|hold| hold.is_pending() && !hold.two_phase).cloned()
}

fn call_tool(session: &Session, call: CallId) -> String {
    session.calls.get(&call).map(|record| record.tool.to_string()).unwrap_or_default()
}

/// What a client shows must be what is asked about.
fn unchanged(
    here: &AiSdkContext,
    session: &Session,
    call: CallId,
    part: &ToolPart,
) -> Result<(), Problem> {
    if part.tool.as_ref().is_some_and(|tool| *tool != call_tool(session, call)) {
        return Err(Problem::version_conflict("this call is of another tool: read the chat again"));
    }
    let stored = input_of(&here.app, session, call);
    match &part.input {
        // mutant: ai-sdk-any-input
        Some(input) if canonical(input) != canonical(&stored) => Err(Problem::version_conflict(
            "the input of this call is another one: read the chat again",
        )),
        _ => Ok(()),
    }
}

fn by_output(
    here: &AiSdkContext,
    hold: &Hold,
    tool: &str,
    output: &Value,
    ui: Ui,
) -> Result<Answer, Problem> {
    let text = || match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match &hold.question {
        Question::Perform { .. } => Ok(Answer::Perform { content: text(), is_error: false }),
        // Only where it was shown as a tool of the client's: later versions have approvals.
        Question::Approve if ui == Ui::Five => {
            match agreed_in_output(&here.app.words, tool, output) {
                Some(WordsVerdict::Approve) => Ok(verdict(true, None)),
                Some(WordsVerdict::Deny) => Ok(verdict(false, None)),
                None => {
                    Err(Problem::invalid("output", "this is neither a yes nor a no; it stays open"))
                }
            }
        }
        Question::Approve => Err(Problem::invalid("output", "this call waits for an approval")),
        Question::Choose { .. } => Ok(Answer::Choose(chosen(output)?)),
        Question::Fill { schema: None } => match output {
            Value::Object(_) => Ok(Answer::Fill(output.clone())),
            _ => Ok(Answer::Fill(Map::from_iter([("text".to_owned(), text().into())]).into())),
        },
        Question::Fill { schema: Some(_) } => match output {
            Value::String(text) => serde_json::from_str(text)
                .map(Answer::Fill)
                .map_err(|_| Problem::invalid("output", "this form wants an object")),
            _ => Ok(Answer::Fill(output.clone())),
        },
        Question::Settle => Err(Problem::invalid("output", "this call waits for somebody else")),
    }
}

fn chosen(output: &Value) -> Result<Vec<String>, Problem> {
    let wrong = || Problem::invalid("output", "choose an option, or a list of them");
    let output =
        ["choose", "choices", "choice"].iter().find_map(|key| output.get(key)).unwrap_or(output);
    match output {
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(many) => {
            many.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

fn by_error(hold: &Hold, text: &str) -> Result<Answer, Problem> {
    match &hold.question {
        Question::Perform { .. } => {
            Ok(Answer::Perform { content: text.to_owned(), is_error: true })
        }
        Question::Choose { .. } | Question::Fill { .. } => {
            Ok(verdict(false, Some(text.to_owned())))
        }
        Question::Approve | Question::Settle => {
            Err(Problem::invalid("errorText", "this is neither a yes nor a no; it stays open"))
        }
    }
}
