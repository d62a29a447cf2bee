//! What a receiver is told: that a hold is decided, and how.
//!
//! ```json
//! {"type":"hold.decided","timestamp":"2025-11-15T02:03:00.007Z",
//!  "data":{"hold":{"id":"hold_…","state":"approved","kind":"approve","title":"Ship 1.4",
//!    "digest":"sha256:…","opened_at":"…","call":{"tool":"deploy","arguments":{"tag":"1.4"}},
//!    "tag":"7Q2","requester":"gus","agent":"ops","opened_by":{"kind":"program","name":"ci"},
//!    "rule":"deploys need one","audience":{"people":["ana"],"roles":[],"quorum":1,"exclude_requester":false},
//!    "votes":[{"verdict":"approve","by":"ana","at":"…","via":"web"}],
//!    "decision":{"verdict":"approve","by":"ana","at":"…","via":"web"}}}}
//! ```
//! `timestamp` is the moment of the decision, expiry or cancellation. `call` is the call as it was
//! decided, which a person may have edited, or null. `decision` has the form of the API, is null
//! for an expired or cancelled hold, and has `"by":null` where a rule or a grant spoke.
//!
//! Nothing in here changes after the decision, so a repeat has the same bytes. Secret values stand
//! as `[secret]`; a caller who may know them reads the hold over the API.

use domain::answer::Answer;
use domain::call::Call;
use domain::grant::ClearedBy;
use domain::hold::{Decision, Hold, HoldState, Question, Vote};
use domain::json::Arguments;
use domain::person::{Actor, Audience, PersonId};
use domain::schema::{redact, write_only_pointers};
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Serialize)]
struct DecidedEvent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    hold: DecidedHold<'a>,
}

#[derive(Serialize)]
struct DecidedHold<'a> {
    id: String,
    state: &'static str,
    kind: &'static str,
    title: &'a str,
    digest: String,
    opened_at: String,
    tag: &'a str,
    /// The person for whom it is done.
    requester: Option<&'a str>,
    agent: Option<&'a str>,
    opened_by: Value,
    rule: Option<&'a str>,
    audience: Value,
    /// Every vote that counts, each in the form of `decision`.
    votes: Vec<Value>,
    call: Option<ToldCall<'a>>,
    decision: Option<Value>,
}

#[derive(Serialize)]
struct ToldCall<'a> {
    tool: &'a str,
    arguments: Value,
}

/// `None` while nothing is decided.
pub(super) fn decided_body(hold: &Hold) -> Option<Vec<u8>> {
    let event = DecidedEvent {
        kind: "hold.decided",
        timestamp: decided_at(&hold.state)?.to_string(),
        data: Data { hold: told_hold(hold) },
    };
    // Strings and JSON values only: writing them cannot fail.
    serde_json::to_vec(&event).ok()
}

/// The hold as programs are told of it, without any secret.
pub(super) fn hold_value(hold: &Hold) -> Value {
    serde_json::to_value(told_hold(hold)).unwrap_or_default()
}

fn told_hold(hold: &Hold) -> DecidedHold<'_> {
    DecidedHold {
        id: hold.id.to_string(),
        state: hold.state.name(),
        kind: hold.question.kind().name(),
        title: &hold.title,
        digest: hold.digest().to_string(),
        opened_at: hold.opened_at.to_string(),
        tag: &hold.tag,
        requester: hold.requester.as_ref().map(PersonId::as_str),
        agent: hold.agent(),
        opened_by: opener(&hold.opener),
        rule: hold.rule.as_deref(),
        audience: audience(&hold.audience),
        votes: hold.votes.iter().map(|vote| Value::Object(person(vote, hold))).collect(),
        call: hold.call().map(|call| ToldCall {
            tool: &call.tool,
            arguments: arguments(Some(call), &call.arguments),
        }),
        decision: hold.state.decision().map(|decision| decision_json(decision, hold)),
    }
}

fn opener(opener: &Actor) -> Value {
    match opener {
        Actor::Person(id) => json!({"kind": "person", "name": id.as_str()}),
        Actor::Program { name, .. } => json!({"kind": "program", "name": name}),
        Actor::Runtime => json!({"kind": "runtime", "name": null}),
    }
}

fn audience(audience: &Audience) -> Value {
    let people: Vec<&str> = audience.people.iter().map(PersonId::as_str).collect();
    json!({
        "people": people, "roles": audience.roles, "quorum": audience.quorum,
        "exclude_requester": audience.exclude_requester,
    })
}

