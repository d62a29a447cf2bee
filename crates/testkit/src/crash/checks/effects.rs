//! Effects: none without leave, none twice, and none denied.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Found, Seen, text};
use crate::crash::phases::Facts;
use crate::crash::world::BRIEF;
use crate::witness::Line;

pub fn effects(found: &Found, facts: &Facts) -> Vec<String> {
    let calls = found.calls();
    let mut wrong = strangers(&calls, found);
    for line in found.witness.iter().chain(&found.ledger) {
        if !facts.started.contains(&(line.call.clone(), line.attempt)) {
            wrong.push(format!(
                "effects: {} had an effect in attempt {}, whose start was not written",
                line.call, line.attempt
            ));
        }
    }
    let mut keys = BTreeSet::new();
    for line in found.witness.iter().filter(|line| !keys.insert(line.key.as_str())) {
        wrong.push(format!("TWICE: {} was executed again (attempt {})", line.key, line.attempt));
    }
    for call in &calls {
        let story = Story::of(call, found);
        wrong.extend(
            story
                .check()
                .into_iter()
                .map(|what| format!("effects: {} ({}) {what}", call.id, call.tool)),
        );
    }
    wrong
}

/// Effects of calls that no transcript knows.
fn strangers(calls: &[Seen<'_>], found: &Found) -> Vec<String> {
    let tools: BTreeMap<&str, &str> = calls.iter().map(|call| (call.id, call.tool)).collect();
    let of = |lines: &[Line], may_be: &[&str]| -> Vec<String> {
        let foreign = lines.iter().filter(|line| {
            !tools.get(line.call.as_str()).is_some_and(|tool| may_be.contains(tool))
        });
        foreign
            .map(|line| {
                format!("effects: {} had one, and no transcript knows it as {may_be:?}", line.call)
            })
            .collect()
    };
    let statements: BTreeSet<&str> = calls.iter().map(|call| text(call.input, "sql")).collect();
    let notes = found.notes.keys().filter(|sql| !statements.contains(sql.as_str()));
    let notes = notes.map(|sql| format!("effects: {sql:?} was run, and no transcript knows it"));
    [
        of(&found.witness, &["witness", "auto", BRIEF]),
        of(&found.ledger, &["ledger"]),
        notes.collect(),
    ]
    .concat()
}

/// One call, what people said about it, and what it did.
struct Story<'a> {
    call: &'a Seen<'a>,
    /// In the order in which they were opened.
    holds: Vec<&'a Value>,
    lines: Vec<&'a Line>,
    /// How often its statement changed something.
    changes: u64,
}

impl<'a> Story<'a> {
    fn of(call: &'a Seen<'a>, found: &'a Found) -> Story<'a> {
        let mut holds: Vec<&Value> =
            found.holds.iter().filter(|hold| hold["call"]["id"] == call.id).collect();
        holds.sort_by_key(|hold| text(hold, "id"));
        let lines = found.witness.iter().chain(&found.ledger).filter(|line| line.call == call.id);
        let changes = found.notes.get(text(call.input, "sql")).copied().unwrap_or_default();
        Story { call, holds, lines: lines.collect(), changes }
    }

    fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.call.tool == "look" {
            let saw = self
                .call
                .output
                .strip_prefix("saw ")
                .and_then(|json| serde_json::from_str(json).ok());
            // What a kill met three times is taken for what ends the server, and given up.
            let is_given_up =
                self.call.is_error && self.call.output.contains("it was begun 3 times");
            if !is_given_up && (self.call.is_error || saw.as_ref() != Some(self.call.input)) {
                wrong.push(format!(
                    "looked at {} and was told {:?}",
                    self.call.input, self.call.output
                ));
            }
            return wrong;
        }
        let keys: BTreeSet<&str> = self.lines.iter().map(|line| line.key.as_str()).collect();
        if keys.len() > self.leaves() {
            wrong.push(format!("ran as {keys:?}, with leave for {}", self.leaves()));
        }
        if self.changes > self.leaves() as u64 {
            wrong.push(format!(
                "TWICE: changed something {} times, with leave for {}",
                self.changes,
                self.leaves()
            ));
        }
        for line in self.lines.iter().filter(|line| line.input != *self.call.input) {
            wrong.push(format!(
                "ran with {}, and was proposed with {}",
                line.input, self.call.input
            ));
        }
        for hold in self.holds.iter().filter(|hold| hold["call"]["arguments"] != *self.call.input) {
            wrong.push(format!(
                "was shown as {}, and proposed with {}",
                hold["call"]["arguments"], self.call.input
            ));
        }
        wrong.extend(self.check_doubts());
        let (happened, word) = match self.end() {
            Ok(end) => end,
            Err(what) => {
                wrong.push(what);
                return wrong;
            }
        };
        if happened != self.happened() {
            wrong.push(format!(
                "is {word}, and left {} lines and {} changes",
                self.lines.len(),
                self.changes
            ));
        }
        if happened == self.call.is_error {
            wrong.push(format!("is {word}, and the model was told {:?}", self.call.output));
        }
        wrong
    }

