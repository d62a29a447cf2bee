//! Reading a questionnaire from what a model wrote. Two forms are known: a list of questions, and one
//! question with its options beside it.

use serde_json::{Value, json};

use super::{Questionnaire, QuestionnaireItem};
use crate::hold::{Choice, Question};
use crate::limits::{QUESTION_ID_BYTES_MAX, QUESTION_TEXT_BYTES_MAX, QUESTIONS_MAX};

impl Questionnaire {
    /// What cannot be asked is told to the model, in words that say what to change.
    pub fn read(arguments: &Value) -> Result<Questionnaire, String> {
        let multiple = match arguments.get("type") {
            None | Some(Value::Null) => false,
            Some(Value::String(kind)) if kind == "single-select" => false,
            Some(Value::String(kind)) if kind == "multiple-select" => true,
            Some(_) => return Err("`type` is `single-select` or `multiple-select`".into()),
        };
        let allow_skip = match arguments.get("allowSkip") {
            None | Some(Value::Null) => false,
            Some(value) => value.as_bool().ok_or("`allowSkip` must be true or false")?,
        };
        let metadata = match arguments.get("metadata") {
            None | Some(Value::Null) => json!({}),
            Some(metadata) if metadata.is_object() => metadata.clone(),
            Some(_) => return Err("`metadata` must be an object".into()),
        };
        let questions = match (arguments.get("questions"), arguments.get("question")) {
            (Some(_), Some(_)) => return Err("give `questions` or `question`, not both".into()),
            (Some(Value::Array(questions)), None) => {
                if questions.is_empty() || questions.len() > QUESTIONS_MAX {
                    return Err(format!("`questions` must have between 1 and {QUESTIONS_MAX}"));
                }
                let read =
                    questions.iter().enumerate().map(|(index, one)| read_question(index, one));
                read.collect::<Result<Vec<QuestionnaireItem>, String>>()?
            }
            (None, Some(_)) => vec![read_question(0, arguments)?],
            _ => return Err("`questions` must be a list of questions with options".into()),
        };
        for (index, asked) in questions.iter().enumerate() {
            if questions[..index].iter().any(|earlier| earlier.id == asked.id) {
                return Err(format!("two questions have the id `{}`", asked.id));
            }
        }
        Ok(Questionnaire { multiple, allow_skip, questions, metadata })
    }
}

fn read_question(index: usize, one: &Value) -> Result<QuestionnaireItem, String> {
    let number = index + 1;
    let id = match one.get("id") {
        None | Some(Value::Null) => format!("question-{number}"),
        Some(id) => bounded_text(id, QUESTION_ID_BYTES_MAX)
            .ok_or_else(|| format!("question {number}: `id` must be a short text"))?,
    };
    let header = match one.get("header") {
        None | Some(Value::Null) => "Question".to_owned(),
        Some(header) => bounded_text(header, QUESTION_TEXT_BYTES_MAX)
            .ok_or_else(|| format!("question {number}: `header` must be a text"))?,
    };
    let question =
        one.get("question").and_then(|given| bounded_text(given, QUESTION_TEXT_BYTES_MAX));
    let question = question.ok_or_else(|| {
        format!(
            "question {number}: `question` must be a text of at most {QUESTION_TEXT_BYTES_MAX} bytes that is not empty"
        )
    })?;
    let options = match one.get("options") {
        Some(Value::Array(options)) => options,
        _ => return Err(format!("question {number}: `options` must be a list to choose from")),
    };
    let options = options.iter().enumerate().map(|(index, given)| {
        choice(index, given).ok_or_else(|| {
            format!(
                "question {number}: option {} must be a text, or an object with the texts `id` and `label`",
                index + 1
            )
        })
    });
    let options = options.collect::<Result<Vec<Choice>, String>>()?;
    let choose = Question::Choose { options: options.clone(), multiple: false, allow_other: false };
    choose.check().map_err(|refused| format!("question {number}: {}", refused.why))?;
    Ok(QuestionnaireItem { id, header, question, options })
}

fn choice(index: usize, given: &Value) -> Option<Choice> {
    match given {
        Value::String(label) => Some(Choice {
            id: format!("opt_{}", index + 1),
            label: label.clone(),
            description: None,
        }),
        Value::Object(map) => {
            let description = match map.get("description") {
                None | Some(Value::Null) => None,
                Some(given) => Some(bounded_text(given, QUESTION_TEXT_BYTES_MAX)?),
            };
            let id = bounded_text(map.get("id")?, QUESTION_ID_BYTES_MAX)?;
            Some(Choice { id, label: map.get("label")?.as_str()?.to_owned(), description })
        }
        _ => None,
    }
}

fn bounded_text(given: &Value, bytes_max: usize) -> Option<String> {
    let text = given.as_str()?;
    (!text.trim().is_empty() && text.len() <= bytes_max).then(|| text.to_owned())
}
