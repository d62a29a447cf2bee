//! Whether an answer counts, and what it does to the hold. Who answers first wins; the same
//! person's same answer again changes nothing; any other later one is told what stands.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CancelReason, Decision, Hold, HoldChange, HoldState, Preview, Question, Risk, Vote};
use crate::answer::{Answer, ApprovalScope};
use crate::call::Call;
use crate::caption::Caption;
use crate::digest::Digest;
use crate::person::{Actor, Audience, AuthenticatedPerson, People};
use crate::refusal::{AnswerFault, Refusal};
use crate::time::Timestamp;

/// What an answer does.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The same person said the same before.
    Repeat,
    /// It counts, but more must agree (or, after an edit, somebody else must look).
    Counts(HoldChange),
    /// The edit is approved by the one who made it.
    Edits {
        /// The edited call takes the place of the first.
        revised: HoldChange,
        /// The approval of that call by the person who edited it.
        state: HoldState,
    },
    /// It is the last word: the hold gets this state.
    Decides(HoldState),
    /// It counts, and now everybody who may answer has: they will never agree.
    Disagrees {
        /// The vote, which is kept.
        voted: HoldChange,
        /// Cancelled, with the disagreement as the reason.
        state: HoldState,
    },
}

/// An edited call, ruled on anew before the edit is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    /// For the edited call.
    pub title: Caption,
    /// The new revision. Its digest is the one that is asked about from here on.
    pub call: Arc<Call>,
    /// Who may answer for the edited call: the rules may ask other people for it.
    pub audience: Arc<Audience>,
    /// The rule that asks, if one does.
    pub rule: Option<String>,
    /// By the rules as they are now, or higher where the tool says so.
    pub risk: Risk,
    /// What the tool found out about the edited call.
    pub preview: Preview,
}

impl Hold {
    /// Expiry must have been applied before: an overdue hold is not judged, it is expired.
    pub fn judge(
        &self,
        answer: &Answer,
        digest: Option<Digest>,
        by: &AuthenticatedPerson,
        edited: Option<&Edited>,
        people: &People,
        now: Timestamp,
    ) -> Result<Judgement, Refusal> {
        let mine: Vec<&Arc<Vote>> = self.votes.iter().filter(|vote| vote.by == *by.id()).collect();
        // An edit was sent with the digest that was shown before it, so its own words identify it.
        let edits = matches!(answer, Answer::Approve { arguments: Some(_), .. });
        let is_repeat = |vote: &&Arc<Vote>| {
            self.question.same_answer(&vote.answer, answer)
                && (edits
                    || digest.is_none_or(|digest| digest == vote.digest || digest == self.digest()))
        };
        if mine.iter().any(is_repeat) {
            return Ok(Judgement::Repeat);
        }
        match &self.state {
            HoldState::Pending => {}
            HoldState::Expired { .. } => {
                return Err(Refusal::Expired { hold: Box::new(self.clone()) });
            }
            // mutant: second-answer-wins
            _ => return Err(Refusal::AlreadyDecided { hold: Box::new(self.clone()) }),
        }
        // mutant: anybody-may-answer
        if !self.admits(by.id(), people) {
            return Err(Refusal::NotEntitled { why: self.why_not(by, people) });
        }
        // mutant: made-logins-count
        if !self.audience.accepts_login(by.id(), by.proof()) {
            return Err(Refusal::NotEntitled { why: by.proof().why_not_own(by.id()) });
        }
        self.question
            .fits_sealed(answer)
            .map_err(|refused| Refusal::AnswerInvalid { field: refused.field, why: refused.why })?;
        if self.asks_to_go_on() && matches!(answer, Answer::Respond { .. }) {
            return Err(Refusal::AnswerInvalid {
                field: "answer".into(),
                why: AnswerFault::NoCallWaits,
            });
        }
        // mutant: digest-not-needed
        if matches!(answer, Answer::Approve { .. }) && digest.is_none() {
            return Err(Refusal::AnswerInvalid {
                field: "digest".into(),
                why: AnswerFault::NoDigest,
            });
        }
        // mutant: digest-not-compared
        if digest.is_some_and(|digest| digest != self.digest()) {
            return Err(Refusal::VersionConflict { hold: Box::new(self.clone()) });
        }
        // An external hold's approval that is complete and waits for a thaw: the person who gave it may still deny it.
        let takes_back =
            matches!(answer, Answer::Deny { .. }) && self.decided_by_votes(people).is_some();
        // mutant: same-person-twice.vote, a-waiting-vote-stands-for-ever
        if !mine.is_empty() && !takes_back {
            return Err(Refusal::AlreadyVoted { hold: Box::new(self.clone()) });
        }
        if let (Answer::Approve { scope: ApprovalScope::Session(_), .. }, true) =
            (answer, self.audience.quorum > 1 || self.session().is_none() || self.call().is_none())
        {
            return Err(Refusal::AnswerInvalid {
                field: "scope".into(),
                why: AnswerFault::NoGrantHere,
            });
        }
        let vote = self.vote(answer, by, now, self.digest());
        match (answer, edited) {
            (Answer::Approve { arguments: Some(_), .. }, Some(edited)) => {
                Ok(self.edit(answer, by, edited, people, now))
            }
            (Answer::Approve { arguments: Some(_), .. }, None) => Err(Refusal::Overtaken),
            _ => Ok(self.count(vote, people, now)),
        }
    }

