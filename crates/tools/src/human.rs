//! Asking a person: the call is the question, and the answer is its result.

use async_trait::async_trait;
use domain::hold::Question;
use domain::json::Arguments;
use domain::limits::{CONTEXT_BYTES_MAX, OPTION_BYTES_MAX, OPTIONS_MAX};
use domain::outcome::{Outcome, Output};
use domain::tool::{Effects, Place, Tool};
use domain::visible::visible;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bad_tool::BadTool;
use crate::limits::{ASK_SECONDS_MAX, PROMPT_BYTES_MAX};
use crate::title::make_headline;

pub const NAME: &str = "human_intervention.request";
/// The same tool, for providers that forbid dots in names.
pub const ALIAS: &str = "human_intervention_request";

/// What a model may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HumanToolKind {
    /// A choice among options, as in the tool's original contract: `options` is required.
    Options,
    /// Also, without options, an answer in the person's own words or a form by JSON Schema.
    Anything,
}

#[derive(Debug)]
pub struct HumanTool {
    tool: Tool,
    asking: HumanToolKind,
}

impl HumanTool {
    /// `name` is usually [`NAME`] or [`ALIAS`].
    pub fn new(name: &str, asking: HumanToolKind) -> Result<HumanTool, BadTool> {
        let tool = Tool::new(
            name,
            "Ask a person to decide. The call returns what they chose or wrote. Ask only what you cannot find out yourself.",
            question_schema(asking),
            Effects::ReadOnly,
            Place::Person,
            "person",
        )
        .map_err(|why| BadTool::new(name, why))?;
        Ok(HumanTool { tool, asking })
    }

    fn prepare_question(&self, arguments: &Value) -> Result<Prepared, String> {
        let prompt = arguments.get("prompt").and_then(Value::as_str).unwrap_or_default();
        if prompt.trim().is_empty() {
            return Err("`prompt` must be a text that is not empty: the question to ask".into());
        }
        if prompt.len() > PROMPT_BYTES_MAX {
            return Err(format!(
                "`prompt` is longer than {PROMPT_BYTES_MAX} bytes; ask briefly and put the rest in `context`"
            ));
        }
        let context = match arguments.get("context") {
            None | Some(Value::Null) => json!({}),
            Some(context) if !context.is_object() => {
                return Err("`context` must be an object".into());
            }
            Some(context) if context.to_string().len() > CONTEXT_BYTES_MAX => {
                return Err(format!("`context` is longer than {CONTEXT_BYTES_MAX} bytes"));
            }
            Some(context) => context.clone(),
        };
        // The headline may be shorter than the question; the question is always there whole.
        let title = make_headline(prompt);
        let shown = if title == visible(prompt) {
            context
        } else {
            json!({"prompt": prompt, "context": context})
        };
        Ok(Prepared {
            question: Some(self.parse_question(arguments)?),
            title: Some(title),
            shown,
            expires_in_ms: timeout_ms(arguments)?,
            ..Prepared::default()
        })
    }

    fn parse_question(&self, arguments: &Value) -> Result<Question, String> {
        let allow_other = parse_flag(arguments, "allow_other")?;
        let multiple = parse_flag(arguments, "multiple")?;
        match (arguments.get("options"), arguments.get("schema")) {
            (Some(options), None) => {
                let labels: Option<Vec<(String, Option<String>)>> = options
                    .as_array()
                    .map(|options| options.iter().map(|label| Some((label.as_str()?.to_owned(), None))).collect())
                    .unwrap_or_default();
                let labels = labels.ok_or("`options` must be a list of texts")?;
                Question::choose(labels, multiple, allow_other)
                    .map_err(|refused| format!("`{}`: {}", refused.field, refused.why))
            }
            (None, None) if self.asking == HumanToolKind::Anything && allow_other => {
                Ok(Question::Fill { schema: None })
            }
            (None, Some(schema)) if self.asking == HumanToolKind::Anything => {
                let question = Question::Fill { schema: Some(schema.clone()) };
                question.check().map_err(|refused| format!("`schema`: {}", refused.why))?;
                Ok(question)
            }
            (Some(_), Some(_)) => Err("give either `options` or `schema`, not both".into()),
            (None, _) if self.asking == HumanToolKind::Anything => Err(
                "give `options` to choose from, or `allow_other: true` for an answer in words, or a `schema` for a form".into(),
            ),
            (None, _) => Err("`options` must be a list of at least one text to choose from".into()),
        }
    }
}

fn parse_flag(arguments: &Value, name: &str) -> Result<bool, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| format!("`{name}` must be true or false")),
    }
}

pub(crate) fn timeout_ms(arguments: &Value) -> Result<Option<u64>, String> {
    match arguments.get("timeout_s") {
        None | Some(Value::Null) => Ok(None),
        Some(seconds) => match seconds.as_u64() {
            Some(seconds) if (1..=ASK_SECONDS_MAX).contains(&seconds) => Ok(Some(seconds * 1000)),
            _ => Err(format!("`timeout_s` must be a whole number from 1 to {ASK_SECONDS_MAX}")),
        },
    }
}

