//! What an edit would make of a hold, before anybody sends it: judged by the same code as the answer itself.
//! Nothing is stored, nothing is voted, and no call runs; a tool looks at the edited call as it does before a
//! person is asked.

use domain::answer::{Answer, ApprovalScope};
use domain::hold::{Edited, Hold, Judgement};
use domain::id::HoldId;
use domain::json::Arguments;
use domain::policy::PolicyDecision;
use domain::refusal::Refusal;

use crate::accounts::Caller;
use crate::limits::PREVIEW_WITHIN;
use crate::secrets::references::SealedAnswer;
use crate::{Engine, Error};

/// A hold as it would be after an edit.
#[derive(Clone, Debug)]
pub struct EditPreview {
    pub hold: Hold,
    /// The policy lets the edited call run without asking; the approval of it is asked for all the same.
    pub is_allowed: bool,
    /// Whether an approval with this edit would count for the edited call. Otherwise the hold waits for those
    /// whom the rule of the edited call names.
    pub may_approve: bool,
}

impl Engine {
    /// Only for people who may answer the hold now.
    pub async fn preview_edit(
        &self,
        caller: &Caller,
        id: HoldId,
        arguments: Arguments,
    ) -> Result<EditPreview, Error> {
        let (by, hold) = self.find_to_answer(caller, id).await?;
        if hold.is_overdue(self.now()) {
            return Err(Refusal::Expired { hold: Box::new((*hold).clone()) }.into());
        }
        let people = &self.0.people;
        let judge = |answer: &Answer, edited: Option<&Edited>| {
            hold.judge(answer, Some(hold.digest()), &by, edited, people, self.now())
        };
        let approve =
            |arguments| Answer::Approve { scope: ApprovalScope::Once, arguments, note: None };
        // Those who could not answer learn that before the tool is asked anything.
        judge(&approve(None), None)?;
        let looking = async {
            let answer = approve(Some(arguments));
            let SealedAnswer { answer, new } = self.take_secrets(&hold, by.id(), answer).await?;
            let Answer::Approve { arguments: Some(sealed), .. } = &answer else {
                return Err(Error::Unavailable("an edit came to something else".into()));
            };
            let edited = self.rule_edit(&hold, sealed.clone(), &new).await?;
            Ok((answer, edited))
        };
        let (answer, edited) = tokio::select! {
            biased;
            looked = looking => looked?,
            () = self.0.clock.sleep(PREVIEW_WITHIN) => {
                return Err(Error::Unavailable("the tool took too long to look at the edit".into()));
            }
        };
        let (change, may_approve) = match judge(&answer, Some(&edited))? {
            Judgement::Edits { revised, .. } => (revised, true),
            Judgement::Counts(revised) => (revised, false),
            // An edit is one of the two.
            Judgement::Repeat | Judgement::Decides(_) | Judgement::Disagrees { .. } => {
                return Err(Refusal::AlreadyVoted { hold: Box::new((*hold).clone()) }.into());
            }
        };
        let mut shown = (*hold).clone();
        shown.changed(&change);
        // With a quorum the edit counts as the first vote.
        let may_approve = may_approve || shown.votes.iter().any(|vote| vote.by == *by.id());
        shown.votes.clear();
        let is_allowed = matches!(self.verdict(&edited.call).decision, PolicyDecision::Allow);
        Ok(EditPreview { hold: shown, is_allowed, may_approve })
    }
}