    fn vote(
        &self,
        answer: &Answer,
        by: &AuthenticatedPerson,
        at: Timestamp,
        digest: Digest,
    ) -> Arc<Vote> {
        Arc::new(Vote {
            answer: answer.clone(),
            by: by.id().clone(),
            at,
            via: by.via().to_owned(),
            proof: by.proof().clone(),
            digest,
            view: crate::view::digest(self),
        })
    }

    /// A person who refuses or answers in the call's place decides alone: nothing runs by it. To let
    /// something run, as many different people as the rule asks for must say the same.
    fn count(&self, vote: Arc<Vote>, people: &People, now: Timestamp) -> Judgement {
        match &vote.answer {
            // mutant: denial-does-not-win
            Answer::Deny { .. } => {
                let voters = vec![vote.by.clone()];
                return Judgement::Decides(HoldState::Denied(Decision::People { vote, voters }));
            }
            Answer::Respond { .. } => {
                let voters = vec![vote.by.clone()];
                return Judgement::Decides(HoldState::Answered(Decision::People { vote, voters }));
            }
            _ => {}
        }
        // Only those who are entitled now count, whenever they voted.
        let mut voters: Vec<_> = self
            .votes
            .iter()
            // mutant: stale-voter-counts
            .filter(|earlier| self.agrees(earlier, &vote) && self.counts_now(earlier, people))
            .map(|earlier| earlier.by.clone())
            .collect();
        voters.push(vote.by.clone());
        voters.sort();
        // mutant: same-person-twice.count
        voters.dedup();
        // mutant: quorum-of-one
        if voters.len() < self.audience.quorum as usize {
            // Nobody votes twice, and this question does not expire: its run would wait for ever. (Where
            // there are too few people, they are a matter of the configuration.)
            let is_last = self.question == Question::Settle
                // mutant: too-few-people-disagree
                && self.audience.is_satisfiable(self.requester.as_ref(), people)
                && self.have_all_answered(&vote, people);
            let voted = HoldChange::Voted(vote);
            // mutant: a-disagreement-waits-for-ever
            if !is_last {
                return Judgement::Counts(voted);
            }
            let reason = "everybody who may answer has, and they do not agree".to_owned();
            let reason = CancelReason::Stated(reason);
            let state = HoldState::Cancelled { by: Actor::Runtime, reason, at: now };
            return Judgement::Disagrees { voted, state };
        }
        let approves = matches!(vote.answer, Answer::Approve { .. });
        let decision = Decision::People { vote, voters };
        Judgement::Decides(if approves {
            HoldState::Approved(decision)
        } else {
            HoldState::Answered(decision)
        })
    }

