//! What a person says to a hold.

use std::time::Duration;

use domain::answer::{Answer as Said, ApprovalScope, GrantTerms, Settlement};
use domain::json::Arguments;
use domain::refusal::Refusal;
use serde::Serialize;

/// An answer, to be given with [`crate::Holdpoint::answer`]. Whether it fits the question is judged
/// there.
///
/// ```
/// use std::time::Duration;
///
/// use holdpoint::prelude::*;
///
/// Answer::approve().note("checked with the customer");
/// Answer::approve().also_in_this_session(10, Duration::from_secs(600));
/// Answer::deny("not on a Friday");
/// Answer::choose(["Canary"]);
/// ```
#[derive(Clone, Debug)]
pub struct Answer(Result<Said, Refusal>);

impl Answer {
    /// The call may run, once, exactly as it was shown.
    pub fn approve() -> Answer {
        Answer(Ok(Said::Approve { scope: ApprovalScope::Once, arguments: None, note: None }))
    }

    /// The call may run with these arguments in place of its own. They are ruled on anew, as if the model
    /// had written them; what the model wrote stays as it was.
    pub fn approve_edited<A: Serialize + ?Sized>(arguments: &A) -> Answer {
        let edited = serde_json::to_value(arguments)
            .map_err(|error| error.to_string())
            .and_then(|value| Arguments::from_value(value).map_err(|error| error.to_string()));
        Answer(match edited {
            Ok(arguments) => Ok(Said::Approve {
                scope: ApprovalScope::Once,
                arguments: Some(arguments),
                note: None,
            }),
            Err(why) => Err(Refusal::AnswerInvalid { field: "arguments".into(), why: why.into() }),
        })
    }

    /// The call does not run, and the model is told why.
    pub fn deny(reason: impl Into<String>) -> Answer {
        Answer(Ok(Said::Deny { reason: Some(reason.into().into()), stop: false }))
    }

    /// The call does not run, and the run ends.
    pub fn deny_and_stop(reason: impl Into<String>) -> Answer {
        Answer(Ok(Said::Deny { reason: Some(reason.into().into()), stop: true }))
    }

    /// The model gets this text in place of the tool's result.
    pub fn respond(content: impl Into<String>) -> Answer {
        Answer(Ok(Said::Respond { content: content.into() }))
    }

    /// These options, by id or label.
    pub fn choose<T: Into<String>>(options: impl IntoIterator<Item = T>) -> Answer {
        Answer(Ok(Said::Choose(options.into_iter().map(Into::into).collect())))
    }

    /// An answer in the person's own words, for a question without a form.
    pub fn text(text: impl Into<String>) -> Answer {
        Answer(Ok(Said::Fill(serde_json::json!({"text": text.into()}))))
    }

    /// A form filled in.
    pub fn fill<V: Serialize + ?Sized>(values: &V) -> Answer {
        let refused = |error: serde_json::Error| Refusal::AnswerInvalid {
            field: "values".into(),
            why: error.to_string().into(),
        };
        Answer(serde_json::to_value(values).map(Said::Fill).map_err(refused))
    }

    /// A client tool was carried out, with this result.
    pub fn perform(content: impl Into<String>) -> Answer {
        Answer(Ok(Said::Perform { content: content.into(), is_error: false }))
    }

    /// A client tool could not be carried out.
    pub fn could_not_perform(content: impl Into<String>) -> Answer {
        Answer(Ok(Said::Perform { content: content.into(), is_error: true }))
    }

    /// What really happened to a call whose outcome was unknown.
    pub fn settle(how: Settlement, content: Option<String>) -> Answer {
        Answer(Ok(Said::Settle { how, content }))
    }

    /// A word beside an approval, for the record.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Answer {
        if let Ok(Said::Approve { note, .. }) = &mut self.0 {
            *note = Some(text.into());
        }
        self
    }

    /// An approval that also covers the very same call when it comes again in this session: so often
    /// at most, and for so long.
    #[must_use]
    pub fn also_in_this_session(mut self, uses: u32, within: Duration) -> Answer {
        if let Ok(Said::Approve { scope, .. }) = &mut self.0 {
            *scope = ApprovalScope::Session(GrantTerms {
                expires_in_ms: Some(u64::try_from(within.as_millis()).unwrap_or(u64::MAX)),
                uses: Some(uses),
                conditions: None,
            });
        }
        self
    }

    pub(super) fn said(self) -> Result<Said, Refusal> {
        self.0
    }
}