    fn happened(&self) -> bool {
        !self.lines.is_empty() || self.changes > 0
    }

    /// How often somebody allowed it.
    fn leaves(&self) -> usize {
        let approved = self
            .holds
            .iter()
            .filter(|hold| hold["kind"] == "approve" && hold["state"] == "approved");
        approved.count() + usize::from(self.call.tool == "auto")
    }

    /// Whether it happened, by the last word on it, and what that word is.
    fn end(&self) -> Result<(bool, String), String> {
        let Some(last) = self.holds.last() else {
            if self.call.tool != "auto" {
                return Err("ran without being held".into());
            }
            return self.end_by_engine();
        };
        match (text(last, "kind"), text(last, "state")) {
            ("approve", "denied") if self.call.state == "output-denied" => {
                Ok((false, "denied".into()))
            }
            // Nobody answers these, and then it counts as a no.
            ("approve", "expired") if self.call.tool == BRIEF && self.call.is_error => {
                Ok((false, "expired".into()))
            }
            ("approve", "approved") => {
                let (happened, word) = self.end_by_engine()?;
                let outcome = text(&last["outcome"], "state");
                if outcome != (if happened { "succeeded" } else { "failed" }) {
                    return Err(format!("is {word}, but its hold says {outcome:?}"));
                }
                Ok((happened, word))
            }
            ("settle", "answered") => match text(&last["decision"], "settle") {
                "succeeded" => Ok((true, "settled as succeeded".into())),
                "failed" => Ok((false, "settled as failed".into())),
                other => Err(format!("was last settled as {other:?}, and nothing followed")),
            },
            (kind, state) => Err(format!(
                "ends with a hold to {kind} that is {state}, shown as {}",
                self.call.state
            )),
        }
    }

    /// The tools here never fail by themselves, so whatever failed must not have run.
    fn end_by_engine(&self) -> Result<(bool, String), String> {
        let done = match self.call.tool {
            "notes" => self.call.output == r#"{"rows":1}"#,
            _ => self.lines.iter().any(|line| self.call.output == format!("did {}", line.key)),
        };
        match (self.call.state, self.call.is_error) {
            ("output-available", false) if done => Ok((true, "succeeded".into())),
            ("output-error", true) => Ok((false, format!("failed ({})", self.call.output))),
            (state, _) => Err(format!(
                "is {state}, the model was told {:?}, and {} lines say so",
                self.call.output,
                self.lines.len()
            )),
        }
    }

    /// A hold whose call was in doubt has the outcome that a person found.
    fn check_doubts(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for settle in self.holds.iter().filter(|hold| hold["kind"] == "settle") {
            let Some(original) = self.holds.iter().find(|hold| hold["id"] == settle["parent"])
            else {
                continue;
            };
            let how = match text(&settle["decision"], "settle") {
                "retry" => "failed",
                how => how,
            };
            if text(&original["outcome"], "state") != how {
                wrong.push(format!(
                    "was settled as {how}, but its hold says {}",
                    original["outcome"]
                ));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests;
