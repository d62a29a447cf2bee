//! A hold, as every surface reads it.

use domain::hold::{HoldOutcome, HoldState, Question, Vote};
use domain::schema::redact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answered::{Answered, Secrets};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Hold {
    pub(crate) id: String,
    version: u32,
    #[schemars(extend("enum" = ["approve", "choose", "fill", "perform", "settle"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["pending", "approved", "denied", "answered", "expired", "cancelled"]))]
    state: &'static str,
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    risk: &'static str,
    tag: String,
    title: String,
    agent: Option<String>,
    session: Option<String>,
    run: Option<String>,
    parent: Option<String>,
    requester: Option<String>,
    /// Of what is asked: an answer names it.
    digest: String,
    call: Option<Call>,
    view: View,
    two_phase: bool,
    preview: Preview,
    options: Vec<Choice>,
    multiple: bool,
    allow_other: bool,
    schema: Option<Value>,
    context: Value,
    /// The model's own words.
    rationale: Option<String>,
    audience: Audience,
    rule: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    opened_at: String,
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<String>,
    claimed_by: Option<String>,
    answers: Vec<Answered>,
    decision: Option<Answered>,
    /// Who withdrew it, for a cancelled one.
    cancelled: Option<Cancelled>,
    outcome: Option<Outcome>,
    /// Where people could not be asked. It can be answered elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undelivered: Vec<Undelivered>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Undelivered {
    channel: String,
    /// A person, where it was one; else the chat as its platform calls it.
    to: String,
    why: String,
    #[schemars(extend("format" = "date-time"))]
    at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Call {
    id: String,
    /// The model's own id.
    tool_use_id: String,
    tool: String,
    arguments: Value,
    #[schemars(extend("enum" = ["read_only", "idempotent", "transactional", "at_most_once"]))]
    effects: &'static str,
}

/// The one rendering of what is asked, made here from the stored bytes. Show it as it is.
#[derive(Debug, Serialize, JsonSchema)]
struct View {
    text: String,
    digest: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Preview {
    summary: Option<String>,
    rows: Option<u64>,
    diff: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Choice {
    id: String,
    label: String,
    description: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Audience {
    people: Vec<String>,
    roles: Vec<String>,
    quorum: u32,
    exclude_requester: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Cancelled {
    by: String,
    at: String,
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Outcome {
    #[schemars(extend("enum" = ["executing", "succeeded", "failed", "unknown"]))]
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

fn text<T: ToString>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(ToString::to_string)
}

impl Hold {
    pub(crate) fn undelivered(self, undelivered: Vec<engine::Undelivered>) -> Hold {
        let told = undelivered.into_iter().map(|one| Undelivered {
            channel: one.channel,
            to: one.to,
            why: one.why,
            at: one.at.to_string(),
        });
        Hold { undelivered: told.collect(), ..self }
    }

    pub(crate) fn of(hold: &domain::hold::Hold) -> Hold {
        let secrets = Secrets::of(hold);
        let rendered = domain::view::render(hold);
        let (options, multiple, allow_other) = match &hold.question {
            Question::Choose { options, multiple, allow_other } => {
                (options.as_slice(), *multiple, *allow_other)
            }
            _ => (&[][..], false, false),
        };
        Hold {
            id: hold.id.to_string(),
            version: hold.version,
            kind: hold.question.kind(),
            state: hold.state.name(),
            risk: hold.risk.name(),
            tag: hold.tag.clone(),
            title: hold.title.clone(),
            agent: text(&hold.agent),
            session: text(&hold.session),
            run: text(&hold.run),
            parent: text(&hold.parent),
            requester: text(&hold.requester),
            digest: hold.digest().to_string(),
            call: hold.call.as_deref().map(Call::of),
            view: View {
                digest: domain::digest::Digest::of(rendered.as_bytes()).to_string(),
                text: rendered,
            },
            two_phase: hold.two_phase,
            preview: Preview {
                summary: hold.preview.summary.clone(),
                rows: hold.preview.rows,
                diff: hold.preview.diff.clone(),
                warnings: hold.preview.warnings.clone(),
            },
            options: options
                .iter()
                .map(|option| Choice {
                    id: option.id.clone(),
                    label: option.label.clone(),
                    description: option.description.clone(),
                })
                .collect(),
            multiple,
            allow_other,
            schema: match &hold.question {
                Question::Fill { schema } => schema.clone(),
                _ => None,
            },
            context: match &hold.context {
                Value::Null => Value::Object(Map::new()),
                context => context.clone(),
            },
            rationale: hold.rationale.clone(),
            audience: Audience {
                people: hold.audience.people.iter().map(ToString::to_string).collect(),
                roles: hold.audience.roles.iter().cloned().collect(),
                quorum: hold.audience.quorum,
                exclude_requester: hold.audience.exclude_requester,
            },
            rule: hold.rule.clone(),
            opened_at: hold.opened_at.to_string(),
            expires_at: text(&hold.expires_at),
            claimed_by: text(&hold.claimed_by),
            answers: hold.votes.iter().map(|vote| Answered::vote(vote, &secrets)).collect(),
            decision: hold.state.decision().map(|decision| Answered::decision(decision, &secrets)),
            cancelled: Cancelled::of(&hold.state),
            outcome: hold.outcome.as_ref().map(|o| Outcome::of(o, hold.session.is_none())),
            undelivered: Vec::new(),
        }
    }

    /// Who, when and what, for somebody who came too late.
    pub(crate) fn what_stands(&self) -> Value {
        match (&self.decision, &self.cancelled) {
            (Some(decision), _) => json!(decision),
            (None, Some(cancelled)) => {
                json!({"state": "cancelled", "by": cancelled.by, "at": cancelled.at, "reason": cancelled.reason})
            }
            (None, None) => Value::Null,
        }
    }
}

/// The state of a hold and what stands, for events.
pub(super) fn decided(state: &HoldState, secrets: &Secrets) -> Value {
    let decision = state.decision().map(|decision| Answered::decision(decision, secrets));
    let mut data = json!({"state": state.name(), "decision": decision});
    if let Some(cancelled) = Cancelled::of(state) {
        data["cancelled"] = json!(cancelled);
    }
    data
}

pub(super) fn voted(vote: &Vote, secrets: &Secrets) -> Value {
    json!(Answered::vote(vote, secrets))
}

pub(super) fn outcome(outcome: &HoldOutcome) -> Value {
    json!(Outcome::of(outcome, false))
}

pub(super) fn call(call: &domain::call::Call) -> Value {
    json!(Call::of(call))
}

impl Call {
    fn of(call: &domain::call::Call) -> Call {
        Call {
            id: call.id.to_string(),
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.to_string(),
            arguments: redact(call.arguments.value(), &call.secrets),
            effects: call.effects.name(),
        }
    }
}

impl Cancelled {
    fn of(state: &HoldState) -> Option<Cancelled> {
        match state {
            HoldState::Cancelled { by, reason, at } => {
                Some(Cancelled { by: by.to_string(), at: at.to_string(), reason: reason.clone() })
            }
            _ => None,
        }
    }
}

impl Outcome {
    fn of(outcome: &HoldOutcome, outside: bool) -> Outcome {
        let result = match outcome {
            HoldOutcome::Succeeded(result) | HoldOutcome::Failed(result) => {
                // What a program reported as an object is given back as one.
                let value: Option<Value> = serde_json::from_str(&result.content).ok();
                let structured = value.filter(|value| value.is_object() || value.is_array());
                Some(
                    structured
                        .filter(|_| outside)
                        .unwrap_or_else(|| Value::from(result.content.as_str())),
                )
            }
            HoldOutcome::Executing | HoldOutcome::Unknown => None,
        };
        Outcome { state: outcome.name(), result }
    }
}

/// Why a hold is withdrawn, or a run cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Cancel {
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub(crate) reason: Option<String>,
}

/// What an outside call did.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    #[schemars(extend("enum" = ["succeeded", "failed"]))]
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) result: Option<Value>,
}
