//! What people said to one another about a hold.

use std::borrow::Cow;
use std::sync::Arc;

use domain::hold::Comment;
use domain::person::PersonId;
use serde::{Deserialize, Serialize};

use super::Ms;

/// The record version that tells of comments.
pub(super) const TELLS_COMMENTS: u32 = 7;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredComment<'a> {
    #[serde(borrow)]
    by: Cow<'a, str>,
    #[serde(borrow)]
    via: Cow<'a, str>,
    at: Ms,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<Cow<'a, str>>,
}

impl<'a> From<&'a Arc<Comment>> for StoredComment<'a> {
    fn from(comment: &'a Arc<Comment>) -> StoredComment<'a> {
        StoredComment {
            by: comment.by.as_str().into(),
            via: comment.via.as_str().into(),
            at: comment.at.into(),
            text: comment.text.as_str().into(),
            mentions: comment.mentions.iter().map(|who| who.as_str().into()).collect(),
        }
    }
}

impl StoredComment<'_> {
    pub(super) fn comment(self) -> Arc<Comment> {
        Arc::new(Comment {
            by: PersonId::new(&self.by),
            via: self.via.into_owned(),
            at: self.at.into(),
            text: self.text.into_owned(),
            mentions: self.mentions.iter().map(|who| PersonId::new(who)).collect(),
        })
    }
}
