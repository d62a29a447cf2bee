//! Why a tool did not do what it was asked to.

use std::error::Error;
use std::fmt;

use domain::outcome::{Outcome, Output};
use ports::tool_host::PrepareError;

/// What a tool returns in place of a result. Every ordinary error becomes one with `?`, and then
/// means that the call failed.
///
/// It is no [`Error`] itself: that is what lets all errors become one.
///
/// ```
/// use holdpoint_tools::typed::ToolError;
///
/// fn cents(text: &str) -> Result<u64, ToolError> {
///     Ok(text.parse()?)
/// }
/// assert_eq!(cents("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(ToolErrorKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum ToolErrorKind {
    Failed(String),
    Unsound(String),
    Unknown(String),
}

impl ToolError {
    /// It did not work, and nothing is in doubt. The model is told the text.
    pub fn failed(why: impl Into<String>) -> ToolError {
        ToolError(ToolErrorKind::Failed(why.into()))
    }

    /// A call like this can never work; the text tells the model what to change. In a preview it
    /// spares people the question.
    pub fn unsound(why: impl Into<String>) -> ToolError {
        ToolError(ToolErrorKind::Unsound(why.into()))
    }

    /// The outcome is in doubt: the connection broke after the request was sent. A person
    /// is asked, and shown the text; the call is never run again by itself.
    pub fn unknown(evidence: impl Into<String>) -> ToolError {
        ToolError(ToolErrorKind::Unknown(evidence.into()))
    }

    pub(super) fn into_outcome(self) -> Outcome {
        match self.0 {
            ToolErrorKind::Failed(why) | ToolErrorKind::Unsound(why) => {
                Outcome::Failed(Output::text(why))
            }
            ToolErrorKind::Unknown(evidence) => Outcome::Unknown { evidence },
        }
    }

    pub(super) fn of_preview(self) -> PrepareError {
        match self.0 {
            ToolErrorKind::Unsound(why) => PrepareError::Unsound(why),
            ToolErrorKind::Failed(why) | ToolErrorKind::Unknown(why) => PrepareError::blind(why),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ToolErrorKind::Failed(text)
            | ToolErrorKind::Unsound(text)
            | ToolErrorKind::Unknown(text) => f.write_str(text),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    /// The error and what caused it, in one line.
    fn from(error: E) -> ToolError {
        let error: Box<dyn Error + Send + Sync> = error.into();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let inner_text = inner.to_string();
            // Many errors say what caused them already.
            if !text.contains(&inner_text) {
                text = format!("{text}: {inner_text}");
            }
            cause = inner.source();
        }
        ToolError::failed(text)
    }
}