fn question_schema(asking: HumanToolKind) -> Value {
    let mut properties = json!({
        "prompt": {"type": "string", "minLength": 1, "maxLength": PROMPT_BYTES_MAX, "description": "the question"},
        "options": {
            "type": "array", "minItems": 1, "maxItems": OPTIONS_MAX,
            "items": {"type": "string", "minLength": 1, "maxLength": OPTION_BYTES_MAX},
            "description": "the answers to choose from",
        },
        "context": {"type": "object", "description": "what the person should know to decide"},
        "multiple": {"type": "boolean", "description": "several options may be chosen"},
        "allow_other": {"type": "boolean", "description": "the person may also answer in their own words"},
        "timeout_s": {
            "type": "integer", "minimum": 1, "maximum": ASK_SECONDS_MAX,
            "description": "seconds after which nobody needs to answer any more",
        },
    });
    let mut required = json!(["prompt", "options"]);
    if asking == HumanToolKind::Anything {
        properties["schema"] = json!({
            "type": "object", "description": "a JSON Schema of the form to fill in, in place of options",
        });
        required = json!(["prompt"]);
    }
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

#[async_trait]
impl ToolHost for HumanTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        self.prepare_question(arguments.value()).map_err(PrepareError::Unsound)
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
    use domain::limits::TITLE_BYTES_MAX;

    use super::*;

    async fn ask(asking: HumanToolKind, arguments: Value) -> Result<Prepared, String> {
        let host = HumanTool::new(NAME, asking).unwrap();
        let arguments = Arguments::from_value(arguments).unwrap();
        host.prepare(&arguments).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn options_become_a_choice_with_title_context_and_deadline() {
        let prepared = ask(
            HumanToolKind::Options,
            json!({"prompt": "Which strategy?", "options": ["Blue-Green", "Canary"],
                   "context": {"service": "shop"}, "multiple": true, "timeout_s": 60}),
        )
        .await
        .unwrap();
        let Some(Question::Choose { options, multiple: true, allow_other: false }) =
            prepared.question
        else {
            panic!("{prepared:?}")
        };
        let shown: Vec<_> = options.iter().map(|it| (it.id.as_str(), it.label.as_str())).collect();
        assert_eq!(shown, [("1", "Blue-Green"), ("2", "Canary")]);
        assert_eq!(prepared.title.as_deref(), Some("Which strategy?"));
        assert_eq!(prepared.shown, json!({"service": "shop"}));
        assert_eq!(prepared.expires_in_ms, Some(60_000));
    }

    #[tokio::test]
    async fn without_options_it_is_free_text_or_a_form_where_that_is_offered() {
        let words = json!({"prompt": "Why?", "allow_other": true});
        let free = ask(HumanToolKind::Anything, words.clone()).await.unwrap();
        assert_eq!(free.question, Some(Question::Fill { schema: None }));
        assert!(ask(HumanToolKind::Options, words).await.is_err());
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let form = ask(HumanToolKind::Anything, json!({"prompt": "How many?", "schema": schema}))
            .await
            .unwrap();
        assert_eq!(form.question, Some(Question::Fill { schema: Some(schema) }));
    }

    #[tokio::test]
    async fn what_cannot_be_asked_is_told_to_the_model() {
        for (arguments, why) in [
            (json!({}), "`prompt` must be"),
            (json!({"prompt": " ", "options": ["a"]}), "`prompt` must be"),
            (json!({"prompt": 1, "options": ["a"]}), "`prompt` must be"),
            (json!({"prompt": "x"}), "`options` must be"),
            (json!({"prompt": "x", "options": []}), "`options`: give at least one"),
            (json!({"prompt": "x", "options": ["a", "a"]}), "cannot be told apart"),
            (json!({"prompt": "x", "options": [1]}), "`options` must be"),
            (json!({"prompt": "x", "options": "a"}), "`options` must be"),
            (json!({"prompt": "x", "options": ["a"], "context": 1}), "`context` must be"),
            (json!({"prompt": "x", "options": ["a"], "multiple": "yes"}), "`multiple` must be"),
            (json!({"prompt": "x", "options": ["a"], "timeout_s": 0}), "`timeout_s` must be"),
            (json!({"prompt": "x", "options": ["a"], "timeout_s": -1}), "`timeout_s` must be"),
            (json!({"prompt": "y".repeat(20_000), "options": ["a"]}), "is longer than"),
        ] {
            let refusal = ask(HumanToolKind::Options, arguments.clone()).await.unwrap_err();
            assert!(refusal.contains(why), "{arguments}: {refusal}");
        }
        let refusal = ask(HumanToolKind::Anything, json!({"prompt": "x"})).await.unwrap_err();
        assert!(refusal.starts_with("give `options`"), "{refusal}");
        let both = json!({"prompt": "x", "options": ["a"], "schema": {}});
        assert!(ask(HumanToolKind::Anything, both).await.is_err());
    }

    #[tokio::test]
    async fn hostile_prompts_are_made_visible_and_long_ones_shown_whole() {
        let sly = ask(
            HumanToolKind::Options,
            json!({"prompt": "ok?\u{202e}\n\u{1b}[2J", "options": ["a"]}),
        )
        .await;
        assert_eq!(sly.unwrap().title.unwrap(), "ok?⟦U+202E⟧⟦U+000A⟧⟦U+001B⟧[2J");
        let long = "why ".repeat(400);
        let prepared =
            ask(HumanToolKind::Options, json!({"prompt": long, "options": ["a"]})).await.unwrap();
        assert!(prepared.title.unwrap().len() <= TITLE_BYTES_MAX);
        assert_eq!(prepared.shown["prompt"], long);
    }

    #[test]
    fn the_schema_is_that_of_the_contract() {
        let tool = HumanTool::new(NAME, HumanToolKind::Options).unwrap().tool;
        assert_eq!(tool.input_schema["required"], json!(["prompt", "options"]));
        assert_eq!(tool.input_schema["properties"]["options"]["minItems"], 1);
        assert_eq!(tool.place, Place::Person);
        assert!(tool.validator().check(&json!({"prompt": "x", "options": []})).is_err());
        assert!(tool.validator().check(&json!({"prompt": "x", "options": ["a"]})).is_ok());
        assert_eq!(&*HumanTool::new(ALIAS, HumanToolKind::Anything).unwrap().tool.name, ALIAS);
    }
}
