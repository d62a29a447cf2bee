//! The body of `tool-results`, in all forms that clients send. What kind of answer it is comes from the
//! stored hold, never from the body; so do the options, and the arguments that run.

use domain::answer::{Answer, Settlement};
use domain::hold::{Hold, Question};
use domain::json::canonical;
use serde_json::{Map, Value, json};

use super::body::{Detail, Fields};
use super::fault::WorldsFault;
use super::prompt::{HUMAN_INTERVENTION, REQUEST_APPROVAL, approved, arguments, find};

/// Whatever names the tool that asks, or that is asked about, is as good as its own name.
const KNOWN_NAMES: [&str; 4] = [
    HUMAN_INTERVENTION,
    REQUEST_APPROVAL,
    "human_intervention.request",
    "human_intervention_request",
];

#[derive(Debug)]
pub(super) struct ToolResult {
    /// The prompt's id, or the model's own of the call.
    pub(super) call: String,
    pub(super) agent: String,
    pub(super) stream: bool,
    pub(super) chat: Option<String>,
    pub(super) decision: Option<ResultVerdict>,
    pub(super) scope: Option<&'static str>,
    tool: String,
    choices: Option<Vec<String>>,
    arguments: Option<Value>,
    directory: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultVerdict {
    Approve,
    Deny,
}

impl ResultVerdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            ResultVerdict::Approve => "approve",
            ResultVerdict::Deny => "deny",
        }
    }
}

impl ToolResult {
    pub(super) fn read(body: &Map<String, Value>) -> Result<ToolResult, Vec<Detail>> {
        let mut fields = Fields::of(body);
        let (call, agent) = (fields.text("tool_call_id"), fields.text("agentId"));
        let tool = fields.text("toolName");
        let decision = match fields.maybe_text("decision").as_deref() {
            None => None,
            Some("approve") => Some(ResultVerdict::Approve),
            Some("deny") => Some(ResultVerdict::Deny),
            Some(_) => {
                fields.wrong(&["decision"], "is `approve` or `deny`");
                None
            }
        };
        let scope = match fields.maybe_text("scope").as_deref() {
            None => None,
            Some("once") => Some("once"),
            // mutant: worlds-unlimited
            Some("session") => Some("session"),
            Some(_) => {
                fields.wrong(&["scope"], "is `once` or `session`");
                None
            }
        };
        let choices = match fields.get("choice") {
            None => fields.texts("choices"),
            Some(Value::String(choice)) => Some(vec![choice.clone()]),
            Some(_) => fields.texts("choice"),
        };
        let arguments = fields.get("toolArgs").cloned();
        if arguments.as_ref().is_some_and(|arguments| !arguments.is_object()) {
            fields.wrong(&["toolArgs"], "must be an object");
        }
        let directory = fields.maybe_text("workingDirectory");
        let stream = fields.flag("stream").unwrap_or(false);
        let chat = fields.maybe_text("chatId");
        fields.done()?;
        Ok(ToolResult {
            call,
            agent,
            stream,
            chat,
            decision,
            scope,
            tool,
            choices,
            arguments,
            directory,
        })
    }

    /// What was chosen, as it was sent.
    #[cfg(feature = "fuzz-api")]
    pub(super) fn choices(&self) -> Option<&[String]> {
        self.choices.as_deref()
    }

    /// The answer that it is to this hold.
    pub(super) fn answer(&self, hold: &Hold) -> Result<Answer, WorldsFault> {
        let stored = hold.call().map(|call| &*call.tool);
        if !KNOWN_NAMES.contains(&self.tool.as_str()) && stored != Some(self.tool.as_str()) {
            return invalid("toolName", "is not the tool that this prompt is about");
        }
        match &hold.question {
            Question::Approve => self.approval(hold),
            Question::Choose { options, multiple, allow_other } => {
                let chosen = match self.chosen()? {
                    Some(chosen) => chosen,
                    None => return Ok(denied()),
                };
                if chosen.len() != 1 && !multiple {
                    return invalid("choice", "must be one option");
                }
                let chosen = chosen.iter().map(|text| match find(options, text) {
                    Some(option) => Ok(option.id.clone()),
                    // mutant: worlds-any-choice
                    None if *allow_other && !text.trim().is_empty() => Ok(text.clone()),
                    None => invalid("choice", "must be one of the options that were offered"),
                });
                Ok(Answer::Choose(chosen.collect::<Result<_, WorldsFault>>()?))
            }
            Question::Settle => match self.chosen()? {
                None => Ok(denied()),
                Some(chosen) => match chosen.first().and_then(|text| Settlement::parse(text)) {
                    Some(how) if chosen.len() == 1 => Ok(Answer::Settle { how, content: None }),
                    _ => invalid("choice", "must be one of the options that were offered"),
                },
            },
            Question::Fill { schema: None } => match self.chosen()? {
                None => Ok(denied()),
                Some([text]) if !text.trim().is_empty() => {
                    Ok(Answer::Fill(json!({ "text": text })))
                }
                Some(_) => invalid("choice", "must be one text"),
            },
            Question::Fill { .. } | Question::Perform { .. } => match self.chosen()? {
                None => Ok(denied()),
                Some(_) => invalid("choice", "this prompt cannot be answered here; open its page"),
            },
        }
    }

    fn approval(&self, hold: &Hold) -> Result<Answer, WorldsFault> {
        // mutant: worlds-arguments-not-compared
        if !self.matches(hold) {
            return Err(WorldsFault::args_mismatch());
        }
        match self.decision {
            Some(ResultVerdict::Approve) => Ok(approved(self.scope == Some("session"))),
            Some(ResultVerdict::Deny) => Ok(denied()),
            None => invalid("decision", "is required: `approve` or `deny`"),
        }
    }

    /// What was chosen; `None` if the person declined. Beside a choice a yes says nothing, and a no says
    /// that nobody can tell what was meant.
    fn chosen(&self) -> Result<Option<&[String]>, WorldsFault> {
        match (&self.choices, self.decision) {
            (Some(chosen), Some(ResultVerdict::Deny)) if !chosen.is_empty() => {
                invalid("decision", "is `deny` beside a choice; send one of them")
            }
            (Some(chosen), _) if !chosen.is_empty() => Ok(Some(chosen)),
            (_, Some(ResultVerdict::Deny)) => Ok(None),
            _ => invalid("choice", "is required"),
        }
    }

    /// Whether the client speaks of what is stored. What runs is what is stored in any case; a client
    /// that means something else has shown something else.
    fn matches(&self, hold: &Hold) -> bool {
        let Some(call) = hold.call() else { return true };
        let same = |sent: &Value| {
            let sent = canonical(sent);
            sent == canonical(call.arguments.value()) || sent == canonical(&arguments(hold))
        };
        let directory = call.context.working_directory.as_deref();
        self.arguments.as_ref().is_none_or(same)
            // mutant: worlds-directory-not-compared
            && self.directory.as_deref().is_none_or(|sent| Some(sent) == directory)
    }
}

fn denied() -> Answer {
    Answer::Deny { reason: None, stop: false }
}

fn invalid<T>(field: &str, message: &str) -> Result<T, WorldsFault> {
    Err(WorldsFault::invalid(vec![Detail::new(field, message)]))
}
