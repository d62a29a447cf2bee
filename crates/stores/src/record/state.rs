//! Where a hold stands, and what changes it.

use std::borrow::Cow;
use std::sync::Arc;

use domain::hold::{
    CancelReason, Decision, HoldChange, HoldOutcome, HoldState, Preview, Risk, SUPERSEDED, Vote,
};
use domain::person::PersonId;
use serde::{Deserialize, Serialize};

use super::actor::{StoredActor, StoredAudience};
use super::answer::StoredVote;
use super::call::{StoredCall, StoredClearedBy};
use super::caption::{StoredCaptionKind, read_caption};
use super::comment::StoredComment;
use super::message::StoredResult;
use super::warning::{StoredWarningKind, read_warnings, stored_kinds};
use super::{Broken, Ms, RowContext, damaged, is_false};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredState<'a> {
    #[default]
    Pending,
    Approved(#[serde(borrow)] StoredDecision<'a>),
    Denied(#[serde(borrow)] StoredDecision<'a>),
    Answered(#[serde(borrow)] StoredDecision<'a>),
    Expired {
        at: Ms,
    },
    Cancelled {
        #[serde(borrow)]
        by: StoredActor<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
        /// Since version 6: a caller gave this reason, though it is the word for a superseded hold.
        #[serde(default, skip_serializing_if = "is_false")]
        stated: bool,
        at: Ms,
    },
}

/// A caller's own words that happen to be the word for a superseded hold.
pub(super) fn is_spelled_as_superseded(reason: &CancelReason) -> bool {
    matches!(reason, CancelReason::Stated(text) if text == SUPERSEDED)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredDecision<'a> {
    People {
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        vote: Option<Box<StoredVote<'a>>>,
        /// The deciding vote is the one at this place among the votes of the same hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nth: Option<usize>,
        #[serde(borrow)]
        voters: Vec<Cow<'a, str>>,
    },
    Automatic {
        allowed: bool,
        #[serde(borrow)]
        by: StoredClearedBy<'a>,
        at: Ms,
    },
}

impl<'a> StoredState<'a> {
    /// `votes`: those that are stored beside the state, so that none is stored twice.
    pub(super) fn new(state: &'a HoldState, votes: &[Arc<Vote>]) -> StoredState<'a> {
        match state {
            HoldState::Pending => StoredState::Pending,
            HoldState::Approved(decision) => {
                StoredState::Approved(StoredDecision::new(decision, votes))
            }
            HoldState::Denied(decision) => {
                StoredState::Denied(StoredDecision::new(decision, votes))
            }
            HoldState::Answered(decision) => {
                StoredState::Answered(StoredDecision::new(decision, votes))
            }
            HoldState::Expired { at } => StoredState::Expired { at: (*at).into() },
            HoldState::Cancelled { by, reason, at } => StoredState::Cancelled {
                by: by.into(),
                reason: reason.text().map(Cow::from),
                stated: is_spelled_as_superseded(reason),
                at: (*at).into(),
            },
        }
    }

    pub(super) fn state(self, votes: &[Arc<Vote>]) -> Result<HoldState, Broken> {
        Ok(match self {
            StoredState::Pending => HoldState::Pending,
            StoredState::Approved(decision) => HoldState::Approved(decision.decision(votes)?),
            StoredState::Denied(decision) => HoldState::Denied(decision.decision(votes)?),
            StoredState::Answered(decision) => HoldState::Answered(decision.decision(votes)?),
            StoredState::Expired { at } => HoldState::Expired { at: at.into() },
            StoredState::Cancelled { by, reason, stated, at } => HoldState::Cancelled {
                by: by.into(),
                reason: match reason {
                    // Older records have one spelling for both, and mean ours.
                    Some(reason) if reason == SUPERSEDED && !stated => CancelReason::Superseded,
                    reason => CancelReason::stated(reason.map(Cow::into_owned)),
                },
                at: at.into(),
            },
        })
    }

    pub(super) fn is_pending(&self) -> bool {
        matches!(self, StoredState::Pending)
    }
}

impl<'a> StoredDecision<'a> {
    fn new(decision: &'a Decision, votes: &[Arc<Vote>]) -> StoredDecision<'a> {
        match decision {
            Decision::People { vote, voters } => {
                let nth = votes.iter().position(|listed| listed == vote);
                StoredDecision::People {
                    vote: nth.is_none().then(|| Box::new(vote.into())),
                    nth,
                    voters: voters.iter().map(|id| id.as_str().into()).collect(),
                }
            }
            Decision::Automatic { allowed, by, at } => {
                StoredDecision::Automatic { allowed: *allowed, by: by.into(), at: (*at).into() }
            }
        }
    }

    fn decision(self, votes: &[Arc<Vote>]) -> Result<Decision, Broken> {
        Ok(match self {
            StoredDecision::People { vote, nth, voters } => Decision::People {
                vote: match (vote, nth.and_then(|nth| votes.get(nth))) {
                    (Some(vote), _) => vote.vote()?,
                    (None, Some(listed)) => listed.clone(),
                    (None, None) => return damaged("a decision without its vote"),
                },
                voters: voters.iter().map(|id| PersonId::new(id)).collect(),
            },
            StoredDecision::Automatic { allowed, by, at } => {
                Decision::Automatic { allowed, by: by.into(), at: at.into() }
            }
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredOutcome<'a> {
    Executing,
    Succeeded(#[serde(borrow)] StoredResult<'a>),
    Failed(#[serde(borrow)] StoredResult<'a>),
    Unknown,
}

impl<'a> From<&'a HoldOutcome> for StoredOutcome<'a> {
    fn from(outcome: &'a HoldOutcome) -> StoredOutcome<'a> {
        match outcome {
            HoldOutcome::Executing => StoredOutcome::Executing,
            HoldOutcome::Succeeded(result) => StoredOutcome::Succeeded(result.into()),
            HoldOutcome::Failed(result) => StoredOutcome::Failed(result.into()),
            HoldOutcome::Unknown => StoredOutcome::Unknown,
        }
    }
}

impl From<StoredOutcome<'_>> for HoldOutcome {
    fn from(stored: StoredOutcome<'_>) -> HoldOutcome {
        match stored {
            StoredOutcome::Executing => HoldOutcome::Executing,
            StoredOutcome::Succeeded(result) => HoldOutcome::Succeeded(result.into()),
            StoredOutcome::Failed(result) => HoldOutcome::Failed(result.into()),
            StoredOutcome::Unknown => HoldOutcome::Unknown,
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredPreview<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    summary: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    summary_kind: Option<StoredCaptionKind<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    diff: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Cow<'a, str>>,
    /// One for each warning, or none at all.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    warning_kinds: Vec<Option<StoredWarningKind<'a>>>,
    #[serde(default, skip_serializing_if = "is_false")]
    codes_look_alikes: bool,
}

impl StoredPreview<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.summary.is_none()
            && self.rows.is_none()
            && self.diff.is_none()
            && self.warnings.is_empty()
            && !self.codes_look_alikes
    }
}

impl<'a> From<&'a Preview> for StoredPreview<'a> {
    fn from(preview: &'a Preview) -> StoredPreview<'a> {
        StoredPreview {
            summary: preview.summary.as_deref().map(Cow::from),
            summary_kind: preview
                .summary
                .as_ref()
                .and_then(|summary| summary.kind())
                .map(StoredCaptionKind::from),
            rows: preview.rows,
            diff: preview.diff.as_deref().map(Cow::from),
            warnings: preview.warnings.iter().map(|one| one.text().into()).collect(),
            warning_kinds: stored_kinds(&preview.warnings),
            codes_look_alikes: preview.codes_look_alikes,
        }
    }
}

impl StoredPreview<'_> {
    pub(super) fn preview(self) -> Result<Preview, Broken> {
        Ok(Preview {
            summary: match (self.summary, self.summary_kind) {
                (Some(text), kind) => Some(read_caption(text, kind)?),
                (None, Some(_)) => return damaged("a preview has the kind of no summary"),
                (None, None) => None,
            },
            rows: self.rows,
            diff: self.diff.map(Cow::into_owned),
            warnings: read_warnings(self.warnings, self.warning_kinds)?,
            codes_look_alikes: self.codes_look_alikes,
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredRisk {
    Low,
    #[default]
    Medium,
    High,
    Critical,
}

impl StoredRisk {
    pub(super) fn is_medium(&self) -> bool {
        *self == StoredRisk::Medium
    }
}

impl From<Risk> for StoredRisk {
    fn from(risk: Risk) -> StoredRisk {
        match risk {
            Risk::Low => StoredRisk::Low,
            Risk::Medium => StoredRisk::Medium,
            Risk::High => StoredRisk::High,
            Risk::Critical => StoredRisk::Critical,
        }
    }
}

impl From<StoredRisk> for Risk {
    fn from(stored: StoredRisk) -> Risk {
        match stored {
            StoredRisk::Low => Risk::Low,
            StoredRisk::Medium => Risk::Medium,
            StoredRisk::High => Risk::High,
            StoredRisk::Critical => Risk::Critical,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredChange<'a> {
    Voted(#[serde(borrow)] StoredVote<'a>),
    Revised {
        #[serde(borrow)]
        title: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        title_kind: Option<StoredCaptionKind<'a>>,
        #[serde(borrow)]
        call: Box<StoredCall<'a>>,
        #[serde(borrow)]
        audience: StoredAudience<'a>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        rule: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "StoredRisk::is_medium")]
        risk: StoredRisk,
        #[serde(borrow, default, skip_serializing_if = "StoredPreview::is_empty")]
        preview: StoredPreview<'a>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        votes: Vec<StoredVote<'a>>,
    },
    Claimed(#[serde(borrow)] Cow<'a, str>),
    Unclaimed,
    Outcome(#[serde(borrow)] StoredOutcome<'a>),
    Revealed(#[serde(borrow)] Cow<'a, str>),
    Commented(#[serde(borrow)] StoredComment<'a>),
}

impl<'a> StoredChange<'a> {
    pub(super) fn new(change: &'a HoldChange, frame: RowContext<'_>) -> StoredChange<'a> {
        match change {
            HoldChange::Voted(vote) => StoredChange::Voted(vote.into()),
            HoldChange::Revised { title, call, audience, rule, risk, preview, votes } => {
                StoredChange::Revised {
                    title: title.text().into(),
                    title_kind: title.kind().map(StoredCaptionKind::from),
                    call: Box::new(StoredCall::new(call, frame, None)),
                    audience: audience.as_ref().into(),
                    rule: rule.as_deref().map(Cow::from),
                    risk: (*risk).into(),
                    preview: preview.into(),
                    votes: votes.iter().map(StoredVote::from).collect(),
                }
            }
            HoldChange::Claimed(who) => StoredChange::Claimed(who.as_str().into()),
            HoldChange::Unclaimed => StoredChange::Unclaimed,
            HoldChange::Outcome(outcome) => StoredChange::Outcome(outcome.into()),
            HoldChange::Revealed(who) => StoredChange::Revealed(who.as_str().into()),
            HoldChange::Commented(comment) => StoredChange::Commented(comment.into()),
        }
    }

    pub(super) fn change(self, frame: RowContext<'_>) -> Result<HoldChange, Broken> {
        Ok(match self {
            StoredChange::Voted(vote) => HoldChange::Voted(vote.vote()?),
            StoredChange::Revised {
                title,
                title_kind,
                call,
                audience,
                rule,
                risk,
                preview,
                votes,
            } => HoldChange::Revised {
                title: read_caption(title, title_kind)?,
                call: call.call(frame, None)?,
                audience: Arc::new(audience.into()),
                rule: rule.map(Cow::into_owned),
                risk: risk.into(),
                preview: preview.preview()?,
                votes: votes.into_iter().map(StoredVote::vote).collect::<Result<_, _>>()?,
            },
            StoredChange::Claimed(who) => HoldChange::Claimed(PersonId::new(&who)),
            StoredChange::Unclaimed => HoldChange::Unclaimed,
            StoredChange::Outcome(outcome) => HoldChange::Outcome(outcome.into()),
            StoredChange::Revealed(who) => HoldChange::Revealed(PersonId::new(&who)),
            StoredChange::Commented(comment) => HoldChange::Commented(comment.comment()),
        })
    }
}
