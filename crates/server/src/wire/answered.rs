//! Answers that were given, without the secrets in them.

use std::borrow::Cow;

use domain::answer::{Answer, ApprovalScope};
use domain::digest::Digest;
use domain::grant::ClearedBy;
use domain::hold::{Decision, Question, Vote};
use domain::id::GrantId;
use domain::person::PersonId;
use domain::schema::{redact, redacted, write_only_pointers};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::auth::Auth;
use super::text::Text;

/// An answer that was given, or what stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choose: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    perform: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settle: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    /// In words: what a grant has in place of what was asked for, where that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_clamped: Option<String>,
    /// Edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<bool>,
    /// Null when no person was asked: then `rule` or `grant` says on whose word.
    by: Option<Text<&'a PersonId>>,
    at: Text<Timestamp>,
    via: &'a str,
    /// How this person was authenticated, and through whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<Auth<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<Text<GrantId>>,
    /// Of what was on the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Text<Digest>>,
    /// Of the text that this person was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Text<Digest>>,
    /// Everybody whose vote counted, in a decision by people.
    #[serde(skip_serializing_if = "Option::is_none")]
    voters: Option<Vec<Text<&'a PersonId>>>,
}

impl<'a> Answered<'a> {
    fn new(at: Timestamp, via: &'a str) -> Answered<'a> {
        Answered {
            verdict: None,
            choose: None,
            fill: None,
            perform: None,
            settle: None,
            scope: None,
            grant_clamped: None,
            arguments: None,
            content: None,
            note: None,
            reason: None,
            stop: None,
            by: None,
            at: Text(at),
            via,
            auth: None,
            rule: None,
            grant: None,
            digest: None,
            view: None,
            voters: None,
        }
    }

    pub(super) fn vote(vote: &'a Vote, secrets: &Secrets) -> Answered<'a> {
        let said = Answered {
            by: Some(Text(&vote.by)),
            auth: Some(Auth::of(&vote.proof)),
            digest: Some(Text(vote.digest)),
            view: Some(Text(vote.view)),
            ..Answered::new(vote.at, &vote.via)
        };
        match &vote.answer {
            Answer::Approve { scope, arguments, note } => Answered {
                verdict: Some("approve"),
                scope: Some(match scope {
                    ApprovalScope::Once => "once",
                    ApprovalScope::Session(_) => "session",
                }),
                grant_clamped: match scope {
                    ApprovalScope::Once => None,
                    ApprovalScope::Session(terms) => terms.clamped(),
                },
                arguments: arguments.as_ref().map(|arguments| secrets.arguments(arguments.value())),
                note: note.as_deref(),
                ..said
            },
            Answer::Deny { reason, stop } => Answered {
                verdict: Some("deny"),
                reason: reason.as_deref(),
                stop: stop.then_some(true),
                ..said
            },
            Answer::Respond { content } => {
                Answered { verdict: Some("respond"), content: Some(content), ..said }
            }
            Answer::Choose(chosen) => Answered { choose: Some(chosen), ..said },
            Answer::Fill(form) => Answered { fill: Some(secrets.form(form)), ..said },
            Answer::Perform { content, is_error } => Answered {
                perform: Some(json!({"content": content, "is_error": is_error})),
                ..said
            },
            Answer::Settle { how, content } => {
                Answered { settle: Some(how.name()), content: content.as_deref(), ..said }
            }
        }
    }

    pub(super) fn decision(decision: &'a Decision, secrets: &Secrets) -> Answered<'a> {
        match decision {
            Decision::People { vote, voters } => Answered {
                voters: Some(voters.iter().map(Text).collect()),
                ..Answered::vote(vote, secrets)
            },
            Decision::Automatic { allowed, by, at } => {
                let said = Answered {
                    verdict: Some(if *allowed { "approve" } else { "deny" }),
                    ..Answered::new(*at, "policy")
                };
                match by {
                    ClearedBy::Rule(rule) => {
                        Answered { rule: Some(rule.as_deref().unwrap_or("default")), ..said }
                    }
                    ClearedBy::Grant(grant) => Answered { grant: Some(Text(*grant)), ..said },
                    ClearedBy::People(_) => said,
                }
            }
        }
    }
}

/// Where secrets stand in a hold: in its call's arguments and in the form that is filled in.
pub(super) struct Secrets<'a> {
    arguments: &'a [String],
    form: Vec<String>,
    /// Nothing is known of the hold: whatever could hold a secret is left out.
    unknown: bool,
}

impl<'a> Secrets<'a> {
    pub(super) fn of(hold: &'a domain::hold::Hold) -> Secrets<'a> {
        Secrets {
            arguments: hold.call().map_or(&[], |call| &call.secrets),
            form: match &hold.question {
                Question::Fill { schema: Some(schema) } => write_only_pointers(schema),
                _ => Vec::new(),
            },
            unknown: false,
        }
    }

    pub(super) fn unknown() -> Secrets<'a> {
        Secrets { arguments: &[], form: Vec::new(), unknown: true }
    }

    fn arguments<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        if self.unknown { everything(value) } else { redacted(value, self.arguments) }
    }

    fn form<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        if self.unknown { everything(value) } else { redacted(value, &self.form) }
    }
}

/// All of it may be secret.
fn everything(value: &Value) -> Cow<'_, Value> {
    Cow::Owned(redact(value, &[String::new()]))
}

#[cfg(test)]
mod tests {
    use domain::person::Proof;

    use super::*;

    #[test]
    fn a_form_is_told_without_its_secrets_and_not_at_all_when_nobody_knows_them() {
        let vote = Vote {
            answer: Answer::Fill(json!({"user": "bob", "password": "hunter2"})),
            by: PersonId::new("ana"),
            at: Timestamp::from_ms(0),
            via: "web".into(),
            proof: Proof::Login,
            digest: Digest::of(b"asked"),
            view: Digest::of(b"shown"),
        };
        let told = |secrets| json!(Answered::vote(&vote, &secrets))["fill"].clone();
        let form = vec!["/password".to_owned()];
        let known = told(Secrets { arguments: &[], form, unknown: false });
        assert_eq!(known, json!({"user": "bob", "password": "[secret]"}));
        assert_eq!(told(Secrets::unknown()), json!("[secret]"));
    }
}
