//! A hold, as every surface reads it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::digest::Digest;
use domain::hold::{HoldOutcome, HoldState, Question};
use domain::id::{CallId, HoldId, RunId, SessionId};
use domain::person::{Actor, PersonId};
use domain::schema::redacted;
use domain::time::Timestamp;
use domain::warning::Warning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::answered::{Answered, Secrets};
use super::comment::Comment;
use super::headline::Headline;
use super::text::{Text, texts};
use super::view::View;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Hold<'a> {
    id: Text<HoldId>,
    version: u32,
    #[schemars(extend("enum" = ["approve", "choose", "fill", "perform", "settle"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["pending", "approved", "denied", "answered", "expired", "cancelled"]))]
    state: &'static str,
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    pub(super) risk: &'static str,
    tag: &'a str,
    pub(super) title: &'a str,
    agent: Option<&'a str>,
    session: Option<Text<SessionId>>,
    run: Option<Text<RunId>>,
    parent: Option<Text<HoldId>>,
    requester: Option<Text<&'a PersonId>>,
    asked_by: AskedBy<'a>,
    /// Of what is asked: an answer names it.
    pub(super) digest: Text<Digest>,
    /// Equal for two holds that ask about the same call: tool, arguments, directory, and who makes it.
    group: Option<Text<Digest>>,
    pub(super) call: Option<Call<'a>>,
    pub(super) headline: Headline,
    pub(super) view: View,
    two_phase: bool,
    pub(super) preview: HoldPreview<'a>,
    options: Vec<Choice<'a>>,
    multiple: bool,
    allow_other: bool,
    schema: Option<&'a Value>,
    context: Cow<'a, Value>,
    /// The model's own words.
    rationale: Option<&'a str>,
    pub(super) audience: Audience<'a>,
    pub(super) rule: Option<&'a str>,
    #[schemars(extend("format" = "date-time"))]
    opened_at: Text<Timestamp>,
    #[schemars(extend("format" = "date-time"))]
    expires_at: Option<Text<Timestamp>>,
    claimed_by: Option<Text<&'a PersonId>>,
    /// In the reply to a claim: whose claim it took the place of.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_from: Option<String>,
    answers: Vec<Answered<'a>>,
    /// How often people have said something about it.
    comment_count: usize,
    /// What they said, oldest first: of one hold that was asked for, and not in lists. Left out where nobody said anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<Vec<Comment<'a>>>,
    /// People who were addressed in a comment and have said nothing since.
    mentioned: Vec<Text<&'a PersonId>>,
    decision: Option<Answered<'a>>,
    /// Who withdrew it, for a cancelled one.
    cancelled: Option<Cancelled<'a>>,
    outcome: Option<Outcome<'a>>,
    /// Where people could not be asked. It can be answered elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undelivered: Vec<Undelivered>,
}

/// Who asks: the program or the agent, and the person for whom it acts.
#[derive(Debug, Serialize, JsonSchema)]
struct AskedBy<'a> {
    /// The name of its token.
    program: Option<&'a str>,
    agent: Option<&'a str>,
    /// For a program, whoever made its token.
    on_behalf_of: Option<Text<&'a PersonId>>,
}

