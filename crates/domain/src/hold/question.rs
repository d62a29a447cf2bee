//! What is asked, and which answers fit it.

use serde_json::{Value, json};

use super::QuestionKind;
use crate::answer::Answer;
use crate::json::canonical;
use crate::limits::{CONTENT_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX, REASON_BYTES_MAX};
use crate::refusal::AnswerFault;
use crate::schema::{Validator, without_secrets, write_only_pointers};

/// What a hold asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// May this call run?
    Approve,
    /// Which of these?
    Choose {
        /// In the order in which they are shown.
        options: Vec<Choice>,
        /// More than one may be chosen.
        multiple: bool,
        /// A text that is none of the options is taken as well.
        allow_other: bool,
    },
    /// A form by JSON Schema, or free text.
    Fill {
        /// What the form must satisfy. `None` takes free text.
        schema: Option<Value>,
    },
    /// A client tool: the browser or person that does it returns the result.
    Perform {
        /// Results that mean "no": effectful calls of the same turn then do not run.
        deny_values: Vec<String>,
    },
    /// A crash left an outcome unknown: what really happened?
    Settle,
}

/// One option. All of its words are the asker's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What an answer and the model's result name it by.
    pub id: String,
    /// What people read.
    pub label: String,
    /// Shown beside the label, if there is one.
    pub description: Option<String>,
}

impl Choice {
    /// The only answer to a question that is a link. It is ours: surfaces in other languages word it.
    pub fn link_opened() -> Choice {
        let label = "I have opened the link".into();
        Choice { id: "link_opened".into(), label, description: None }
    }

    /// Whether it is the option of ours, to the letter.
    pub fn is_link_opened(&self) -> bool {
        *self == Choice::link_opened()
    }
}

/// Why an answer does not fit, and the field to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerMismatch {
    /// The field of the answer, as the API names it.
    pub field: String,
    /// What is wrong with it.
    pub why: AnswerFault,
}

fn refused<T>(field: &str, why: impl Into<AnswerFault>) -> Result<T, AnswerMismatch> {
    Err(AnswerMismatch { field: field.into(), why: why.into() })
}

impl Question {
    /// The kind alone.
    pub fn kind(&self) -> QuestionKind {
        match self {
            Question::Approve => QuestionKind::Approve,
            Question::Choose { .. } => QuestionKind::Choose,
            Question::Fill { .. } => QuestionKind::Fill,
            Question::Perform { .. } => QuestionKind::Perform,
            Question::Settle => QuestionKind::Settle,
        }
    }

    /// Builds a choice from labels; the ids are `1`, `2`, … as people type them.
    pub fn choose(
        labels: impl IntoIterator<Item = (String, Option<String>)>,
        multiple: bool,
        allow_other: bool,
    ) -> Result<Question, AnswerMismatch> {
        let options: Vec<Choice> = labels
            .into_iter()
            .enumerate()
            .map(|(index, (label, description))| Choice {
                id: (index + 1).to_string(),
                label,
                description,
            })
            .collect();
        let question = Question::Choose { options, multiple, allow_other };
        question.check().map(|()| question)
    }

    /// Whether the question itself can be asked.
    pub fn check(&self) -> Result<(), AnswerMismatch> {
        match self {
            Question::Choose { options, .. } => {
                if options.is_empty() {
                    return refused("options", "give at least one option");
                }
                if options.len() > OPTIONS_MAX {
                    return refused("options", format!("give at most {OPTIONS_MAX} options"));
                }
                for (index, option) in options.iter().enumerate() {
                    if option.label.trim().is_empty() || option.label.len() > OPTION_BYTES_MAX {
                        return refused(
                            "options",
                            format!(
                                "option {} must have between 1 and {OPTION_BYTES_MAX} bytes",
                                index + 1
                            ),
                        );
                    }
                    // An id that is another option's label would make one text mean two things.
                    let clash = options[..index].iter().find(|other| {
                        let texts = [&other.id, &other.label];
                        texts.contains(&&option.id) || texts.contains(&&option.label)
                    });
                    if let Some(other) = clash {
                        return refused(
                            "options",
                            format!(
                                "options `{}` and `{}` cannot be told apart",
                                other.label, option.label
                            ),
                        );
                    }
                }
                Ok(())
            }
            Question::Fill { schema: Some(schema) } => match Validator::new(schema) {
                Ok(_) => Ok(()),
                Err(why) => refused("schema", why),
            },
            _ => Ok(()),
        }
    }

