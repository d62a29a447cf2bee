//! What was asked, as far as it decides what a reply can mean.

use super::code::ApprovalCode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyContext {
    pub asked: ExpectedReply,
    /// What the prompt wants to see again before it believes a yes.
    pub code: Option<ApprovalCode>,
    /// Whether "ok" and 👍 are enough: the risk is small, the reply stands beside the prompt, and
    /// the prompt is the last thing we said there.
    pub weak_ok: bool,
    /// The verbs of the very thing that is asked about. "Cancel" answers nothing where an order is
    /// to be cancelled.
    pub reserved: Vec<String>,
    /// How the platform writes our own name in this message.
    pub mentions: Vec<String>,
    /// The platform says that somebody else is mentioned too, however the text spells it.
    pub mentions_others: bool,
    pub attachment: bool,
    /// The platform says that some of it is struck out, quoted, hidden or set as code. `text` is what is left.
    pub formatted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedReply {
    /// Yes or no. If `numbered`, the prompt itself said that 1 is yes and 2 is no.
    Confirm {
        numbered: bool,
    },
    Choice {
        options: Vec<String>,
        multi: bool,
    },
}

/// A question for yes or no, small enough for an "ok".
impl Default for ReplyContext {
    fn default() -> ReplyContext {
        ReplyContext {
            asked: ExpectedReply::Confirm { numbered: false },
            code: None,
            weak_ok: true,
            reserved: Vec::new(),
            mentions: Vec::new(),
            mentions_others: false,
            attachment: false,
            formatted: false,
        }
    }
}

impl ReplyContext {
    pub fn choice<T: Into<String>>(
        options: impl IntoIterator<Item = T>,
        multi: bool,
    ) -> ReplyContext {
        let options = options.into_iter().map(Into::into).collect();
        ReplyContext { asked: ExpectedReply::Choice { options, multi }, ..ReplyContext::default() }
    }

    pub(super) fn is_choice(&self) -> bool {
        matches!(self.asked, ExpectedReply::Choice { .. })
    }
}
