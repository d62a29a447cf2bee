//! A hold as an outside program asks for it.

use domain::hold::{Callback, Choice, Question, Risk};
use domain::json::Arguments;
use engine::{NewAudience, NewHold};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::bad_arguments;
use super::object::object;
use super::whole::Whole;
use crate::problem::Problem;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"properties": {"kind": {"const": "approve"}, "options": {"type": "null"}, "schema": {"type": "null"}}},
    {
        "required": ["options"],
        "properties": {"kind": {"const": "choose"}, "options": {"type": "array"}, "schema": {"type": "null"}},
    },
    {"properties": {"kind": {"const": "fill"}, "options": {"type": "null"}}},
]))]
pub(crate) struct NewHoldBody {
    #[schemars(extend("enum" = ["approve", "choose", "fill"]))]
    kind: String,
    #[schemars(length(max = 500), regex(pattern = r"\S"))]
    title: String,
    #[serde(default, deserialize_with = "object")]
    call: Option<NewCall>,
    /// For `choose`: no two with the same id or label.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    options: Option<Vec<NewOption>>,
    #[serde(default)]
    multiple: Option<bool>,
    #[serde(default)]
    allow_other: Option<bool>,
    /// For `fill`: a JSON Schema.
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    context: Option<Value>,
    /// What the program knows about the call; only with `call`.
    #[serde(default, deserialize_with = "object")]
    preview: Option<NewPreview>,
    /// Can only narrow what policy admits.
    #[serde(default, deserialize_with = "object")]
    audience: Option<AskedAudience>,
    #[serde(default)]
    #[schemars(extend("enum" = ["low", "medium", "high", "critical", null]))]
    risk: Option<String>,
    #[serde(default)]
    #[schemars(with = "Option<u64>", range(min = 1, max = 18_446_744_073_709_551_615_u64))]
    expires_in_s: Option<Whole>,
    #[serde(default, deserialize_with = "object")]
    callback: Option<NewCallback>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewCall {
    tool: String,
    /// Kept to the byte.
    #[schemars(with = "serde_json::Map<String, Value>")]
    arguments: Box<RawValue>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPreview {
    /// What the call would change: lines that begin with `+`, `-` or a space.
    #[serde(default)]
    diff: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum NewOption {
    Label(#[schemars(length(max = 1_000), regex(pattern = r"\S"))] String),
    Whole(WholeOption),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WholeOption {
    /// Its number in the list, from 1, if not said.
    #[serde(default)]
    id: Option<String>,
    #[schemars(length(max = 1_000), regex(pattern = r"\S"))]
    label: String,
    #[serde(default)]
    description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskedAudience {
    #[serde(default)]
    people: Vec<String>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Option<u64>", range(min = 0, max = 18_446_744_073_709_551_615_u64))]
    quorum: Option<Whole>,
    #[serde(default)]
    exclude_requester: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewCallback {
    url: String,
    secret_env: String,
}

impl NewHoldBody {
    pub(crate) fn parse(self) -> Result<NewHold, Problem> {
        let risk = match self.risk.as_deref() {
            None => None,
            Some(text) => Some(Risk::parse(text).ok_or_else(|| {
                Problem::invalid("risk", "write one of `low`, `medium`, `high`, `critical`")
            })?),
        };
        let expires_in_s = self.expires_in_s.map(|Whole(seconds)| seconds);
        if expires_in_s == Some(0) {
            return Err(Problem::invalid("expires_in_s", "nobody could answer in no time"));
        }
        let call = match self.call {
            None => None,
            Some(call) => {
                let arguments = Arguments::parse(call.arguments.get().as_bytes())
                    .map_err(|why| bad_arguments("call.arguments", &why))?;
                Some((call.tool, arguments))
            }
        };
        let question = match self.kind.as_str() {
            "approve" => {
                only_for("choose", "options", self.options.is_some())?;
                only_for("fill", "schema", self.schema.is_some())?;
                Question::Approve
            }
            "choose" => {
                only_for("fill", "schema", self.schema.is_some())?;
                Question::Choose {
                    options: options(self.options.unwrap_or_default()),
                    multiple: self.multiple.unwrap_or(false),
                    allow_other: self.allow_other.unwrap_or(false),
                }
            }
            "fill" => {
                only_for("choose", "options", self.options.is_some())?;
                Question::Fill { schema: self.schema.filter(|schema| !schema.is_null()) }
            }
            _ => return Err(Problem::invalid("kind", "write one of `approve`, `choose`, `fill`")),
        };
        Ok(NewHold {
            question,
            title: self.title,
            call,
            context: self.context.unwrap_or(Value::Null),
            diff: self.preview.and_then(|preview| preview.diff),
            audience: self.audience.map(|audience| NewAudience {
                people: audience.people,
                roles: audience.roles,
                // More than there can be people: nobody could be asked, and that is what is said.
                quorum: audience.quorum.map(|Whole(people)| people.try_into().unwrap_or(u32::MAX)),
                exclude_requester: audience.exclude_requester,
            }),
            risk,
            expires_in_ms: expires_in_s.map(|seconds| seconds.saturating_mul(1000)),
            callback: self
                .callback
                .map(|callback| Callback { url: callback.url, secret_env: callback.secret_env }),
        })
    }
}

/// What has no meaning for this kind was meant for another: better to say so than to ask something
/// else than was meant.
fn only_for(kind: &str, field: &str, given: bool) -> Result<(), Problem> {
    if given {
        return Err(Problem::invalid(
            field,
            format!("`{field}` is only for `{kind}`; leave it out"),
        ));
    }
    Ok(())
}

/// Ids that are not given are `1`, `2`, …, as people type them.
fn options(options: Vec<NewOption>) -> Vec<Choice> {
    let numbered = options.into_iter().zip(1..);
    numbered
        .map(|(option, number): (NewOption, usize)| match option {
            NewOption::Label(label) => Choice { id: number.to_string(), label, description: None },
            NewOption::Whole(WholeOption { id, label, description }) => {
                Choice { id: id.unwrap_or_else(|| number.to_string()), label, description }
            }
        })
        .collect()
}
