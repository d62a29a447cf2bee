//! What people say to one another about a hold.

use domain::hold;
use domain::person::PersonId;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::Text;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommentBody {
    /// `@id` tells that person, if they may see the hold. It is never read as an answer.
    #[schemars(length(max = 2_000), regex(pattern = r"\S"))]
    pub(crate) text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Comment<'a> {
    by: Text<&'a PersonId>,
    #[schemars(extend("format" = "date-time"))]
    at: Text<Timestamp>,
    via: &'a str,
    /// As it was written: show it as foreign text.
    text: &'a str,
    /// Who was told of it.
    mentions: Vec<Text<&'a PersonId>>,
}

impl<'a> Comment<'a> {
    pub(super) fn of(comment: &'a hold::Comment) -> Comment<'a> {
        Comment {
            by: Text(&comment.by),
            at: Text(comment.at),
            via: &comment.via,
            text: &comment.text,
            mentions: comment.mentions.iter().map(Text).collect(),
        }
    }
}
