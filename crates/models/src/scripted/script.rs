//! A script that has been checked: whatever is wrong with one is said when it is read, with the
//! line, and never in the middle of a conversation.

use std::ops::Range;
use std::time::Duration;

use ports::model::TurnUsage;
use regex::Regex;
use serde_json::{Map, Value};
use toml::Spanned;

use super::deltas::{By, Pace};
use super::file::{CallFile, DeltasFile, ScriptFile, TurnFile, WhenFile};
use super::template::{JsonTemplate, Template};
use super::when::{Conditions, TextMatch, When};

/// What a model says that has nothing to say.
const DEFAULT: &str = "I am a scripted model, and my script has no answer to that.";

/// A delay longer than this is a script that hangs.
const DELAY_MS_MAX: u64 = 600_000;

#[derive(Debug)]
pub(super) struct Script {
    pub(super) default: String,
    pub(super) pace: Pace,
    pub(super) turns: Vec<Turn>,
}

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) when: When,
    pub(super) reasoning: Option<Template>,
    pub(super) text: Option<Template>,
    pub(super) calls: Vec<ScriptedCall>,
    pub(super) pace: Option<Pace>,
    pub(super) fail: Option<Failure>,
    pub(super) usage: TurnUsage,
}

#[derive(Debug)]
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    pub(super) id: Option<String>,
    pub(super) input: ScriptedInput,
}

#[derive(Debug)]
pub(super) enum ScriptedInput {
    /// Exactly these bytes, also when they are no JSON.
    Raw(String),
    Arguments(JsonTemplate),
    /// A JSON object that the conversation holds, with these members put over it.
    Over {
        json: Template,
        arguments: JsonTemplate,
    },
}

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    /// After this many failures the turn no longer fits.
    pub(super) times: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FailureKind {
    Unavailable,
    Refused,
    Malformed,
}

/// What is wrong with a script, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ScriptError {
    pub line: usize,
    pub message: String,
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Script, ScriptError> {
        let source = ScriptSource(text);
        let file: ScriptFile = toml::from_str(text)
            .map_err(|error| source.error(error.span().unwrap_or_default(), error.message()))?;
        let default = match file.default {
            Some(default) if default.get_ref().trim().is_empty() => {
                return Err(source.error(default.span(), "`default` is empty; write what to say"));
            }
            Some(default) => default.into_inner(),
            None => DEFAULT.to_owned(),
        };
        let pace = match &file.deltas {
            Some(deltas) => source.pace(deltas, &Pace::default())?,
            None => Pace::default(),
        };
        let turns = file.turn.into_iter().map(|turn| source.turn(turn, &pace));
        Ok(Script { default, turns: turns.collect::<Result<_, _>>()?, pace })
    }
}

/// The text of a script, to tell lines by.
struct ScriptSource<'a>(&'a str);

