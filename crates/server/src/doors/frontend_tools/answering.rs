//! What posted results mean for the holds that are open: which answers to give, or why none.
//!
//! Pure: it is told how things stand. Whether an answer counts is judged where all answers are.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope};
use domain::hold::{Hold, HoldState, Question};
use domain::id::{CallId, HoldId};
use domain::person::PersonId;
use domain::refusal::Refusal;
use domain::session::Session;

use super::awaiting::{self, FrontendPrompt};
use super::body::PostedResult;

/// Posted for every prompt that was not clicked. It is no answer.
const SKIPPED: &str = "skipped";

/// What to do about posted results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) answers: Vec<(Arc<Hold>, Answer)>,
    /// Holds that the same person answered in the same way before: this is a repeat, or goes on with
    /// what an interrupted request began.
    pub(super) repeated: Vec<HoldId>,
    /// Results that the same person gave to the same prompts before, in other words: what was secret in
    /// them is not in the record. Whether they are the same is judged where all answers are.
    pub(super) unsure: Vec<(Arc<Hold>, Answer)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unfit {
    /// The ids are not those that are open.
    Ids {
        unknown: Vec<String>,
        duplicate: Vec<String>,
        missing: Vec<String>,
    },
    /// Nothing is open, and nothing of this was answered before.
    NotAwaiting,
    Refused(Refusal),
}

pub(super) fn plan(
    session: &Session,
    bridged: bool,
    by: &PersonId,
    posted: &[PostedResult],
) -> Result<Plan, Unfit> {
    let prompts = awaiting::all_prompts(session, bridged);
    let open: Vec<&FrontendPrompt> =
        prompts.iter().filter(|prompt| prompt.hold.is_pending()).collect();
    let mut seen = BTreeSet::new();
    let duplicate: BTreeSet<&str> = posted
        .iter()
        .map(|posted| posted.tool_use_id.as_str())
        // mutant: frontend-same-id-twice
        .filter(|id| !seen.insert(*id))
        .collect();
    let named = |posted: &PostedResult| {
        prompts.iter().find(|prompt| prompt.tool_use_id == posted.tool_use_id)
    };
    let reaches_open = posted.iter().filter_map(named).any(|prompt| prompt.hold.is_pending());
    // Beside answers to what is open now, only their own turn counts.
    let turn: Vec<CallId> = session.turn_calls().map(|(id, _)| id).collect();
    let counts = |prompt: &&FrontendPrompt| {
        !reaches_open
            || prompt.hold.is_pending()
            || prompt.hold.call_id().is_some_and(|call| turn.contains(&call))
    };
    let found = |posted: &PostedResult| named(posted).filter(counts);
    let unknown: Vec<&PostedResult> =
        posted.iter().filter(|posted| found(posted).is_none()).collect();
    if open.is_empty() && unknown.len() == posted.len() && duplicate.is_empty() {
        return Err(Unfit::NotAwaiting);
    }
    let mut missing: Vec<&str> =
        open.iter().map(|it| it.tool_use_id.as_str()).filter(|id| !seen.contains(id)).collect();
    // A repeat of what was answered before comes with the ids of then, whatever is open now.
    // mutant: frontend-missing-results
    if !reaches_open && unknown.is_empty() {
        missing.clear();
    }
    if !(unknown.is_empty() && duplicate.is_empty() && missing.is_empty()) {
        let owned = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect();
        return Err(Unfit::Ids {
            unknown: unknown.into_iter().map(|posted| posted.tool_use_id.clone()).collect(),
            duplicate: owned(duplicate.into_iter().collect()),
            missing: owned(missing),
        });
    }
    let mut plan = Plan { answers: Vec::new(), repeated: Vec::new(), unsure: Vec::new() };
    for (prompt, posted) in posted.iter().filter_map(|posted| Some((found(posted)?, posted))) {
        let Some(answer) = meant(&prompt.hold, posted) else { continue };
        let hold = &prompt.hold;
        if hold.is_pending() {
            plan.answers.push((hold.clone(), answer));
        // mutant: frontend-other-content-is-a-repeat
        } else if hold.votes.iter().any(|vote| vote.by == *by && vote.answer == answer) {
            plan.repeated.push(hold.id);
        } else if is_result(&answer)
            && hold.votes.iter().any(|vote| vote.by == *by && is_result(&vote.answer))
        {
            plan.unsure.push((hold.clone(), answer));
        } else {
            let hold = Box::new(Hold::clone(hold));
            return Err(Unfit::Refused(match hold.state {
                HoldState::Expired { .. } => Refusal::Expired { hold },
                _ => Refusal::AlreadyDecided { hold },
            }));
        }
    }
    Ok(plan)
}

fn is_result(answer: &Answer) -> bool {
    matches!(answer, Answer::Perform { is_error: false, .. })
}

/// The answer that was given to one prompt; `None` leaves it open.
fn meant(hold: &Hold, posted: &PostedResult) -> Option<Answer> {
    let PostedResult { content, is_error, .. } = posted;
    match (&hold.question, content.as_str(), *is_error) {
        // mutant: frontend-skipped-counts
        (Question::Perform { .. }, SKIPPED, false) => None,
        (Question::Perform { .. }, _, is_error) => {
            Some(Answer::Perform { content: content.clone(), is_error })
        }
        // mutant: frontend-almost-yes
        (Question::Approve, "yes", false) => {
            Some(Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None })
        }
        (Question::Approve, "no", false) => Some(Answer::Deny { reason: None, stop: false }),
        _ => None,
    }
}