    /// Whether an answer fits: kind, options and schema come from the store, never from the client.
    pub fn fits(&self, answer: &Answer) -> Result<(), AnswerMismatch> {
        match (self, answer) {
            (_, Answer::Deny { reason, .. }) => {
                at_most(reason.as_deref(), "reason", REASON_BYTES_MAX)
            }
            (Question::Approve, Answer::Approve { note, .. }) => {
                at_most(note.as_deref(), "note", REASON_BYTES_MAX)
            }
            (Question::Approve, Answer::Respond { content }) if content.trim().is_empty() => {
                refused("content", AnswerFault::NoContent)
            }
            (Question::Approve, Answer::Respond { content }) => {
                at_most(Some(content), "content", CONTENT_BYTES_MAX)
            }
            (Question::Choose { options, multiple, allow_other }, Answer::Choose(chosen)) => {
                fits_options(options, *multiple, *allow_other, chosen)
            }
            (Question::Fill { schema }, Answer::Fill(value)) => fits_form(schema.as_ref(), value),
            (Question::Perform { .. }, Answer::Perform { content, .. }) => {
                at_most(Some(content), "content", CONTENT_BYTES_MAX)
            }
            (Question::Settle, Answer::Settle { content, .. }) => {
                at_most(content.as_deref(), "content", CONTENT_BYTES_MAX)
            }
            (question, answer) => refused(
                "answer",
                AnswerFault::OtherKind { question: question.kind().name(), answer: answer.name() },
            ),
        }
    }

    /// The same for an answer from which secrets were taken out after it had been found to fit.
    pub fn fits_sealed(&self, answer: &Answer) -> Result<(), AnswerMismatch> {
        match (self, answer) {
            (Question::Fill { schema: Some(schema) }, Answer::Fill(value)) => {
                fits_form(Some(&without_secrets(schema)), value)
            }
            _ => self.fits(answer),
        }
    }

    /// Where in an answer's form secrets stand.
    pub fn secrets(&self) -> Vec<String> {
        match self {
            Question::Fill { schema: Some(schema) } => write_only_pointers(schema),
            _ => Vec::new(),
        }
    }

    /// Whether two answers are the same, however an option was named.
    pub(super) fn same_answer(&self, a: &Answer, b: &Answer) -> bool {
        match (a, b) {
            (Answer::Choose(a), Answer::Choose(b)) => self.same_choice(a, b),
            (a, b) => a == b,
        }
    }

    /// Whether two answers chose the same, by id or by label, in whatever order.
    pub(super) fn same_choice(&self, a: &[String], b: &[String]) -> bool {
        let Question::Choose { options, .. } = self else { return a == b };
        let ids = |chosen: &[String]| {
            let mut ids: Vec<String> = chosen
                .iter()
                .map(|text| {
                    find_option(options, text).map_or_else(|| text.clone(), |o| o.id.clone())
                })
                .collect();
            ids.sort();
            ids
        };
        ids(a) == ids(b)
    }

    pub(super) fn canonical(&self) -> Vec<u8> {
        canonical(&match self {
            Question::Approve | Question::Settle => Value::Null,
            Question::Choose { options, multiple, allow_other } => json!({
                "options": options.iter().map(|o| json!([o.id, o.label, o.description])).collect::<Vec<_>>(),
                "multiple": multiple, "allow_other": allow_other,
            }),
            Question::Fill { schema } => schema.clone().unwrap_or(Value::Null),
            Question::Perform { deny_values } => json!(deny_values),
        })
    }
}

fn at_most(text: Option<&str>, field: &str, bytes_max: usize) -> Result<(), AnswerMismatch> {
    match text {
        Some(text) if text.len() > bytes_max => refused(field, AnswerFault::TooLong { bytes_max }),
        _ => Ok(()),
    }
}

const TYPED_CHARS_MAX: usize = 60;

/// The stored option that a text names by id or by exact label.
pub fn find_option<'a>(options: &'a [Choice], text: &str) -> Option<&'a Choice> {
    options.iter().find(|option| option.id == text || option.label == text)
}