    /// What the votes so far decide, by people who are entitled now. Mostly the last vote decides at once;
    /// only to an external hold, while all is frozen, it just counts (`external_hold.rs`).
    pub fn decided_by_votes(&self, people: &People) -> Option<HoldState> {
        let counts = |vote: &&Arc<Vote>| self.counts_now(vote, people);
        self.votes.iter().rev().filter(counts).find_map(|vote| {
            let agreeing = self.votes.iter().filter(|other| self.agrees(other, vote));
            let voters: BTreeSet<_> =
                agreeing.filter(counts).map(|other| other.by.clone()).collect();
            let is_enough = voters.len() >= self.audience.quorum as usize;
            let voters = voters.into_iter().collect();
            let decision = Decision::People { vote: vote.clone(), voters };
            is_enough.then_some(match vote.answer {
                Answer::Approve { .. } => HoldState::Approved(decision),
                _ => HoldState::Answered(decision),
            })
        })
    }

    /// Whether the voter is entitled now, by a login that is good enough: roles may have changed since the vote.
    fn counts_now(&self, vote: &Vote, people: &People) -> bool {
        self.admits(&vote.by, people) && self.audience.accepts_login(&vote.by, &vote.proof)
    }

    /// Whether, with this vote, nobody is left who could say anything.
    fn have_all_answered(&self, vote: &Vote, people: &People) -> bool {
        let mut asked = people.iter().filter(|person| self.admits(&person.id, people));
        asked.all(|person| {
            person.id == vote.by || self.votes.iter().any(|vote| vote.by == person.id)
        })
    }

    fn edit(
        &self,
        answer: &Answer,
        by: &AuthenticatedPerson,
        edited: &Edited,
        people: &People,
        now: Timestamp,
    ) -> Judgement {
        let mut revised = self.clone();
        // The next approver sees what was changed, and decides on it by its digest.
        let by_the_tool = edited.preview.diff.as_deref();
        let diff = crate::view::with_edit(self, &edited.call, by_the_tool);
        let preview = Preview { diff, ..edited.preview.clone() }.about(Some(&edited.call));
        let change = |votes| HoldChange::Revised {
            title: edited.title.clone(),
            call: edited.call.clone(),
            audience: edited.audience.clone(),
            rule: edited.rule.clone(),
            risk: edited.risk,
            preview: preview.clone(),
            votes,
        };
        revised.changed(&change(Vec::new()));
        let login_counts = revised.audience.accepts_login(by.id(), by.proof());
        // mutant: editor-approves-own-edit
        if !revised.admits(by.id(), people) || !login_counts {
            // The editor may not approve what they made of it: it waits for those who may.
            return Judgement::Counts(change(Vec::new()));
        }
        // The view is the one that the editor was shown, before the edit that they wrote themselves.
        let vote = self.vote(answer, by, now, edited.call.digest());
        if revised.audience.quorum > 1 {
            return Judgement::Counts(change(vec![vote]));
        }
        let voters = vec![vote.by.clone()];
        Judgement::Edits {
            revised: change(Vec::new()),
            state: HoldState::Approved(Decision::People { vote, voters }),
        }
    }

    fn why_not(&self, by: &AuthenticatedPerson, people: &People) -> String {
        if self.audience.excludes(by.id(), self.requester.as_ref()) {
            return match self.requester.as_ref() == Some(by.id()) {
                true => "the rule does not let the requester approve their own request".into(),
                false => "the rule does not let the requester approve their own request, and you made the \
                          login or token by which it came"
                    .into(),
            };
        }
        let mut who: Vec<String> =
            self.audience.roles.iter().map(|role| format!("role `{role}`")).collect();
        who.extend(self.audience.people.iter().map(|id| people.name_of(id).to_owned()));
        format!("this hold is for {}", who.join(", "))
    }

    /// Two votes say the same if nothing that they differ in could change what follows.
    fn agrees(&self, earlier: &Vote, vote: &Vote) -> bool {
        // mutant: edit-keeps-votes.agreement
        if earlier.digest != vote.digest {
            return false;
        }
        match (&earlier.answer, &vote.answer) {
            // After an edit the digest says which call was meant; notes are everybody's own.
            (Answer::Approve { .. }, Answer::Approve { .. }) => true,
            (Answer::Settle { how: a, .. }, Answer::Settle { how: b, .. }) => a == b,
            (Answer::Choose(a), Answer::Choose(b)) => self.question.same_choice(a, b),
            (a, b) => a == b,
        }
    }
}
