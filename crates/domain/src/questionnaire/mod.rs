//! Several questions in one call, each with options to choose from. One question is a choice; more
//! are a form with a required field for each, so that they are answered in one go.
//!
//! A questionnaire is read from the call's stored arguments whenever it is needed: by the tool that asks,
//! by doors that show it, and for the words that the model gets.

mod read;
mod result;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::hold::{Choice, Hold, Question, find_option};
use crate::tool::Place;

/// One or several questions of a model with options, answered in one go.
#[derive(Clone, Debug, PartialEq)]
pub struct Questionnaire {
    /// Several options may be chosen, in every question.
    pub multiple: bool,
    /// People may leave single questions unanswered.
    pub allow_skip: bool,
    /// Never empty, and no two have the same id.
    pub questions: Vec<QuestionnaireItem>,
    /// Whatever the model wants to say beside it; an object.
    pub metadata: Value,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionnaireItem {
    /// What the answer names it by; the model's own word.
    pub id: String,
    /// A few words, for surfaces that list several questions.
    pub header: String,
    /// What people are asked.
    pub question: String,
    /// In the order in which they are shown.
    pub options: Vec<Choice>,
}

/// What was chosen in one question, by the ids of its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The id of the question.
    pub question: String,
    /// Ids of the chosen options. Empty for a question that was skipped.
    pub options: Vec<String>,
}

impl Questionnaire {
    /// The questionnaire that a hold puts to people, if it is one: its call's arguments are read, and must
    /// make exactly the question that is stored.
    pub fn of(hold: &Hold) -> Option<Questionnaire> {
        let call = hold.call().filter(|call| call.place == Place::Person)?;
        let questionnaire = Questionnaire::read(call.arguments.value()).ok()?;
        (questionnaire.question() == hold.question).then_some(questionnaire)
    }

    /// What is stored and asked.
    pub fn question(&self) -> Question {
        match self.questions.as_slice() {
            [one] => Question::Choose {
                options: one.options.clone(),
                multiple: self.multiple,
                allow_other: false,
            },
            _ => Question::Fill { schema: Some(self.form()) },
        }
    }

    /// People on every surface see this form, so its values are labels and not ids.
    fn form(&self) -> Value {
        let required: Vec<&str> = self.questions.iter().map(|asked| asked.id.as_str()).collect();
        let properties: serde_json::Map<String, Value> =
            self.questions.iter().map(|asked| (asked.id.clone(), self.field(asked))).collect();
        json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        })
    }

    fn field(&self, asked: &QuestionnaireItem) -> Value {
        let labels: Vec<&str> = asked.options.iter().map(|option| option.label.as_str()).collect();
        let one = json!({"type": "string", "enum": labels});
        let mut field = match self.multiple {
            false => one,
            true => json!({"type": "array", "items": one, "minItems": 1, "uniqueItems": true}),
        };
        let explained = asked.options.iter().filter_map(|option| {
            let description = option.description.as_ref()?;
            Some(format!("\n{}: {description}", option.label))
        });
        field["title"] = json!(asked.header);
        field["description"] =
            json!(format!("{}{}", asked.question, explained.collect::<String>()));
        field
    }

    /// The answer that these choices mean. Whether they fit is judged by the stored question.
    pub fn answer(&self, chosen: &[Chosen]) -> Answer {
        if self.questions.len() == 1 {
            let options = chosen.iter().flat_map(|chosen| chosen.options.clone());
            return Answer::Choose(options.collect());
        }
        let fields = chosen.iter().map(|chosen| {
            let asked = self.questions.iter().find(|asked| asked.id == chosen.question);
            let label = |text: &String| {
                let option = asked.and_then(|asked| find_option(&asked.options, text));
                json!(option.map_or(text.as_str(), |option| option.label.as_str()))
            };
            let value = match (self.multiple, chosen.options.as_slice()) {
                (false, [one]) => label(one),
                (_, options) => options.iter().map(label).collect(),
            };
            (chosen.question.clone(), value)
        });
        Answer::Fill(Value::Object(fields.collect()))
    }

    /// What an answer chose, in the order of the questions; `None` if it is no choice.
    pub fn chosen(&self, answer: &Answer) -> Option<Vec<Chosen>> {
        let texts = |asked: &QuestionnaireItem| match answer {
            Answer::Choose(texts) => Some(texts.clone()),
            Answer::Fill(form) => match form.get(&asked.id)? {
                Value::String(one) => Some(vec![one.clone()]),
                Value::Array(several) => {
                    several.iter().map(|text| text.as_str().map(str::to_owned)).collect()
                }
                _ => None,
            },
            _ => None,
        };
        let chosen = |asked: &QuestionnaireItem| {
            let options = texts(asked)?.into_iter().map(|text| {
                find_option(&asked.options, &text).map_or(text, |option| option.id.clone())
            });
            Some(Chosen { question: asked.id.clone(), options: options.collect() })
        };
        self.questions.iter().map(chosen).collect()
    }
}
