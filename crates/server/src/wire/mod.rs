//! The shapes that go over the wire: a language of its own, apart from the domain's types, described
//! by `/openapi.json`. Whatever a schema calls secret leaves here redacted.

mod admin;
mod answer;
mod answer_shape;
mod answered;
mod auth;
mod channel;
mod comment;
mod configured;
mod edit_preview;
mod event;
mod field_fault;
mod figures;
mod file;
mod headline;
mod hold;
mod inbox;
mod many_answers;
mod mcp;
mod message;
mod new_hold;
mod object;
mod push;
mod rule_study;
mod saved_view;
mod secrets;
mod session;
mod text;
mod view;
mod whole;

pub(crate) use admin::{
    Agent, AuditCheck, AuditEntry, Freeze, Grant, LinkPromised, LinkWanted, Login, Me, NewFreeze,
    NewLogin, NewToken, Token,
};
pub(crate) use answer::AnswerBody;
pub(crate) use channel::{ChannelTestBody, ChannelTested, ConfiguredChannel};
pub(crate) use comment::CommentBody;
pub(crate) use configured::{ConfiguredTool, HeldTool, ListedPerson, Snooze, SnoozeBody};
pub(crate) use edit_preview::{EditBody, EditPreview};
pub(crate) use event::{EventData, EventPayload, spoken_event};
pub(crate) use field_fault::FieldFault;
pub(crate) use figures::Figures;
pub(crate) use file::File;
pub(crate) use hold::{Cancel, Hold, OutcomeBody, now};
pub(crate) use inbox::{AskedBefore, InboxCounts};
pub(crate) use many_answers::{AnswerResult, ManyAnswers, ManyAnswersBody, WrittenAnswer};
pub(crate) use mcp::{
    McpAttemptDocument, McpConnectDocument, McpServerBody, McpServerDocument, OauthClientDocument,
};
pub(crate) use message::call_input;
pub(crate) use new_hold::NewHoldBody;
pub(crate) use push::{PushBody, PushSubscription, PushSubscriptions};
pub(crate) use rule_study::{Explained, GrantMatches, ImaginedCallBody, PolicyReplay};
pub(crate) use saved_view::{SavedView, SavedViewBody};
pub(crate) use secrets::Secrets;
pub(crate) use session::{MessageReceipt, NewSessionBody, Run, SayBody, SessionDocument, Summary};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request that says nothing but its address.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

/// How the process is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    pub(crate) status: &'static str,
    /// Sessions and calls that an earlier process left and that are still being looked at. Nothing else
    /// waits for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recovering: Option<usize>,
}

/// One page of a list, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListOf{T}")]
pub(crate) struct List<T> {
    pub(crate) items: Vec<T>,
    /// The `cursor` of the next page; null at the end.
    pub(crate) next: Option<String>,
}

impl<T> List<T> {
    pub(crate) fn whole(items: Vec<T>) -> List<T> {
        List { items, next: None }
    }

    /// A page of at most `limit`, cut from one more than that.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> List<T> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(cursor) } else { None };
        List { items, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_says_so() {
        let page = |found: &[u32]| {
            let list = List::cut(found.to_vec(), 2, ToString::to_string);
            (list.items, list.next)
        };
        assert_eq!(page(&[9, 8, 7]), (vec![9, 8], Some("8".into())));
        assert_eq!(page(&[9, 8]), (vec![9, 8], None));
        assert_eq!(page(&[]), (vec![], None));
    }
}
