//! Asking people while a call runs, for tools whose other side has a question of its own.

use async_trait::async_trait;
use domain::answer::Answer;
use domain::caption::Caption;
use domain::hold::Question;
use serde_json::Value;

/// A question that came up while a call ran. Those are asked who may be asked about the call.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedQuestion {
    /// One line.
    pub title: Caption,
    /// What kind of answer is wanted.
    pub question: Question,
    /// Shown beside the question.
    pub shown: Value,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum NestedAnswer {
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
///
/// ```
/// use domain::answer::Answer;
/// use domain::hold::Question;
/// use holdpoint_ports::nested_question::{NestedAnswer, NestedAsker, NestedQuestion};
///
/// /// Which account an invoice goes to, if a person says so.
/// async fn account(asker: &dyn NestedAsker) -> Option<String> {
///     let title = String::from("Which account?").into();
///     let question = Question::Fill { schema: None };
///     let shown = serde_json::json!({"invoice": 7});
///     match asker.ask(NestedQuestion { title, question, shown }).await {
///         NestedAnswer::Given(Answer::Fill(form)) => form["text"].as_str().map(str::to_owned),
///         // A person said no, or no person said anything: nothing is guessed.
///         NestedAnswer::Given(_) | NestedAnswer::Nobody { .. } => None,
///     }
/// }
/// ```
#[async_trait]
pub trait NestedAsker: Send + Sync {
    /// Waits for the answer.
    async fn ask(&self, asked: NestedQuestion) -> NestedAnswer;
}
