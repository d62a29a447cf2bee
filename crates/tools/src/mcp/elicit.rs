//! What a server wants to ask people, put as a question that our people can answer, and back.
//!
//! A form never asks for a secret here: what looks like one is turned away, since whatever is typed
//! into a form is stored with the answer and goes to a server that we did not write.

use domain::answer::Answer;
use domain::caption::CaptionKind;
use domain::hold::{Choice, Question};
use domain::visible::visible;
use ports::nested_question::{NestedAnswer, NestedQuestion};
use serde_json::{Value, json};

use super::limits::FORM_FIELDS_MAX;
use crate::title::titled;

/// A question, not a document.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
const LINK_BYTES_MAX: usize = 2 << 10;

/// A question that can be asked, and how its answer goes back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elicitation {
    pub(crate) asked: NestedQuestion,
    back: AnswerMapping,
}

#[derive(Clone, Debug, PartialEq)]
enum AnswerMapping {
    Form,
    /// One field with a few values; the options stand in their order.
    OneOf {
        field: String,
        values: Vec<Value>,
    },
    /// A page elsewhere. That it was opened is all we can know.
    Link,
}

impl Elicitation {
    /// The error says why people are not asked; the server is told that nobody was.
    pub(crate) fn parse(server: &str, tool: &str, params: &Value) -> Result<Elicitation, String> {
        let message = params["message"].as_str().unwrap_or_default();
        if message.len() > MESSAGE_BYTES_MAX {
            return Err("its message is too long for people to read".into());
        }
        let title = titled(CaptionKind::ServerAsks {
            server: server.to_owned(),
            message: message.to_owned(),
        });
        let mut shown = json!({"server": server, "tool": tool, "message": visible(message)});
        if params["mode"] == "url" {
            let url = params["url"].as_str().unwrap_or_default();
            if url.len() > LINK_BYTES_MAX {
                return Err("its link is too long".into());
            }
            if !(url.starts_with("https://") || url.starts_with("http://")) {
                return Err("its link is none that a browser opens".into());
            }
            shown["link"] = visible(url).into();
            let options = vec![Choice::link_opened()];
            let question = Question::Choose { options, multiple: false, allow_other: false };
            question.check().map_err(|refused| refused.why.to_string())?;
            return Ok(Elicitation {
                asked: NestedQuestion { title, question, shown },
                back: AnswerMapping::Link,
            });
        }
        let schema = &params["requestedSchema"];
        let Some(fields) = schema["properties"].as_object() else {
            return Err("its form has no fields".into());
        };
        if fields.is_empty() || fields.len() > FORM_FIELDS_MAX {
            return Err(format!("its form has {} fields", fields.len()));
        }
        for (name, field) in fields {
            if looks_secret(name, field) {
                return Err(format!("it asks for a secret in a form (`{}`)", visible(name)));
            }
            if !is_flat(field) {
                return Err(format!("the field `{}` is no plain one", visible(name)));
            }
        }
        let mut named = fields.iter();
        if let (Some((name, field)), None) = (named.next(), named.next())
            && let Some((question, values)) = field_options(field)
        {
            let back = AnswerMapping::OneOf { field: name.clone(), values };
            return Ok(Elicitation { asked: NestedQuestion { title, question, shown }, back });
        }
        let question = Question::Fill { schema: Some(schema.clone()) };
        question.check().map_err(|refused| refused.why.to_string())?;
        Ok(Elicitation {
            asked: NestedQuestion { title, question, shown },
            back: AnswerMapping::Form,
        })
    }

    /// The result that the server gets.
    pub(crate) fn answer_result(&self, answered: &NestedAnswer) -> Value {
        match (answered, &self.back) {
            (NestedAnswer::Given(Answer::Fill(content)), AnswerMapping::Form) => {
                json!({"action": "accept", "content": content})
            }
            (
                NestedAnswer::Given(Answer::Choose(chosen)),
                AnswerMapping::OneOf { field, values },
            ) => {
                let Question::Choose { options, .. } = &self.asked.question else {
                    return cancelled_result();
                };
                let chosen = chosen.first().map(String::as_str).unwrap_or_default();
                let at = options.iter().position(|o| o.id == chosen || o.label == chosen);
                match at.and_then(|at| values.get(at)) {
                    Some(value) => json!({"action": "accept", "content": {field.as_str(): value}}),
                    None => cancelled_result(),
                }
            }
            (NestedAnswer::Given(Answer::Choose(_)), AnswerMapping::Link) => {
                json!({"action": "accept"})
            }
            (NestedAnswer::Given(Answer::Deny { .. }), _) => json!({"action": "decline"}),
            _ => cancelled_result(),
        }
    }
}

/// The result when no person answered, which is neither yes nor no.
pub(crate) fn cancelled_result() -> Value {
    json!({"action": "cancel"})
}

fn is_flat(field: &Value) -> bool {
    match field["type"].as_str() {
        Some("string" | "number" | "integer" | "boolean") => true,
        Some("array") => field["items"]["enum"].is_array() || field["items"]["anyOf"].is_array(),
        _ => field["enum"].is_array() || field["oneOf"].is_array(),
    }
}

