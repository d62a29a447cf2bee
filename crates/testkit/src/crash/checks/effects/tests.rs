use serde_json::json;

use super::*;

/// A world with one call, told by what people said and what the tool did.
struct Case {
    tool: &'static str,
    holds: Vec<Value>,
    keys: Vec<&'static str>,
    output: &'static str,
    state: &'static str,
    /// How often the statement of `notes` changed something.
    changes: u64,
}

const SQL: &str = "INSERT INTO notes VALUES ('n')";

fn case() -> Case {
    Case {
        tool: "witness",
        holds: vec![approve("hold_1", "approved", "succeeded")],
        keys: vec!["call_1-1"],
        output: "did call_1-1",
        state: "output-available",
        changes: 0,
    }
}

fn noted() -> Case {
    let mut holds = case().holds;
    holds[0]["call"]["arguments"] = json!({"sql": SQL});
    Case { tool: "notes", holds, keys: vec![], output: r#"{"rows":1}"#, changes: 1, ..case() }
}

fn approve(id: &str, state: &str, outcome: &str) -> Value {
    json!({"id": id, "kind": "approve", "state": state, "outcome": {"state": outcome},
        "call": {"id": "call_1", "arguments": {"note": "n"}}})
}

fn settle(id: &str, how: &str, parent: &str) -> Value {
    json!({"id": id, "kind": "settle", "state": "answered", "parent": parent,
        "decision": {"settle": how}, "call": {"id": "call_1", "arguments": {"note": "n"}}})
}

impl Case {
    fn found(&self) -> Found {
        let lines = self.keys.iter().map(|key| Line {
            call: "call_1".into(),
            key: (*key).into(),
            attempt: 1,
            input: json!({"note": "n"}),
        });
        let (witness, ledger) = match self.tool {
            "ledger" => (Vec::new(), lines.collect()),
            _ => (lines.collect(), Vec::new()),
        };
        let call = json!({"type": "tool-call", "toolCallId": "call_1", "toolName": self.tool,
            "state": self.state, "input": self.input()});
        let result = json!({"type": "tool-result", "toolCallId": "call_1", "output": self.output,
            "isError": self.state != "output-available"});
        let messages = json!([{"parts": [call]}, {"parts": [result]}]);
        let sessions = vec![json!({"messages": messages})];
        let notes =
            (self.changes > 0).then(|| (SQL.to_owned(), self.changes)).into_iter().collect();
        Found { holds: self.holds.clone(), sessions, witness, ledger, notes }
    }

    fn input(&self) -> Value {
        if self.tool == "notes" { json!({"sql": SQL}) } else { json!({"note": "n"}) }
    }

    fn check(&self) -> String {
        let facts = Facts { started: [("call_1".to_owned(), 1)].into(), ..Facts::default() };
        effects(&self.found(), &facts).join("\n")
    }

    #[track_caller]
    fn is_fine(&self) {
        assert_eq!(self.check(), "");
    }

    #[track_caller]
    fn is_wrong(&self, because: &str) {
        let wrong = self.check();
        assert!(wrong.contains(because), "{wrong:?}");
    }
}

fn denied() -> Case {
    Case {
        holds: vec![approve("hold_1", "denied", "")],
        keys: vec![],
        output: "Denied by Ana: no",
        state: "output-denied",
        ..case()
    }
}

fn settled(how: &str) -> Vec<Value> {
    vec![approve("hold_1", "approved", how), settle("hold_2", how, "hold_1")]
}

#[test]
fn honest_stories_are_fine() {
    case().is_fine();
    denied().is_fine();
    Case { tool: "auto", holds: vec![], ..case() }.is_fine();
    Case { tool: "ledger", keys: vec!["call_1-1", "call_1-1"], ..case() }.is_fine();
    Case { holds: settled("succeeded"), output: "Ana confirmed it.", ..case() }.is_fine();
    let failed = Case {
        holds: settled("failed"),
        keys: vec![],
        output: "it failed",
        state: "output-error",
        ..case()
    };
    failed.is_fine();
    let mut holds = settled("retry");
    holds[0] = approve("hold_1", "approved", "failed");
    holds.push(approve("hold_3", "approved", "succeeded"));
    Case { holds, keys: vec!["call_1-2"], output: "did call_1-2", ..case() }.is_fine();
}

#[test]
fn a_second_execution_is_found() {
    Case { keys: vec!["call_1-1", "call_1-1"], ..case() }.is_wrong("TWICE");
    Case { keys: vec!["call_1-1", "call_1-2"], ..case() }.is_wrong("with leave for 1");
    let auto = Case { tool: "auto", holds: vec![], keys: vec!["call_1-1", "call_1-1"], ..case() };
    auto.is_wrong("TWICE");
}

#[test]
fn an_effect_without_leave_is_found() {
    Case { keys: vec!["call_1-1"], ..denied() }.is_wrong("with leave for 0");
    Case { holds: vec![], ..case() }.is_wrong("without being held");
    let wrong = effects(&case().found(), &Facts::default());
    assert!(wrong[0].contains("whose start was not written"), "{wrong:?}");
    let mut found = case().found();
    found.sessions.clear();
    assert!(effects(&found, &Facts::default())[0].contains("no transcript knows it"));
}

#[test]
fn a_false_word_about_an_effect_is_found() {
    let untold =
        Case { holds: settled("failed"), output: "it failed", state: "output-error", ..case() };
    untold.is_wrong("settled as failed, and left 1 lines");
    let unseen =
        Case { holds: settled("succeeded"), keys: vec![], output: "Ana confirmed it.", ..case() };
    unseen.is_wrong("settled as succeeded, and left 0 lines");
    Case { keys: vec![], ..case() }.is_wrong("0 lines say so");
    let failed = vec![approve("hold_1", "approved", "failed")];
    Case { holds: failed, output: "it failed", state: "output-error", ..case() }
        .is_wrong("left 1 lines");
    let executing = vec![approve("hold_1", "approved", "executing")];
    Case { holds: executing, ..case() }.is_wrong("its hold says \"executing\"");
    let mut holds = settled("succeeded");
    holds[0] = approve("hold_1", "approved", "failed");
    Case { holds, output: "Ana confirmed it.", ..case() }.is_wrong("but its hold says");
    Case { state: "output-error", ..denied() }
        .is_wrong("ends with a hold to approve that is denied");
}

#[test]
fn other_bytes_are_found() {
    let mut found = case().found();
    found.witness[0].input = json!({"note": "other"});
    let facts = Facts { started: [("call_1".to_owned(), 1)].into(), ..Facts::default() };
    assert!(effects(&found, &facts)[0].contains("was proposed with"));
    let mut holds = case().holds;
    holds[0]["call"]["arguments"]["note"] = json!("other");
    Case { holds, ..case() }.is_wrong("was shown as");
}

#[test]
fn a_look_must_show_what_is_there() {
    let look =
        Case { tool: "look", holds: vec![], keys: vec![], output: r#"saw {"note":"n"}"#, ..case() };
    look.is_fine();
    Case { output: "saw nothing", ..look }.is_wrong("was told");
}

#[test]
fn a_change_of_a_database_happens_once_and_as_told() {
    noted().is_fine();
    Case { changes: 2, ..noted() }.is_wrong("TWICE");
    Case { changes: 0, ..noted() }.is_wrong("left 0 lines and 0 changes");
    let failed = Case { output: "Nothing was changed", state: "output-error", ..noted() };
    failed.is_wrong("but its hold says");
    let mut found = noted().found();
    found.sessions.clear();
    assert!(effects(&found, &Facts::default())[0].contains("no transcript knows it"));
}

#[test]
fn what_expired_did_not_run() {
    let expired = Case {
        tool: BRIEF,
        holds: vec![approve("hold_1", "expired", "")],
        keys: vec![],
        output: "Nobody answered.",
        state: "output-error",
        ..case()
    };
    expired.is_fine();
    Case { keys: vec!["call_1-1"], ..expired }.is_wrong("with leave for 0");
}