pub(super) fn decided_at(state: &HoldState) -> Option<Timestamp> {
    match state {
        HoldState::Pending => None,
        HoldState::Approved(decision)
        | HoldState::Denied(decision)
        | HoldState::Answered(decision) => Some(decision.at()),
        HoldState::Expired { at } | HoldState::Cancelled { at, .. } => Some(*at),
    }
}

fn decision_json(decision: &Decision, hold: &Hold) -> Value {
    match decision {
        Decision::People { vote, .. } => Value::Object(person(vote, hold)),
        Decision::Automatic { allowed, by, at } => {
            let verdict = if *allowed { "approve" } else { "deny" };
            let (via, rule) = match by {
                ClearedBy::Rule(rule) => ("policy", rule.as_deref()),
                ClearedBy::Grant(_) => ("grant", None),
                ClearedBy::People(_) => ("people", None),
            };
            json!({"verdict": verdict, "by": null, "at": at.to_string(), "via": via, "rule": rule})
        }
    }
}

fn person(vote: &Vote, hold: &Hold) -> Map<String, Value> {
    let mut said = Map::new();
    let mut say = |name: &str, value: Value| {
        said.insert(name.into(), value);
    };
    match &vote.answer {
        Answer::Approve { arguments: edited, note, .. } => {
            say("verdict", "approve".into());
            if let Some(edited) = edited {
                say("arguments", arguments(hold.call().map(|call| &**call), edited));
            }
            if let Some(note) = note {
                say("note", note.as_str().into());
            }
        }
        Answer::Deny { reason, .. } => {
            say("verdict", "deny".into());
            if let Some(reason) = reason {
                say("reason", (**reason).into());
            }
        }
        Answer::Respond { content } => {
            say("verdict", "respond".into());
            say("content", content.as_str().into());
        }
        Answer::Choose(chosen) => say("choose", json!(chosen)),
        Answer::Fill(filled) => say("fill", form(&hold.question, filled)),
        Answer::Perform { content, is_error } => {
            say("perform", json!({"content": content, "is_error": is_error}));
        }
        Answer::Settle { how, content } => {
            say("settle", how.name().into());
            if let Some(content) = content {
                say("content", content.as_str().into());
            }
        }
    }
    say("by", vote.by.as_str().into());
    say("at", vote.at.to_string().into());
    say("via", vote.via.as_str().into());
    said
}

fn arguments(call: Option<&Call>, arguments: &Arguments) -> Value {
    redact(arguments.value(), call.map_or(&[], |call| &call.secrets))
}

fn form(question: &Question, filled: &Value) -> Value {
    match question {
        Question::Fill { schema: Some(schema) } => redact(filled, &write_only_pointers(schema)),
        _ => filled.clone(),
    }
}

#[cfg(test)]
mod tests {

    use domain::hold::{CallOnHold, CancelReason, HoldChange, HoldOrigin, HoldOutcome};
    use domain::outcome::ToolResult;

    use super::super::sample::{approve, at, decided, hold, hold_with_secret};
    use super::*;

    fn decision_json(hold: &Hold) -> Value {
        serde_json::from_slice(&decided_body(hold).unwrap()).unwrap()
    }

    fn decision(question: Question, answer: Answer) -> Value {
        let mut hold = hold();
        hold.question = question;
        decision_json(&decided(hold, answer))["data"]["hold"]["decision"].clone()
    }

    #[test]
    fn a_receiver_is_told_what_was_asked_of_whom_and_what_was_said() {
        let mut hold = hold();
        hold.requester = Some(PersonId::new("gus"));
        hold.origin = HoldOrigin::RunningCall { agent: "ops".into() };
        hold.rule = Some("deploys need one".into());
        let hold = decided(hold, approve(None));
        let said = json!({
            "verdict": "approve", "by": "ana", "at": "2025-11-15T02:03:05.000Z", "via": "web",
        });
        assert_eq!(
            decision_json(&hold),
            json!({
                "type": "hold.decided",
                "timestamp": "2025-11-15T02:03:05.000Z",
                "data": {"hold": {
                    "id": hold.id.to_string(),
                    "state": "approved",
                    "kind": "approve",
                    "title": "Ship 1.4",
                    "digest": hold.digest().to_string(),
                    "opened_at": "2025-11-15T02:03:00.000Z",
                    "tag": hold.tag,
                    "requester": "gus",
                    "agent": "ops",
                    "opened_by": {"kind": "runtime", "name": null},
                    "rule": "deploys need one",
                    "audience": {
                        "people": ["ana"], "roles": [], "quorum": 1, "exclude_requester": false,
                    },
                    "votes": [said],
                    "call": {"tool": "deploy", "arguments": {"tag": "1.4"}},
                    "decision": said,
                }},
            })
        );
    }