fn looks_secret(name: &str, field: &Value) -> bool {
    const WORDS: [&str; 9] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "apikey",
        "accesskey",
        "privatekey",
        "token",
        "credential",
    ];
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let texts = [plain(name), plain(field["title"].as_str().unwrap_or_default())];
    field["writeOnly"] == true
        || field["format"] == "password"
        || texts.iter().any(|text| WORDS.iter().any(|word| text.contains(word)))
}

/// The values of a field that has only a few, with what people read.
fn field_options(field: &Value) -> Option<(Question, Vec<Value>)> {
    let (values, labels): (Vec<Value>, Vec<String>) =
        match (field["enum"].as_array(), field["oneOf"].as_array()) {
            (Some(values), _) => {
                let names = &field["enumNames"];
                let label = |(index, value): (usize, &Value)| {
                    let name = names[index].as_str().or_else(|| value.as_str());
                    (value.clone(), name.unwrap_or_default().to_owned())
                };
                values.iter().enumerate().map(label).unzip()
            }
            (None, Some(choices)) => choices
                .iter()
                .map(|choice| {
                    let title = choice["title"].as_str().or_else(|| choice["const"].as_str());
                    (choice["const"].clone(), title.unwrap_or_default().to_owned())
                })
                .unzip(),
            (None, None) => return None,
        };
    if !values.iter().all(Value::is_string) {
        return None;
    }
    let options = labels
        .iter()
        .enumerate()
        .map(|(index, label)| Choice {
            id: (index + 1).to_string(),
            label: visible(label),
            description: None,
        })
        .collect();
    let question = Question::Choose { options, multiple: false, allow_other: false };
    // What cannot be told apart as options is asked as a form.
    question.check().ok()?;
    Some((question, values))
}

#[cfg(test)]
mod tests {
    use domain::hold::QuestionKind;

    use super::*;

    fn form(properties: Value) -> Result<Elicitation, String> {
        let schema = json!({"type": "object", "properties": properties});
        Elicitation::parse("s", "t", &json!({"message": "Which?", "requestedSchema": schema}))
    }

    #[test]
    fn one_field_with_few_values_is_a_choice_and_goes_back_as_its_value() {
        let field = json!({"oneOf": [
            {"const": "a", "title": "Apple"}, {"const": "b", "title": "Banana"}]});
        let elicited = form(json!({"fruit": field})).unwrap();
        assert_eq!(elicited.asked.title, "s asks: Which?");
        let asks = CaptionKind::ServerAsks { server: "s".into(), message: "Which?".into() };
        assert_eq!(elicited.asked.title.kind(), Some(&asks));
        assert_eq!(elicited.asked.question.kind(), QuestionKind::Choose);
        for said in ["2", "Banana"] {
            let given = NestedAnswer::Given(Answer::Choose(vec![said.into()]));
            assert_eq!(
                elicited.answer_result(&given),
                json!({"action": "accept", "content": {"fruit": "b"}})
            );
        }
        let no = NestedAnswer::Given(Answer::Deny { reason: None, stop: false });
        assert_eq!(elicited.answer_result(&no), json!({"action": "decline"}));
        let nobody = NestedAnswer::Nobody { why: String::new() };
        assert_eq!(elicited.answer_result(&nobody), json!({"action": "cancel"}));
    }

    #[test]
    fn a_form_is_filled_and_goes_back_whole() {
        let elicited = form(json!({"name": {"type": "string"}, "n": {"type": "integer"}})).unwrap();
        assert_eq!(elicited.asked.question.kind(), QuestionKind::Fill);
        let given = NestedAnswer::Given(Answer::Fill(json!({"name": "Ana", "n": 3})));
        assert_eq!(
            elicited.answer_result(&given),
            json!({"action": "accept", "content": {"name": "Ana", "n": 3}})
        );
    }

    #[test]
    fn secrets_and_forms_that_are_none_are_not_asked() {
        for (fields, why) in [
            (json!({"password": {"type": "string"}}), "secret"),
            (json!({"x": {"type": "string", "title": "Your API key"}}), "secret"),
            (json!({"x": {"type": "string", "format": "password"}}), "secret"),
            (json!({"x": {"type": "object"}}), "no plain"),
            (json!({}), "0 fields"),
        ] {
            let told = form(fields).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
        let none = Elicitation::parse("s", "t", &json!({"message": "?"})).unwrap_err();
        assert!(none.contains("no fields"), "{none}");
    }

    #[test]
    fn a_link_is_shown_and_only_opened() {
        let link =
            json!({"mode": "url", "url": "https://x.example/\u{202e}a", "message": "Log in"});
        let elicited = Elicitation::parse("s", "t", &link).unwrap();
        assert_eq!(elicited.asked.shown["link"], "https://x.example/⟦U+202E⟧a");
        let given = NestedAnswer::Given(Answer::Choose(vec!["1".into()]));
        assert_eq!(elicited.answer_result(&given), json!({"action": "accept"}));
        let odd = json!({"mode": "url", "url": "javascript:alert(1)"});
        assert!(Elicitation::parse("s", "t", &odd).is_err());
    }
}
