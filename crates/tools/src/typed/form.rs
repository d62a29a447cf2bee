//! A form that a person fills in, by a Rust type: the model says that something is missing, the
//! program says what.

use async_trait::async_trait;
use domain::caption::Caption;
use domain::hold::Question;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use schemars::JsonSchema;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::schema::schema_of;
use crate::bad_tool::BadTool;
use crate::limits::PROMPT_BYTES_MAX;
use crate::title::make_headline;

/// The model gets what was filled in, as JSON; secrets are kept from it.
///
/// ```
/// #[derive(schemars::JsonSchema)]
/// struct Address {
///     /// Street and number.
///     street: String,
///     city: String,
/// }
/// let tool = holdpoint_tools::typed::FormTool::new::<Address>(
///     "ask_address",
///     "Asks the customer where to deliver.",
///     "Where shall we deliver?",
/// );
/// assert!(tool.is_ok());
/// ```
#[derive(Debug)]
pub struct FormTool {
    tool: Tool,
    title: Caption,
    form: Value,
}

impl FormTool {
    /// `title` is what the person is asked; the model may only add a note of its own.
    pub fn new<A: JsonSchema>(
        name: &str,
        description: &str,
        title: &str,
    ) -> Result<FormTool, BadTool> {
        let form = schema_of::<A>();
        let question = Question::Fill { schema: Some(form.clone()) };
        question.check().map_err(|refused| BadTool::new(name, refused.why))?;
        let arguments = json!({
            "type": "object",
            "properties": {"note": {
                "type": "string", "maxLength": PROMPT_BYTES_MAX,
                "description": "what the person should know before they fill it in",
            }},
            "additionalProperties": false,
        });
        // The form is part of what is asked: another form is another tool.
        let origin = format!("form {}", domain::digest::Digest::of(form.to_string().as_bytes()));
        let tool =
            Tool::new(name, description, arguments, Effects::ReadOnly, Place::Person, &origin)
                .map_err(|why| BadTool::new(name, why))?;
        Ok(FormTool { tool, title: make_headline(title), form })
    }
}

#[async_trait]
impl ToolHost for FormTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let shown = match arguments.value().get("note") {
            Some(note) => json!({"note": note}),
            None => json!({}),
        };
        Ok(Prepared {
            question: Some(Question::Fill { schema: Some(self.form.clone()) }),
            title: Some(self.title.clone()),
            shown,
            ..Prepared::default()
        })
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