impl ScriptSource<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>) -> ScriptError {
        let before = &self.0.as_bytes()[..span.start.min(self.0.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        ScriptError { line, message: message.into() }
    }

    fn turn(&self, turn: Spanned<TurnFile>, pace: &Pace) -> Result<Turn, ScriptError> {
        let (span, turn) = (turn.span(), turn.into_inner());
        let when = self.when(turn.when)?;
        let groups = match &when {
            When::Always => 0,
            When::All(conditions) => [&conditions.says, &conditions.result]
                .into_iter()
                .flatten()
                .map(TextMatch::groups)
                .sum(),
        };
        let template = |text: Option<Spanned<String>>| {
            let parsed = text.map(|text| {
                Template::parse(text.get_ref(), groups).map_err(|why| self.error(text.span(), why))
            });
            parsed.transpose()
        };
        let fail = self.failure(turn.fail, turn.times)?;
        if turn.text.is_none() && turn.calls.is_empty() && fail.is_none() {
            let why = "a turn says something or calls something: give it `text`, `calls` or `fail`";
            return Err(self.error(span, why));
        }
        if let (Some(_), Some(call)) = (&fail, turn.calls.first()) {
            let why = "a turn that fails makes no calls; leave `calls` or `fail` out";
            return Err(self.error(call.span(), why));
        }
        let own_pace = turn.deltas.map(|deltas| self.pace(&deltas, pace)).transpose()?;
        let calls = turn.calls.into_iter().map(|call| self.call(call, groups));
        Ok(Turn {
            when,
            reasoning: template(turn.reasoning)?,
            text: template(turn.text)?,
            calls: calls.collect::<Result<_, _>>()?,
            pace: own_pace,
            fail,
            usage: TurnUsage {
                input_tokens: turn.usage.input,
                cached_tokens: turn.usage.cached,
                output_tokens: turn.usage.output,
            },
        })
    }

    fn when(&self, when: Spanned<WhenFile>) -> Result<When, ScriptError> {
        let (span, when) = (when.span(), when.into_inner());
        let error = |why: &str| Err(self.error(span.clone(), why));
        let says =
            self.text(span.clone(), "says", when.says, when.says_contains, when.says_regex)?;
        let result =
            self.text(span.clone(), "result", None, when.result_contains, when.result_regex)?;
        let conditions = Conditions {
            says,
            turn: when.turn,
            result_of: when.result_of,
            result,
            is_error: when.is_error,
            after_tools: when.after_tools,
        };
        if conditions.after_tools.as_ref().is_some_and(Vec::is_empty) {
            return error("`after_tools` is empty; name the tools whose results came in");
        }
        if conditions.turn == Some(0) {
            return error("`turn` counts from 1");
        }
        let bare =
            conditions.says.is_none() && conditions.turn.is_none() && !conditions.about_results();
        match (when.any, bare) {
            (Some(true), true) => Ok(When::Always),
            (Some(true), false) => {
                error("`any = true` fits everything; leave the other conditions out")
            }
            (Some(false), _) => error("`any` can only be true"),
            (None, true) => {
                error("`when` is empty; write `any = true` for a turn that always fits")
            }
            (None, false) => Ok(When::All(Box::new(conditions))),
        }
    }

    fn text(
        &self,
        span: Range<usize>,
        name: &str,
        is: Option<String>,
        contains: Option<String>,
        regex: Option<Spanned<String>>,
    ) -> Result<Option<TextMatch>, ScriptError> {
        match (is, contains, regex) {
            (None, None, None) => Ok(None),
            (Some(text), None, None) => Ok(Some(TextMatch::Is(text))),
            (None, Some(text), None) => Ok(Some(TextMatch::Contains(text))),
            (None, None, Some(pattern)) => match Regex::new(pattern.get_ref()) {
                Ok(regex) => Ok(Some(TextMatch::Matches(regex))),
                Err(why) => {
                    let why = why.to_string();
                    let last = why.lines().last().unwrap_or_default().trim();
                    let last = last.strip_prefix("error: ").unwrap_or(last);
                    Err(self.error(pattern.span(), format!("`{name}_regex` is no pattern: {last}")))
                }
            },
            _ => {
                let why = format!("give one of the `{name}…` conditions, not several");
                Err(self.error(span, why))
            }
        }
    }

    fn failure(
        &self,
        fail: Option<Spanned<String>>,
        times: Option<Spanned<u64>>,
    ) -> Result<Option<Failure>, ScriptError> {
        let Some(fail) = fail else {
            return match times {
                Some(times) => Err(self
                    .error(times.span(), "`times` says how often a turn fails: it needs `fail`")),
                None => Ok(None),
            };
        };
        let kind = match fail.get_ref().as_str() {
            "unavailable" => FailureKind::Unavailable,
            "refused" => FailureKind::Refused,
            "malformed" => FailureKind::Malformed,
            other => {
                let why = format!("`fail` is unavailable, refused or malformed, and not `{other}`");
                return Err(self.error(fail.span(), why));
            }
        };
        Ok(Some(Failure { kind, times: times.map(Spanned::into_inner) }))
    }

    fn call(&self, call: Spanned<CallFile>, groups: usize) -> Result<ScriptedCall, ScriptError> {
        let (span, call) = (call.span(), call.into_inner());
        let error = |why: String| self.error(span.clone(), why);
        let table = call.arguments.unwrap_or_default();
        let given = !table.is_empty();
        let arguments = JsonTemplate::parse(Value::Object(object(table)), groups).map_err(error)?;
        let input = match (call.raw, call.json) {
            (None, None) => ScriptedInput::Arguments(arguments),
            (None, Some(json)) => ScriptedInput::Over {
                json: Template::parse(&json, groups).map_err(error)?,
                arguments,
            },
            (Some(raw), None) if !given => ScriptedInput::Raw(raw),
            (Some(_), _) => {
                return Err(error(
                    "`raw` is all there is to say; leave `arguments` and `json` out".into(),
                ));
            }
        };
        Ok(ScriptedCall { tool: call.tool, id: call.id, input })
    }

    fn pace(&self, deltas: &Spanned<DeltasFile>, base: &Pace) -> Result<Pace, ScriptError> {
        let file = deltas.get_ref();
        let error = |why: &str| Err(self.error(deltas.span(), why));
        let by = match (file.words, file.chars) {
            (Some(_), Some(_)) => return error("cut by `words` or by `chars`, not by both"),
            (Some(0), _) | (_, Some(0)) => {
                return error("a piece has at least 1 word or character");
            }
            (Some(words), None) => By::Words(words),
            (None, Some(chars)) => By::Chars(chars),
            (None, None) => base.by,
        };
        let delay = match file.delay_ms {
            Some(ms) if ms > DELAY_MS_MAX => {
                return error("`delay_ms` is at most 600000 (ten minutes)");
            }
            Some(ms) => Duration::from_millis(ms),
            None => base.delay,
        };
        Ok(Pace { by, delay })
    }
}

fn object(table: toml::Table) -> Map<String, Value> {
    table.into_iter().map(|(key, value)| (key, json(value))).collect()
}

/// TOML's dates become text, which is what JSON has for them.
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(at) => Value::String(at.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(json).collect()),
        toml::Value::Table(table) => Value::Object(object(table)),
    }
}
