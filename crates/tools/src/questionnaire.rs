//! Asking a person one or several questions with options, all answered in one go. The result is one
//! JSON object, whatever became of it ([`domain::questionnaire`]).

use async_trait::async_trait;
use domain::caption::CaptionKind;
use domain::json::Arguments;
use domain::limits::{
    CONTEXT_BYTES_MAX, OPTIONS_MAX, QUESTION_ID_BYTES_MAX, QUESTION_TEXT_BYTES_MAX, QUESTIONS_MAX,
};
use domain::outcome::{Outcome, Output};
use domain::questionnaire::Questionnaire;
use domain::tool::{Effects, Place, Tool};
use domain::visible::visible;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::human::timeout_ms;
use crate::limits::ASK_SECONDS_MAX;
use crate::title::{make_headline, titled};

pub const NAME: &str = "ask_user_input";

#[derive(Debug)]
pub struct QuestionnaireTool {
    tool: Tool,
}

impl QuestionnaireTool {
    /// `name` is usually [`NAME`].
    pub fn new(name: &str) -> Result<QuestionnaireTool, BadTool> {
        let tool = Tool::new(
            name,
            "Ask a person one or several questions, each with options to choose from. The call returns what they chose. Ask only what you cannot find out yourself.",
            questionnaire_schema(),
            Effects::ReadOnly,
            Place::Person,
            "person",
        )
        .map_err(|why| BadTool::new(name, why))?;
        Ok(QuestionnaireTool { tool })
    }
}

fn prepare_questionnaire(arguments: &Value) -> Result<Prepared, String> {
    let questionnaire = Questionnaire::read(arguments)?;
    if questionnaire.metadata.to_string().len() > CONTEXT_BYTES_MAX {
        return Err(format!("`metadata` is longer than {CONTEXT_BYTES_MAX} bytes"));
    }
    let question = questionnaire.question();
    question.check().map_err(|refused| format!("`{}`: {}", refused.field, refused.why))?;
    let mut shown = json!({});
    let title = match questionnaire.questions.as_slice() {
        // The headline may be shorter than the question; the question is always there whole.
        [one] => {
            let title = make_headline(&one.question);
            if title != visible(&one.question) {
                shown["question"] = json!(one.question);
            }
            title
        }
        // Each stands whole in the form.
        several => {
            let headers: Vec<&str> = several.iter().map(|asked| asked.header.as_str()).collect();
            titled(CaptionKind::SeveralQuestions {
                questions: several.len() as u64,
                headers: headers.join(", "),
            })
        }
    };
    if questionnaire.metadata != json!({}) {
        shown["metadata"] = questionnaire.metadata.clone();
    }
    Ok(Prepared {
        question: Some(question),
        title: Some(title),
        shown,
        expires_in_ms: timeout_ms(arguments)?,
        ..Prepared::default()
    })
}

fn questionnaire_schema() -> Value {
    let text = |bytes_max: usize| json!({"type": "string", "minLength": 1, "maxLength": bytes_max});
    let options = json!({
        "type": "array", "minItems": 1, "maxItems": OPTIONS_MAX,
        "items": {"anyOf": [{"type": "string", "minLength": 1}, {
            "type": "object", "required": ["id", "label"], "additionalProperties": false,
            "properties": {
                "id": text(QUESTION_ID_BYTES_MAX), "label": {"type": "string", "minLength": 1},
                "description": text(QUESTION_TEXT_BYTES_MAX),
            },
        }]},
    });
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "type": {
                "type": "string", "enum": ["single-select", "multiple-select"],
                "description": "whether one option or several may be chosen, in every question",
            },
            "allowSkip": {"type": "boolean", "description": "the person may leave it unanswered"},
            "questions": {
                "type": "array", "minItems": 1, "maxItems": QUESTIONS_MAX,
                "items": {
                    "type": "object", "required": ["question", "options"],
                    "additionalProperties": false,
                    "properties": {
                        "id": text(QUESTION_ID_BYTES_MAX), "header": text(QUESTION_TEXT_BYTES_MAX),
                        "question": text(QUESTION_TEXT_BYTES_MAX), "options": options,
                    },
                },
            },
            "question": text(QUESTION_TEXT_BYTES_MAX),
            "options": options,
            "metadata": {"type": "object", "description": "what the person should know to decide"},
            "timeout_s": {
                "type": "integer", "minimum": 1, "maximum": ASK_SECONDS_MAX,
                "description": "seconds after which nobody needs to answer any more",
            },
        },
    })
}

