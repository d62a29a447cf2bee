//! Where a kill landed, told from the database that it left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::journal::{Journal, Row};
use crate::oracle::Errand;

/// How often each phase was hit. A kill hits one phase of every session that had work under way.
pub type Phases = BTreeMap<String, u64>;

/// Follows the journal from kill to kill.
#[derive(Debug, Default)]
pub(super) struct Follower {
    last: Option<(u64, Vec<u8>)>,
    sessions: BTreeMap<String, Session>,
    pub(super) facts: Facts,
}

/// What the journal says about calls.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Attempts whose start was written down.
    pub started: BTreeSet<(String, u64)>,
    /// Settle holds, with the call that they are about.
    pub in_doubt: BTreeMap<String, String>,
    /// SQL that was proposed, with the call that would run it.
    pub statements: BTreeMap<String, String>,
}

#[derive(Debug, Default)]
struct Session {
    active: bool,
    has_results: bool,
    running: BTreeSet<String>,
    pending: BTreeSet<String>,
}

impl Follower {
    /// Reads on where it stopped, and says what is wrong with what it had read before.
    pub(super) fn read_on(&mut self, database: &Path) -> Result<Journal, String> {
        let journal = Journal::open_copy(database)?;
        let after = match &self.last {
            Some((global, hash)) if journal.hash_at(*global).as_ref() == Some(hash) => *global,
            // The hash covers everything before it, too.
            Some((global, _)) => {
                return Err(format!("the journal up to {global} is not what it was before"));
            }
            None => 0,
        };
        for row in journal.after(after)? {
            self.take(&row);
            self.last = Some((row.global, row.hash));
        }
        Ok(journal)
    }

    pub(super) fn take(&mut self, row: &Row) {
        let session = self.sessions.entry(row.stream.clone()).or_default();
        for event in row.events.iter() {
            let Some((name, body)) = event.as_object().and_then(|object| object.iter().next())
            else {
                continue;
            };
            let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
            match name.as_str() {
                "run_started" => (session.active, session.has_results) = (true, false),
                "run_completed" | "run_failed" | "run_cancelled" => session.active = false,
                "message_added" if body["message"]["role"] == "tool" => session.has_results = true,
                "message_added" => self.facts.statements.extend(statements(&body["message"])),
                "hold_opened" => {
                    session.pending.insert(body["hold"]["id"].as_str().unwrap_or_default().into());
                }
                "hold_decided" => {
                    session.pending.remove(&text("hold"));
                }
                "call_started" => {
                    session.running.insert(text("call"));
                    let attempt = body["attempt"].as_u64().unwrap_or_default();
                    self.facts.started.insert((text("call"), attempt));
                }
                "call_in_doubt" => {
                    session.running.remove(&text("call"));
                    self.facts.in_doubt.insert(text("settle"), text("call"));
                }
                "call_settled" => {
                    session.running.remove(&text("call"));
                }
                _ => {}
            }
        }
    }

    /// Where every session is that has something under way. `has_seen` tells whether a call's
    /// effect is in the world already.
    pub(super) fn phases(&self, has_seen: impl Fn(&str) -> bool) -> Phases {
        let mut phases = Phases::new();
        for session in self.sessions.values().filter(|session| session.active) {
            let doubtful = |hold: &String| self.facts.in_doubt.contains_key(hold);
            let phase = if let Some(call) = session.running.first() {
                match has_seen(call) {
                    true => "executing, effect done",
                    false => "executing, no effect yet",
                }
            } else if session.pending.iter().any(doubtful) {
                "in doubt, waiting for a person"
            } else if !session.pending.is_empty() {
                "waiting for an answer"
            } else if session.has_results {
                "thinking about results"
            } else {
                "thinking about a message"
            };
            *phases.entry(phase.into()).or_default() += 1;
        }
        phases
    }
}

/// The SQL in the calls of a message.
fn statements(message: &Value) -> Vec<(String, String)> {
    let parts = message["parts"].as_array().into_iter().flatten();
    let read = |part: &Value| {
        let input = part["call"]["input"].as_str()?;
        let input: Value = serde_json::from_str(input).ok()?;
        Some((input["sql"].as_str()?.to_owned(), part["call"]["call"].as_str()?.to_owned()))
    };
    parts.filter_map(read).collect()
}

/// Requests that were under way when the server died: some had been written, and only the word of
/// it was lost.
pub(super) fn in_flight(journal: &Journal, requests: &BTreeMap<String, Errand>) -> Phases {
    let mut phases = Phases::new();
    for (key, errand) in requests {
        let fate = if journal.has_reply(key) { "on disk" } else { "not on disk" };
        *phases.entry(format!("{} in flight, {fate}", errand.name())).or_default() += 1;
    }
    phases
}

/// The events of a whole journal, in the same words.
pub(super) fn facts(rows: &[Row]) -> Facts {
    let mut follower = Follower::default();
    rows.iter().for_each(|row| follower.take(row));
    follower.facts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(events: &[Value]) -> Row {
        let (count, stream) = (events.len() as u64, "ses_a".to_owned());
        Row {
            global: 1,
            first: 1,
            count,
            seq: 1,
            hash: Vec::new(),
            stream,
            events: events.to_vec(),
        }
    }

    #[test]
    fn every_phase_of_a_call_is_told_apart() {
        let mut follower = Follower::default();
        let mut phase = |event: Value, seen: bool| {
            follower.take(&row(&[event]));
            follower.phases(|_| seen).into_keys().collect::<Vec<_>>().join(", ")
        };
        let hold = |id: &str| json!({"hold_opened": {"hold": {"id": id}}});
        assert_eq!(phase(json!({"session_opened": {}}), false), "");
        assert_eq!(phase(json!({"run_started": {"run": "r"}}), false), "thinking about a message");
        let call = json!({"call": {"call": "call_1", "input": r#"{"sql":"DELETE"}"#}});
        let turn = json!({"message_added": {"message": {"role": "assistant", "parts": [call]}}});
        assert_eq!(phase(turn, false), "thinking about a message");
        assert_eq!(phase(hold("hold_1"), false), "waiting for an answer");
        assert_eq!(
            phase(json!({"hold_decided": {"hold": "hold_1"}}), false),
            "thinking about a message"
        );
        let started = json!({"call_started": {"call": "call_1", "attempt": 1}});
        assert_eq!(phase(started.clone(), false), "executing, no effect yet");
        assert_eq!(phase(started, true), "executing, effect done");
        let doubt = json!({"call_in_doubt": {"call": "call_1", "settle": "hold_2"}});
        phase(doubt, false);
        assert_eq!(phase(hold("hold_2"), false), "in doubt, waiting for a person");
        phase(json!({"hold_decided": {"hold": "hold_2"}}), false);
        let results = json!({"message_added": {"message": {"role": "tool"}}});
        assert_eq!(phase(results, false), "thinking about results");
        assert_eq!(phase(json!({"run_completed": {"run": "r"}}), false), "");
        assert_eq!(follower.facts.statements["DELETE"], "call_1");
        assert!(follower.facts.started.contains(&("call_1".into(), 1)));
        assert_eq!(follower.facts.in_doubt["hold_2"], "call_1");
    }
}
