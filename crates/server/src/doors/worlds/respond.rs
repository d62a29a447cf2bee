//! `hitl/respond`: an answer of the second generation. Whether it fits is said in sentences that its
//! clients show, and judged by the stored options alone.

use domain::answer::{Answer, DenyReason};
use domain::questionnaire::Chosen;
use serde_json::{Map, Value};

use super::body::{Detail, Fields};
use super::prompt::{WorldPrompt, find};

#[derive(Debug)]
pub(super) struct Respond {
    pub(super) request: String,
    answers: Option<Vec<ClientAnswer>>,
    option: Option<String>,
    skipped: bool,
    /// `None` also where the client sent `null`: it does not know.
    pub(super) chat: Option<String>,
}

/// One answer as it was sent.
#[derive(Debug)]
struct ClientAnswer {
    question: Option<String>,
    options: Vec<String>,
}

impl Respond {
    pub(super) fn read(body: &Map<String, Value>) -> Result<Respond, Vec<Detail>> {
        let mut fields = Fields::of(body);
        let request = fields.text("requestId");
        let answers =
            fields.list("answers", |index, item, fields| read_answer(index, item, fields));
        let option = fields.maybe_text("optionId");
        let skipped = fields.flag("skipped").unwrap_or(false);
        let chat = fields.maybe_text("chatId");
        fields.done()?;
        Ok(Respond { request, answers, option, skipped, chat })
    }

    /// The answer that is meant, or why it is none.
    pub(super) fn judged(&self, prompt: &WorldPrompt) -> Result<Answer, String> {
        if self.skipped {
            // mutant: worlds-always-skipped
            return match prompt.allow_skip {
                true => Ok(Answer::Deny { reason: Some(DenyReason::Skipped), stop: false }),
                false => Err(format!("Request '{}' does not allow skipping.", self.request)),
            };
        }
        let short;
        let answers = match (&self.answers, &self.option, prompt.questions.first()) {
            (Some(answers), ..) if !answers.is_empty() => answers,
            (_, Some(option), Some(asked)) => {
                short = vec![ClientAnswer {
                    question: Some(asked.id.clone()),
                    options: vec![option.clone()],
                }];
                &short
            }
            _ => return Err("answers are required when skipped is false.".into()),
        };
        let mut chosen: Vec<Chosen> = Vec::new();
        for given in answers {
            chosen.push(choose(given, &chosen, prompt)?);
        }
        for asked in &prompt.questions {
            if !chosen.iter().any(|chosen| chosen.question == asked.id) {
                return Err(format!("Missing answer for questionId '{}'.", asked.id));
            }
        }
        Ok(prompt.answer(&chosen))
    }
}

fn read_answer(index: usize, item: &Value, fields: &mut Fields<'_>) -> Option<ClientAnswer> {
    let Value::Object(item) = item else {
        fields.wrong(&["answers", &index.to_string()], "must be an object");
        return None;
    };
    let mut inner = Fields::of(item);
    let question = inner.maybe_text("questionId");
    let options = inner.texts("optionIds").unwrap_or_default();
    match inner.done() {
        Ok(()) => Some(ClientAnswer { question, options }),
        Err(details) => {
            fields.within(&["answers", &index.to_string()], details);
            None
        }
    }
}

fn choose(
    given: &ClientAnswer,
    earlier: &[Chosen],
    prompt: &WorldPrompt,
) -> Result<Chosen, String> {
    let Some(id) = given.question.as_deref().filter(|id| !id.trim().is_empty()) else {
        return Err("Each HITL answer requires a questionId.".into());
    };
    let Some(asked) = prompt.questions.iter().find(|asked| asked.id == id) else {
        return Err(format!("Invalid questionId '{id}'."));
    };
    if earlier.iter().any(|chosen| chosen.question == id) {
        return Err(format!("Duplicate answer for questionId '{id}'."));
    }
    if given.options.is_empty() {
        return Err(format!("Question '{id}' requires at least one optionId."));
    }
    let mut options: Vec<String> = Vec::new();
    for text in &given.options {
        let option = match find(&asked.options, text) {
            Some(option) => option.id.clone(),
            None if prompt.allow_other && !text.trim().is_empty() => text.clone(),
            None => return Err(format!("Invalid option '{text}' for questionId '{id}'.")),
        };
        // Saying the same twice says it once.
        if !options.contains(&option) {
            options.push(option);
        }
    }
    if !prompt.multiple && options.len() != 1 {
        return Err(format!("Question '{id}' accepts exactly one option."));
    }
    Ok(Chosen { question: id.to_owned(), options })
}