impl<'a> AskedBy<'a> {
    fn of(hold: &'a domain::hold::Hold) -> AskedBy<'a> {
        let asked = hold.asked_by();
        AskedBy {
            program: asked.program,
            agent: asked.agent,
            on_behalf_of: asked.on_behalf_of.map(Text),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Undelivered {
    channel: String,
    /// A person, where it was one; else the chat as its platform calls it.
    to: String,
    why: String,
    #[schemars(extend("format" = "date-time"))]
    at: Text<Timestamp>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Call<'a> {
    id: Text<CallId>,
    /// The model's own id.
    tool_use_id: &'a str,
    tool: &'a str,
    arguments: Cow<'a, Value>,
    #[schemars(extend("enum" = ["read_only", "idempotent", "transactional", "at_most_once"]))]
    effects: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Preview")]
pub(super) struct HoldPreview<'a> {
    summary: Option<&'a str>,
    rows: Option<u64>,
    diff: Option<&'a str>,
    /// The sentences in English. `view.parts` has their codes.
    warnings: Vec<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Choice<'a> {
    id: &'a str,
    label: &'a str,
    description: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Audience<'a> {
    #[serde(serialize_with = "texts")]
    #[schemars(with = "Vec<String>")]
    people: &'a BTreeSet<PersonId>,
    #[schemars(with = "Vec<String>")]
    roles: &'a BTreeSet<String>,
    quorum: u32,
    exclude_requester: bool,
    /// Votes of a login or token that another person made are refused. Absent: they are not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refuse_made_logins: bool,
    /// People who may not answer either, because they made the login or token by which the requester
    /// asked. Absent: there are none, or `exclude_requester` is not set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    login_makers: Vec<Text<&'a PersonId>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cancelled<'a> {
    by: Text<&'a Actor>,
    at: Text<Timestamp>,
    reason: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Outcome<'a> {
    #[schemars(extend("enum" = ["executing", "succeeded", "failed", "unknown"]))]
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    result: Option<OutcomeResult<'a>>,
}

/// What a call gave: the words, or the value that a program reported.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum OutcomeResult<'a> {
    Words(&'a str),
    Value(Value),
}

impl<'a> Hold<'a> {
    pub(crate) fn undelivered(self, undelivered: Vec<engine::Undelivered>) -> Hold<'a> {
        let told = undelivered.into_iter().map(|one| Undelivered {
            channel: one.channel,
            to: one.to,
            why: one.why,
            at: Text(one.at),
        });
        Hold { undelivered: told.collect(), ..self }
    }

    pub(crate) fn of(hold: &'a domain::hold::Hold) -> Hold<'a> {
        let secrets = Secrets::of(hold);
        let (options, multiple, allow_other) = match &hold.question {
            Question::Choose { options, multiple, allow_other } => {
                (options.as_slice(), *multiple, *allow_other)
            }
            _ => (&[][..], false, false),
        };
        Hold {
            id: Text(hold.id),
            version: hold.version,
            kind: hold.question.kind().name(),
            state: hold.state.name(),
            risk: hold.risk.name(),
            tag: &hold.tag,
            title: &hold.title,
            agent: hold.agent(),
            session: hold.session().map(Text),
            run: hold.run().map(Text),
            parent: hold.parent.map(Text),
            requester: hold.requester.as_ref().map(Text),
            asked_by: AskedBy::of(hold),
            digest: Text(hold.digest()),
            group: hold.call().map(|call| Text(call.match_key())),
            call: hold.call().map(|call| Call::of(call)),
            headline: Headline::of(hold),
            view: View::of(hold),
            two_phase: hold.two_phase,
            preview: HoldPreview {
                summary: hold.preview.summary.as_deref(),
                rows: hold.preview.rows,
                diff: hold.preview.diff.as_deref(),
                warnings: hold.preview.warnings.iter().map(Warning::text).collect(),
            },
            options: options
                .iter()
                .map(|option| Choice {
                    id: &option.id,
                    label: &option.label,
                    description: option.description.as_deref(),
                })
                .collect(),
            multiple,
            allow_other,
            schema: match &hold.question {
                Question::Fill { schema } => schema.as_ref(),
                _ => None,
            },
            context: match &hold.context {
                Value::Null => Cow::Owned(Value::Object(Map::new())),
                context => Cow::Borrowed(context),
            },
            rationale: hold.rationale.as_deref(),
            audience: Audience {
                people: &hold.audience.people,
                roles: &hold.audience.roles,
                quorum: hold.audience.quorum,
                exclude_requester: hold.audience.exclude_requester,
                refuse_made_logins: hold.audience.refuse_made_logins,
                login_makers: match hold.audience.exclude_requester {
                    true => hold.audience.login_makers.iter().map(Text).collect(),
                    false => Vec::new(),
                },
            },
            rule: hold.rule.as_deref(),
            opened_at: Text(hold.opened_at),
            expires_at: hold.expires_at.map(Text),
            claimed_by: hold.claimed_by.as_ref().map(Text),
            claimed_from: None,
            answers: hold.votes.iter().map(|vote| Answered::vote(vote, &secrets)).collect(),
            comment_count: hold.comments.len(),
            comments: None,
            mentioned: hold.mentioned().into_iter().map(Text).collect(),
            decision: hold.state.decision().map(|decision| Answered::decision(decision, &secrets)),
            cancelled: Cancelled::of(&hold.state),
            outcome: hold.outcome().map(|o| Outcome::of(o, hold.session().is_none())),
            undelivered: Vec::new(),
        }
    }

    /// With what people said about it.
    pub(crate) fn in_full(hold: &'a domain::hold::Hold) -> Hold<'a> {
        let comments = || hold.comments.iter().map(|comment| Comment::of(comment)).collect();
        Hold { comments: (!hold.comments.is_empty()).then(comments), ..Hold::of(hold) }
    }

    /// Says whose claim was there before, if it was another's.
    pub(crate) fn claimed_after(mut self, before: Option<&PersonId>) -> Hold<'a> {
        let now = self.claimed_by.as_ref().map(|Text(who)| *who);
        self.claimed_from = before.filter(|who| now != Some(*who)).map(ToString::to_string);
        self
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

impl<'a> Call<'a> {
    pub(super) fn of(call: &'a domain::call::Call) -> Call<'a> {
        Call {
            id: Text(call.id),
            tool_use_id: &call.tool_use_id,
            tool: &call.tool,
            arguments: redacted(call.arguments.value(), &call.secrets),
            effects: call.effects.name(),
        }
    }
}

impl<'a> Cancelled<'a> {
    pub(super) fn of(state: &'a HoldState) -> Option<Cancelled<'a>> {
        match state {
            HoldState::Cancelled { by, reason, at } => {
                Some(Cancelled { by: Text(by), at: Text(*at), reason: reason.text() })
            }
            _ => None,
        }
    }
}

impl<'a> Outcome<'a> {
    pub(super) fn of(outcome: &'a HoldOutcome, outside: bool) -> Outcome<'a> {
        let result = match outcome {
            HoldOutcome::Succeeded(result) | HoldOutcome::Failed(result) => {
                // What a program reported as an object is given back as one.
                let structured = outside
                    .then(|| serde_json::from_str::<Value>(&result.content).ok())
                    .flatten()
                    .filter(|value| value.is_object() || value.is_array());
                Some(structured.map_or(OutcomeResult::Words(&result.content), OutcomeResult::Value))
            }
            HoldOutcome::Executing | HoldOutcome::Unknown => None,
        };
        Outcome { state: outcome.name(), result }
    }
}

/// A hold within something else, as it now is.
pub(crate) fn now<S: Serializer>(
    hold: &Option<Box<domain::hold::Hold>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    hold.as_deref().map(Hold::of).serialize(serializer)
}

/// Why a hold is withdrawn, or a run cancelled.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Cancel {
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub(crate) reason: Option<String>,
}

/// That an outside call starts, which is said once for each approval, or what it did.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeBody {
    #[schemars(extend("enum" = ["executing", "succeeded", "failed"]))]
    pub(crate) state: String,
    /// What came of it; none with `executing`.
    #[serde(default)]
    pub(crate) result: Option<Value>,
}
