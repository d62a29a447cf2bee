//! Answers that were given, without the secrets in them.

use domain::answer::{Answer, Scope};
use domain::grant::ClearedBy;
use domain::hold::{Decision, Question, Vote};
use domain::schema::{redact, write_only_pointers};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// An answer that was given, or what stands.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Answered {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choose: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perform: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settle: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    /// Edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<bool>,
    /// Null when no person was asked: then `rule` or `grant` says on whose word.
    by: Option<String>,
    at: String,
    via: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<String>,
    /// Of what was on the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Of the text that this person was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<String>,
    /// Everybody whose vote counted, in a decision by people.
    #[serde(skip_serializing_if = "Option::is_none")]
    voters: Option<Vec<String>>,
}

impl Answered {
    pub(super) fn vote(vote: &Vote, secrets: &Secrets) -> Answered {
        let said = Answered {
            by: Some(vote.by.to_string()),
            at: vote.at.to_string(),
            via: vote.via.clone(),
            digest: Some(vote.digest.to_string()),
            view: Some(vote.view.to_string()),
            ..Answered::default()
        };
        match vote.answer.clone() {
            Answer::Approve { scope, arguments, note } => Answered {
                verdict: Some("approve"),
                scope: Some(match scope {
                    Scope::Once => "once",
                    Scope::Session(_) => "session",
                }),
                arguments: arguments.map(|arguments| secrets.arguments(arguments.value())),
                note,
                ..said
            },
            Answer::Deny { reason, stop } => {
                Answered { verdict: Some("deny"), reason, stop: stop.then_some(true), ..said }
            }
            Answer::Respond { content } => {
                Answered { verdict: Some("respond"), content: Some(content), ..said }
            }
            Answer::Choose(chosen) => Answered { choose: Some(chosen), ..said },
            Answer::Fill(form) => Answered { fill: Some(secrets.form(&form)), ..said },
            Answer::Perform { content, is_error } => Answered {
                perform: Some(json!({"content": content, "is_error": is_error})),
                ..said
            },
            Answer::Settle { how, content } => {
                Answered { settle: Some(how.name()), content, ..said }
            }
        }
    }

    pub(super) fn decision(decision: &Decision, secrets: &Secrets) -> Answered {
        match decision {
            Decision::People { vote, voters } => Answered {
                voters: Some(voters.iter().map(ToString::to_string).collect()),
                ..Answered::vote(vote, secrets)
            },
            Decision::Automatic { allowed, by, at } => {
                let said = Answered {
                    verdict: Some(if *allowed { "approve" } else { "deny" }),
                    at: at.to_string(),
                    via: "policy".into(),
                    ..Answered::default()
                };
                match by {
                    ClearedBy::Rule(rule) => Answered {
                        rule: Some(rule.clone().unwrap_or_else(|| "default".into())),
                        ..said
                    },
                    ClearedBy::Grant(grant) => Answered { grant: Some(grant.to_string()), ..said },
                    ClearedBy::People(_) => said,
                }
            }
        }
    }
}

/// Where secrets stand in a hold: in its call's arguments and in the form that is filled in.
#[derive(Default)]
pub(super) struct Secrets {
    arguments: Vec<String>,
    form: Vec<String>,
    /// Nothing is known of the hold: whatever could hold a secret is left out.
    unknown: bool,
}

impl Secrets {
    pub(super) fn of(hold: &domain::hold::Hold) -> Secrets {
        Secrets {
            arguments: hold.call.as_ref().map(|call| call.secrets.clone()).unwrap_or_default(),
            form: match &hold.question {
                Question::Fill { schema: Some(schema) } => write_only_pointers(schema),
                _ => Vec::new(),
            },
            unknown: false,
        }
    }

    pub(super) fn unknown() -> Secrets {
        Secrets { unknown: true, ..Secrets::default() }
    }

    fn arguments(&self, value: &Value) -> Value {
        if self.unknown { redact(value, &[String::new()]) } else { redact(value, &self.arguments) }
    }

    fn form(&self, value: &Value) -> Value {
        if self.unknown { redact(value, &[String::new()]) } else { redact(value, &self.form) }
    }
}
