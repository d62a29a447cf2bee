//! What people said.

use std::borrow::Cow;
use std::sync::Arc;

use domain::answer::{Answer, ApprovalScope, GrantTerms, Settlement};
use domain::hold::Vote;
use domain::person::PersonId;
use serde::{Deserialize, Serialize};

use super::call::{arguments_text, read_arguments};
use super::credential::StoredProof;
use super::grant::StoredConditions;
use super::json::Json;
use super::{Broken, Hex, Ms, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredAnswer<'a> {
    Approve {
        /// Absent: this once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<StoredTerms<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        note: Option<Cow<'a, str>>,
    },
    Deny {
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "is_false")]
        stop: bool,
    },
    Respond(#[serde(borrow)] Cow<'a, str>),
    Choose(#[serde(borrow)] Vec<Cow<'a, str>>),
    Fill(#[serde(borrow)] Json<'a>),
    Perform {
        #[serde(borrow)]
        content: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
    },
    Settle {
        how: StoredSettlement,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        content: Option<Cow<'a, str>>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredTerms<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_in_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uses: Option<u32>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    conditions: Option<StoredConditions<'a>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredSettlement {
    Succeeded,
    Failed,
    Retry,
}

impl<'a> From<&'a Answer> for StoredAnswer<'a> {
    fn from(answer: &'a Answer) -> StoredAnswer<'a> {
        match answer {
            Answer::Approve { scope, arguments, note } => StoredAnswer::Approve {
                session: match scope {
                    ApprovalScope::Once => None,
                    ApprovalScope::Session(terms) => Some(terms.into()),
                },
                arguments: arguments.as_ref().map(arguments_text),
                note: note.as_deref().map(Cow::from),
            },
            Answer::Deny { reason, stop } => {
                StoredAnswer::Deny { reason: reason.as_deref().map(Cow::from), stop: *stop }
            }
            Answer::Respond { content } => StoredAnswer::Respond(content.into()),
            Answer::Choose(chosen) => StoredAnswer::Choose(chosen.iter().map(Cow::from).collect()),
            Answer::Fill(value) => StoredAnswer::Fill(value.into()),
            Answer::Perform { content, is_error } => {
                StoredAnswer::Perform { content: content.into(), is_error: *is_error }
            }
            Answer::Settle { how, content } => StoredAnswer::Settle {
                how: match how {
                    Settlement::Succeeded => StoredSettlement::Succeeded,
                    Settlement::Failed => StoredSettlement::Failed,
                    Settlement::Retry => StoredSettlement::Retry,
                },
                content: content.as_deref().map(Cow::from),
            },
        }
    }
}

impl StoredAnswer<'_> {
    fn answer(self) -> Result<Answer, Broken> {
        Ok(match self {
            StoredAnswer::Approve { session, arguments, note } => Answer::Approve {
                scope: match session {
                    None => ApprovalScope::Once,
                    Some(terms) => ApprovalScope::Session(terms.terms()?),
                },
                arguments: arguments.as_deref().map(read_arguments).transpose()?,
                note: note.map(Cow::into_owned),
            },
            StoredAnswer::Deny { reason, stop } => {
                Answer::Deny { reason: reason.map(|text| text.into_owned().into()), stop }
            }
            StoredAnswer::Respond(content) => Answer::Respond { content: content.into_owned() },
            StoredAnswer::Choose(chosen) => {
                Answer::Choose(chosen.into_iter().map(Cow::into_owned).collect())
            }
            StoredAnswer::Fill(value) => Answer::Fill(value.value()),
            StoredAnswer::Perform { content, is_error } => {
                Answer::Perform { content: content.into_owned(), is_error }
            }
            StoredAnswer::Settle { how, content } => Answer::Settle {
                how: match how {
                    StoredSettlement::Succeeded => Settlement::Succeeded,
                    StoredSettlement::Failed => Settlement::Failed,
                    StoredSettlement::Retry => Settlement::Retry,
                },
                content: content.map(Cow::into_owned),
            },
        })
    }
}

impl<'a> From<&'a GrantTerms> for StoredTerms<'a> {
    fn from(terms: &'a GrantTerms) -> StoredTerms<'a> {
        StoredTerms {
            expires_in_ms: terms.expires_in_ms,
            uses: terms.uses,
            conditions: terms.conditions.as_ref().map(StoredConditions::from),
        }
    }
}

impl StoredTerms<'_> {
    fn terms(self) -> Result<GrantTerms, Broken> {
        Ok(GrantTerms {
            expires_in_ms: self.expires_in_ms,
            uses: self.uses,
            conditions: self.conditions.map(StoredConditions::conditions).transpose()?,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredVote<'a> {
    #[serde(borrow)]
    by: Cow<'a, str>,
    #[serde(borrow)]
    answer: StoredAnswer<'a>,
    at: Ms,
    #[serde(borrow)]
    via: Cow<'a, str>,
    #[serde(borrow)]
    proof: StoredProof<'a>,
    digest: Hex,
    view: Hex,
}

impl<'a> From<&'a Arc<Vote>> for StoredVote<'a> {
    fn from(vote: &'a Arc<Vote>) -> StoredVote<'a> {
        StoredVote {
            by: vote.by.as_str().into(),
            answer: (&vote.answer).into(),
            at: vote.at.into(),
            via: vote.via.as_str().into(),
            proof: (&vote.proof).into(),
            digest: Hex(vote.digest),
            view: Hex(vote.view),
        }
    }
}

impl StoredVote<'_> {
    pub(super) fn vote(self) -> Result<Arc<Vote>, Broken> {
        Ok(Arc::new(Vote {
            answer: self.answer.answer()?,
            by: PersonId::new(&self.by),
            at: self.at.into(),
            via: self.via.into_owned(),
            proof: self.proof.into(),
            digest: self.digest.0,
            view: self.view.0,
        }))
    }
}