fn fits_options(
    options: &[Choice],
    multiple: bool,
    allow_other: bool,
    chosen: &[String],
) -> Result<(), AnswerMismatch> {
    match chosen {
        [] => return refused("choose", AnswerFault::NothingChosen),
        [_] => {}
        _ if !multiple => return refused("choose", AnswerFault::MoreThanOne),
        _ => {}
    }
    if chosen.len() > options.len() + usize::from(allow_other) {
        return refused("choose", AnswerFault::MoreThanThereAre);
    }
    for (index, text) in chosen.iter().enumerate() {
        let option = find_option(options, text);
        if option.is_none() && (!allow_other || text.trim().is_empty()) {
            // What was typed, as far as it helps to know it again.
            let text =
                crate::visible::visible(&text.chars().take(TYPED_CHARS_MAX).collect::<String>());
            return refused("choose", AnswerFault::NotAnOption { text });
        }
        if text.len() > CONTENT_BYTES_MAX {
            return refused("choose", AnswerFault::TooLong { bytes_max: CONTENT_BYTES_MAX });
        }
        let same = |other: &String| match option {
            Some(option) => find_option(options, other).is_some_and(|o| o.id == option.id),
            None => other == text,
        };
        if chosen[..index].iter().any(same) {
            return refused("choose", AnswerFault::ChosenTwice);
        }
    }
    Ok(())
}

fn fits_form(schema: Option<&Value>, value: &Value) -> Result<(), AnswerMismatch> {
    if canonical(value).len() > CONTENT_BYTES_MAX {
        return refused("fill", AnswerFault::TooLong { bytes_max: CONTENT_BYTES_MAX });
    }
    match schema {
        None => match value.as_object() {
            Some(form) if form.len() == 1 && form.get("text").is_some_and(Value::is_string) => {
                Ok(())
            }
            _ => refused("fill", AnswerFault::NotOneText),
        },
        Some(schema) => {
            let validator = Validator::new(schema).map_err(|_| AnswerMismatch {
                field: "schema".into(),
                why: AnswerFault::FormUnreadable,
            })?;
            match validator.check(value) {
                Ok(()) => Ok(()),
                Err(errors) => {
                    let first = errors.first().map(|error| error.pointer.clone());
                    refused(
                        &format!("fill{}", first.unwrap_or_default()),
                        AnswerFault::NotAsTheForm(errors),
                    )
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strategy(multiple: bool, allow_other: bool) -> Question {
        let labels = ["Blue-Green", "Canary"].map(|label| (label.to_owned(), None));
        Question::choose(labels, multiple, allow_other).unwrap()
    }

    fn choose(texts: &[&str]) -> Answer {
        Answer::Choose(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn i13_a_choice_is_a_stored_option_by_id_or_exact_label() {
        assert!(strategy(false, false).fits(&choose(&["1"])).is_ok());
        assert!(strategy(false, false).fits(&choose(&["Canary"])).is_ok());
        for wrong in [&["canary"][..], &["3"], &[], &["1", "2"], &["Canary "]] {
            assert!(strategy(false, false).fits(&choose(wrong)).is_err(), "{wrong:?}");
        }
        assert!(strategy(true, false).fits(&choose(&["1", "Canary"])).is_ok());
        assert!(
            strategy(true, false).fits(&choose(&["1", "Blue-Green"])).is_err(),
            "the same twice"
        );
        assert!(strategy(false, true).fits(&choose(&["Rolling"])).is_ok());
        assert!(strategy(false, true).fits(&choose(&["  "])).is_err());
    }

    #[test]
    fn options_that_cannot_be_told_apart_are_not_asked() {
        for labels in [vec![], vec!["a", "a"], vec!["2", "x"], vec!["a", ""]] {
            let labels = labels.into_iter().map(|label: &str| (label.to_owned(), None));
            assert!(Question::choose(labels.clone(), false, false).is_err(), "{labels:?}");
        }
    }

    #[test]
    fn an_answer_of_another_kind_is_refused_by_name() {
        let refused =
            strategy(false, false).fits(&Answer::Respond { content: "x".into() }).unwrap_err();
        assert_eq!(refused.why.to_string(), "a `choose` hold cannot be answered with `respond`");
    }

    #[test]
    fn a_form_is_checked_by_the_stored_schema() {
        let schema =
            json!({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}});
        let form = Question::Fill { schema: Some(schema) };
        assert!(form.fits(&Answer::Fill(json!({"n": 3}))).is_ok());
        let refused = form.fits(&Answer::Fill(json!({"n": "3"}))).unwrap_err();
        assert!(refused.field.starts_with("fill"), "{refused:?}");
        let free = Question::Fill { schema: None };
        assert!(free.fits(&Answer::Fill(json!({"text": "hello"}))).is_ok());
        assert!(free.fits(&Answer::Fill(json!({"text": 1}))).is_err());
    }
}