#[async_trait]
impl ToolHost for QuestionnaireTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        prepare_questionnaire(arguments.value()).map_err(PrepareError::Unsound)
    }

    async fn run(
        &self,
        _call: ClearedCall,
        _start: Start,
        _stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        Ok(Outcome::Failed(Output::text("A question to a person cannot be run.")))
    }
}

#[cfg(test)]
mod tests {
    use domain::hold::Question;

    use super::*;

    async fn prepared(arguments: Value) -> Result<Prepared, String> {
        let host = QuestionnaireTool::new(NAME).unwrap();
        if let Err(why) = host.tool.validator().check(&arguments) {
            return Err(format!("schema: {why}"));
        }
        let arguments = Arguments::from_value(arguments).unwrap();
        host.prepare(&arguments).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn one_question_is_a_choice_and_several_are_a_form() {
        let one = json!({"question": "Where?", "options": ["here", "there"], "timeout_s": 9});
        let one = prepared(one).await.unwrap();
        let Some(Question::Choose { options, multiple: false, allow_other: false }) = one.question
        else {
            panic!("{:?}", one.question)
        };
        assert_eq!((&*options[1].id, &*options[1].label), ("opt_2", "there"));
        assert_eq!((one.title.as_deref(), one.expires_in_ms), (Some("Where?"), Some(9_000)));
        let asked = |id: &str| {
            json!({"id": id, "header": id, "question": format!("Which {id}?"),
                   "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]})
        };
        let two = json!({"questions": [asked("x"), asked("y")], "metadata": {"why": "now"}});
        let two = prepared(two).await.unwrap();
        let Some(Question::Fill { schema: Some(form) }) = two.question else { panic!("a form") };
        assert_eq!(form["required"], json!(["x", "y"]));
        assert_eq!(form["properties"]["y"]["enum"], json!(["A", "B"]));
        assert_eq!(two.title.as_deref(), Some("2 questions: x, y"));
        assert_eq!(two.shown, json!({"metadata": {"why": "now"}}));
    }

    #[tokio::test]
    async fn a_long_or_sly_question_is_shown_whole() {
        let long = "why ".repeat(400);
        let asked = prepared(json!({"question": long, "options": ["a"]})).await.unwrap();
        assert_eq!(asked.shown["question"], long);
        let sly = json!({"question": "ok?\u{202e}", "options": ["a"]});
        assert_eq!(prepared(sly).await.unwrap().title.unwrap(), "ok?⟦U+202E⟧");
    }

    #[tokio::test]
    async fn what_cannot_be_asked_is_told_to_the_model() {
        for arguments in [
            json!({}),
            json!({"questions": []}),
            json!({"questions": [{"question": "x", "options": []}]}),
            json!({"questions": [{"question": " ", "options": ["a"]}]}),
            json!({"questions": [{"question": 1, "options": ["a"]}]}),
            json!({"questions": [{"question": "x", "options": [1]}]}),
            json!({"questions": [{"question": "x", "options": ["a", "a"]}]}),
            json!({"question": "x"}),
            json!({"question": "x", "options": "a"}),
            json!({"question": "x", "options": ["a"], "type": "free-text"}),
            json!({"question": "x", "options": ["a"], "allowSkip": "yes"}),
            json!({"question": "x", "options": ["a"], "timeout_s": 0}),
            json!({"question": "x", "options": ["a"], "answer": "a"}),
        ] {
            assert!(prepared(arguments.clone()).await.is_err(), "{arguments}");
        }
    }
}
