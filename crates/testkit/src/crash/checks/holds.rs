//! Answers: none is lost, and none stands that nobody gave.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Found, text};
use crate::crash::phases::Facts;
use crate::crash::world::BRIEF;
use crate::oracle::Known;

pub fn holds(known: &Known, found: &Found, facts: &Facts, person: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let holds: BTreeMap<&str, &Value> =
        found.holds.iter().map(|hold| (text(hold, "id"), hold)).collect();
    if holds.len() != found.holds.len() {
        wrong.push("holds: the list names one twice".into());
    }
    for (id, given) in &known.answers {
        let Some(hold) = holds.get(id.as_str()) else {
            if given.acked {
                wrong.push(format!("LOST: {id} was answered with {}, and is gone", given.answer));
            }
            continue;
        };
        let (word, value, state) = given.means();
        let decision = &hold["decision"];
        let stands = decision[word] == value && hold["state"] == state;
        let seen =
            text(decision, "digest") == given.digest && hold["digest"] == given.digest.as_str();
        if given.acked && !(stands && seen && decision["by"] == person) {
            wrong.push(format!(
                "LOST: {id} was answered with {}, and now it is {} by {decision}",
                given.answer, hold["state"]
            ));
        }
    }
    for (id, hold) in &holds {
        let decided = matches!(text(hold, "state"), "approved" | "denied" | "answered");
        match known.answers.get(*id) {
            Some(given) if decided && text(hold, "state") == given.means().2 => {}
            Some(given) => wrong
                .push(format!("holds: {id} is {}, but {} was said", hold["state"], given.answer)),
            None if text(hold, "state") == "expired" && hold["call"]["tool"] == BRIEF => {}
            None => {
                wrong.push(format!("holds: {id} is {}, and nobody ever answered it", hold["state"]))
            }
        }
        let doubted = facts.in_doubt.get(*id).map(String::as_str);
        let settles = (text(hold, "kind") == "settle").then(|| text(&hold["call"], "id"));
        if doubted != settles {
            wrong.push(format!(
                "holds: {id} settles {settles:?}, but the journal doubts {doubted:?}"
            ));
        }
        // What ended three servers is not begun again by itself.
        let given_up = text(&hold["context"], "evidence").contains("each time the server ended");
        if settles.is_some() && hold["call"]["effects"] != "at_most_once" && !given_up {
            wrong.push(format!("holds: {id} asks about a call that could simply run again"));
        }
    }
    for (id, call) in facts.in_doubt.iter().filter(|(id, _)| !holds.contains_key(id.as_str())) {
        wrong.push(format!("holds: the doubt about {call} has no hold {id}"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::oracle::Given;

    fn answered(acked: bool) -> Known {
        let answer = json!({"verdict": "approve", "scope": "once"});
        let given = Given { answer, digest: "sha256:1".into(), acked };
        Known { answers: [("hold_1".to_owned(), given)].into(), ..Known::default() }
    }

    fn approved() -> Value {
        json!({"id": "hold_1", "kind": "approve", "state": "approved", "digest": "sha256:1",
            "call": {"id": "call_1", "effects": "at_most_once"},
            "decision": {"verdict": "approve", "by": "ana", "digest": "sha256:1"}})
    }

    fn check(known: &Known, hold: Option<Value>) -> String {
        let found = Found { holds: hold.into_iter().collect(), ..Found::default() };
        holds(known, &found, &Facts::default(), "ana").join("\n")
    }

    fn with(pointer: &str, value: Value) -> Value {
        let mut hold = approved();
        *hold.pointer_mut(pointer).unwrap() = value;
        hold
    }

    #[test]
    fn an_answer_that_stands_is_fine() {
        assert_eq!(check(&answered(true), Some(approved())), "");
        assert_eq!(check(&answered(false), Some(approved())), "");
        assert_eq!(check(&answered(false), None), "");
    }

    #[test]
    fn lost_and_changed_answers_are_found() {
        assert!(check(&answered(true), None).contains("LOST"));
        for changed in [
            with("/state", json!("pending")),
            with("/state", json!("denied")),
            with("/decision", Value::Null),
            with("/decision/verdict", json!("deny")),
            with("/decision/by", json!("bob")),
            with("/decision/digest", json!("sha256:2")),
        ] {
            assert!(check(&answered(true), Some(changed.clone())).contains("LOST"), "{changed}");
        }
    }

    #[test]
    fn decisions_and_doubts_out_of_nowhere_are_found() {
        let nobody = Known::default();
        assert!(check(&nobody, Some(approved())).contains("nobody ever answered"));
        assert!(
            check(&nobody, Some(with("/state", json!("expired")))).contains("nobody ever answered")
        );
        assert!(
            check(&answered(true), Some(with("/kind", json!("settle"))))
                .contains("the journal doubts None")
        );
        let facts =
            Facts { in_doubt: [("hold_9".into(), "call_1".into())].into(), ..Facts::default() };
        let wrong = holds(&nobody, &Found::default(), &facts, "ana");
        assert_eq!(wrong, ["holds: the doubt about call_1 has no hold hold_9"]);
    }
}
