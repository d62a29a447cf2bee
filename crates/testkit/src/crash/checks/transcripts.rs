//! Transcripts: every message is there once, every call has its result, and the model saw them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Found, items, text};
use crate::oracle::{Known, Said};

pub fn transcripts(known: &Known, found: &Found) -> Vec<String> {
    let mut wrong = Vec::new();
    let opened: BTreeSet<&str> = known.sessions.values().flatten().map(String::as_str).collect();
    let listed: BTreeMap<&str, &Value> =
        found.sessions.iter().map(|session| (text(session, "id"), session)).collect();
    if opened.len() != known.sessions.len() {
        wrong.push(format!(
            "sessions: {} were asked for, and {} opened",
            known.sessions.len(),
            opened.len()
        ));
    }
    if opened != listed.keys().copied().collect() || listed.len() != found.sessions.len() {
        wrong.push(format!(
            "sessions: {} were opened, and {} are there",
            opened.len(),
            found.sessions.len()
        ));
    }
    let nothing = Vec::new();
    for (id, session) in listed {
        let said = known.said.get(id).unwrap_or(&nothing);
        wrong.extend(
            transcript(session, said).into_iter().map(|what| format!("transcript of {id}: {what}")),
        );
    }
    let calls = found.calls();
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id).collect();
    if ids.len() != calls.len() {
        wrong.push("transcripts: a call id stands in two places".into());
    }
    wrong
}

fn transcript(session: &Value, said: &[Said]) -> Vec<String> {
    let mut wrong = Vec::new();
    if !said.is_empty() && session["run"]["status"] != "completed" {
        wrong.push(format!("its last run is {}", session["run"]));
    }
    if items(&session["queued"]).next().is_some() || items(&session["pending"]).next().is_some() {
        wrong.push("something still waits".into());
    }
    let messages: Vec<&Value> = items(&session["messages"]).collect();
    let heard: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| words(message))
        .collect();
    let sent: Vec<&str> = said.iter().map(|said| said.text.as_str()).collect();
    if heard != sent {
        wrong.push(format!("INVALID: {sent:?} were said, and {heard:?} are there"));
    }
    for (at, message) in messages.iter().enumerate() {
        let next = messages.get(at + 1).copied().unwrap_or(&Value::Null);
        wrong.extend(step(message, next).map(|what| format!("INVALID at message {at}: {what}")));
    }
    wrong
}

/// What is wrong between a message and the next.
fn step(message: &Value, next: &Value) -> Option<String> {
    let calls = ids(message, "tool-call");
    match text(message, "role") {
        "assistant" if calls.is_empty() => match text(next, "role") {
            "" | "user" => None,
            other => Some(format!("a message of role {other} follows a last word")),
        },
        "assistant" => {
            let results = ids(next, "tool-result");
            (next["role"] != "tool" || calls != results)
                .then(|| format!("the calls {calls:?} are followed by the results {results:?}"))
        }
        // The model repeats what it was told, so its word tells what it saw.
        "tool" => {
            let told: Vec<&str> =
                items(&message["parts"]).map(|part| text(part, "output")).collect();
            let told = format!("told: {}", told.join("\n"));
            (next["role"] != "assistant" || words(next) != told).then(|| {
                format!("the results were {told:?}, and the model then said {:?}", words(next))
            })
        }
        "user" => {
            (next["role"] != "assistant").then(|| "no answer of the model follows".to_owned())
        }
        other => Some(format!("nobody has the role {other:?}")),
    }
}

fn words(message: &Value) -> String {
    items(&message["parts"])
        .filter(|part| part["type"] == "text")
        .map(|part| text(part, "text"))
        .collect()
}

fn ids<'a>(message: &'a Value, kind: &str) -> Vec<&'a str> {
    items(&message["parts"])
        .filter(|part| part["type"] == kind)
        .map(|part| text(part, "toolCallId"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sound() -> Vec<Value> {
        let call = |id: &str| json!({"type": "tool-call", "toolCallId": id});
        let result = |id: &str| json!({"type": "tool-result", "toolCallId": id, "output": id});
        let text = |text: &str| json!({"type": "text", "text": text});
        vec![
            json!({"role": "user", "parts": [text("pair x")]}),
            json!({"role": "assistant", "parts": [text("Both."), call("a"), call("b")]}),
            json!({"role": "tool", "parts": [result("a"), result("b")]}),
            json!({"role": "assistant", "parts": [text("told: a\nb")]}),
        ]
    }

    fn check(messages: Vec<Value>) -> String {
        let session = json!({"run": {"status": "completed"}, "queued": [], "pending": [], "messages": messages});
        let said = [Said { text: "pair x".into(), run: Some("run_1".into()) }];
        transcript(&session, &said).join("\n")
    }

    #[test]
    fn a_broken_pairing_is_found() {
        assert_eq!(check(sound()), "");
        for break_it in [
            |messages: &mut Vec<Value>| messages[2]["parts"].as_array_mut().unwrap().reverse(),
            |messages: &mut Vec<Value>| drop(messages[2]["parts"].as_array_mut().unwrap().pop()),
            |messages: &mut Vec<Value>| {
                let again = messages[2]["parts"][0].clone();
                messages[2]["parts"].as_array_mut().unwrap().push(again);
            },
            |messages: &mut Vec<Value>| drop(messages.remove(2)),
            |messages: &mut Vec<Value>| messages.truncate(2),
            |messages: &mut Vec<Value>| messages.truncate(3),
            |messages: &mut Vec<Value>| messages.insert(3, messages[2].clone()),
            |messages: &mut Vec<Value>| messages.push(messages[2].clone()),
            |messages: &mut Vec<Value>| messages[3]["parts"][0]["text"] = json!("told: a"),
        ] {
            let mut messages = sound();
            break_it(&mut messages);
            assert!(check(messages.clone()).contains("INVALID"), "{messages:?}");
        }
    }

    #[test]
    fn a_message_lost_or_doubled_is_found() {
        assert!(check(Vec::new()).contains("were said"));
        assert!(check([sound(), sound()].concat()).contains("were said"));
    }

    #[test]
    fn a_session_lost_doubled_or_unfinished_is_found() {
        let known = Known {
            sessions: [("k".to_owned(), Some("ses_1".to_owned()))].into(),
            ..Known::default()
        };
        let session = |id: &str| json!({"id": id, "messages": []});
        let check = |ids: &[&str]| {
            let sessions = ids.iter().map(|id| session(id)).collect();
            transcripts(&known, &Found { sessions, ..Found::default() }).join("\n")
        };
        assert_eq!(check(&["ses_1"]), "");
        assert!(check(&[]).contains("0 are there"));
        assert!(check(&["ses_1", "ses_2"]).contains("2 are there"));
        let said = [Said { text: "say x".into(), run: None }];
        let open = json!({"run": {"status": "paused"}, "pending": [{}], "messages": []});
        assert!(transcript(&open, &said).join("\n").contains("something still waits"));
    }
}