    #[test]
    fn a_repeat_has_the_same_bytes_whatever_happened_since() {
        let mut hold = decided(hold(), approve(None));
        let first = decided_body(&hold).unwrap();
        hold.changed(&HoldChange::Outcome(HoldOutcome::Succeeded(ToolResult::output("done"))));
        assert_eq!(decided_body(&hold).unwrap(), first);
    }

    #[test]
    fn every_answer_has_the_form_of_the_api() {
        let when = |mut said: Value| {
            said["by"] = "ana".into();
            said["at"] = "2025-11-15T02:03:05.000Z".into();
            said["via"] = "web".into();
            said
        };
        let choose = Question::Choose { options: Vec::new(), multiple: true, allow_other: true };
        for (question, answer, said) in [
            (
                Question::Approve,
                Answer::Deny { reason: Some("not today".into()), stop: false },
                json!({"verdict": "deny", "reason": "not today"}),
            ),
            (
                Question::Approve,
                Answer::Deny { reason: None, stop: false },
                json!({"verdict": "deny"}),
            ),
            (
                Question::Approve,
                Answer::Respond { content: "use 1.5".into() },
                json!({"verdict": "respond", "content": "use 1.5"}),
            ),
            (
                choose,
                Answer::Choose(vec!["1".into(), "Other".into()]),
                json!({"choose": ["1", "Other"]}),
            ),
            (
                Question::Fill { schema: None },
                Answer::Fill(json!({"text": "hi"})),
                json!({"fill": {"text": "hi"}}),
            ),
            (
                Question::Perform { deny_values: Vec::new() },
                Answer::Perform { content: "clicked".into(), is_error: false },
                json!({"perform": {"content": "clicked", "is_error": false}}),
            ),
            (
                Question::Settle,
                Answer::Settle { how: domain::answer::Settlement::Failed, content: None },
                json!({"settle": "failed"}),
            ),
        ] {
            assert_eq!(decision(question, answer), when(said));
        }
    }

    #[test]
    fn what_nobody_answered_has_no_decision() {
        for (state, name) in [
            (HoldState::Expired { at: at(9) }, "expired"),
            (
                HoldState::Cancelled {
                    by: Actor::Runtime,
                    reason: CancelReason::Unstated,
                    at: at(9),
                },
                "cancelled",
            ),
        ] {
            let mut hold = hold();
            hold.decided(state);
            let told = decision_json(&hold);
            assert_eq!(told["timestamp"], "2025-11-15T02:03:09.000Z");
            assert_eq!(told["data"]["hold"]["state"], name);
            assert_eq!(told["data"]["hold"]["decision"], Value::Null);
        }
        assert!(decided_body(&hold()).is_none(), "nothing to tell yet");
    }

    #[test]
    fn a_rule_is_told_apart_from_a_person() {
        let mut hold = hold();
        let by = ClearedBy::Rule(Some("patches are fine".into()));
        hold.decided(HoldState::Approved(Decision::Automatic { allowed: true, by, at: at(0) }));
        assert_eq!(
            decision_json(&hold)["data"]["hold"]["decision"],
            json!({
                "verdict": "approve", "by": null, "at": "2025-11-15T02:03:00.000Z",
                "via": "policy", "rule": "patches are fine",
            })
        );
    }

    #[test]
    fn i45_no_secret_is_told() {
        let edited = Arguments::parse(br#"{"tag":"1.5","token":"hunter3"}"#).unwrap();
        let mut hold = hold_with_secret("hunter2");
        let before = decided_body(&decided(hold.clone(), approve(None))).unwrap();
        let call = hold.call().unwrap();
        let (definition, policy) = (call.definition, call.policy);
        let revised = call.revised(edited.clone(), Default::default(), definition, policy);
        hold.call_on_hold = Some(CallOnHold::new(revised));
        let after = decided(hold, approve(Some(edited)));
        assert_eq!(
            decision_json(&after)["data"]["hold"]["call"]["arguments"],
            json!({"tag": "1.5", "token": "[secret]"})
        );
        assert_eq!(
            decision_json(&after)["data"]["hold"]["decision"]["arguments"],
            json!({"tag": "1.5", "token": "[secret]"})
        );
        let schema = json!({"properties": {"pin": {"writeOnly": true}}});
        let question = Question::Fill { schema: Some(schema) };
        let filled = decision(question, Answer::Fill(json!({"user": "ana", "pin": "hunter4"})));
        assert_eq!(filled["fill"], json!({"user": "ana", "pin": "[secret]"}));
        for bytes in [before, decided_body(&after).unwrap()] {
            assert!(!String::from_utf8(bytes).unwrap().contains("hunter"));
        }
    }
}
