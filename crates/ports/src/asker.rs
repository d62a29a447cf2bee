//! Asking people while a call runs, for tools whose other side has a question of its own.

#![warn(missing_docs)]

use async_trait::async_trait;
use domain::answer::Answer;
use domain::caption::Caption;
use domain::hold::Question;
use serde_json::Value;

/// A question that came up while a call ran. Those are asked who may be asked about the call.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// One line.
    pub title: Caption,
    /// What kind of answer is wanted.
    pub question: Question,
    /// Shown beside the question.
    pub shown: Value,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// A person answered. A `deny` is an answer, too.
    Given(Answer),
    /// No person did: the time was up, the question was withdrawn, or it could not be asked.
    Nobody {
        /// Which of these.
        why: String,
    },
}

/// Puts questions to people for one running call. When the caller drops the wait, the question is
/// withdrawn.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Waits for the answer.
    async fn ask(&self, asked: Asked) -> Answered;
}
