//! A call that is much like one that somebody denied: whoever is asked now should know. Only what
//! is stored counts, never what a model says about it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Session;
use crate::answer::Answer;
use crate::call::Call;
use crate::hold::{Hold, HoldState};
use crate::limits::{DENIALS_LOOKED_AT, SIMILAR_REASON_CHARS};
use crate::person::People;
use crate::schema::redacted;
use crate::time::Timestamp;
use crate::warning::{Likeness, WarningKind};

/// This share of all words that two calls use, and more, they must have in common.
const IN_COMMON: (usize, usize) = (3, 5);

impl Session {
    /// What to warn of before `call` is asked about: the latest denial of the same call, or else of
    /// a similar one, of the same tool and in this session.
    pub(super) fn denied_before(
        &self,
        call: &Call,
        people: &People,
        now: Timestamp,
    ) -> Option<WarningKind> {
        let denials = || self.holds.values().rev().filter(|hold| is_denial_of(hold, &call.tool));
        let denials: Vec<&Hold> = denials().take(DENIALS_LOOKED_AT).map(|hold| &**hold).collect();
        if denials.is_empty() {
            return None;
        }
        let same = denials
            .iter()
            .find(|hold| hold.call().is_some_and(|denied| denied.match_key() == call.match_key()));
        let words = argument_words(call);
        let similar = || {
            denials.iter().find(|hold| {
                hold.call().is_some_and(|denied| are_similar(&words, &self::argument_words(denied)))
            })
        };
        let (hold, likeness) = match same {
            Some(hold) => (hold, Likeness::Same),
            None => (similar()?, Likeness::Similar),
        };
        let vote = hold.state.decision()?.vote()?;
        let Answer::Deny { reason, .. } = &vote.answer else { return None };
        let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        Some(WarningKind::DeniedBefore {
            likeness,
            by: people.name_of(&vote.by).to_owned(),
            minutes_ago: now.ms_since(vote.at) / 60_000,
            reason: reason.map(short),
        })
    }
}

fn is_denial_of(hold: &Hold, tool: &str) -> bool {
    matches!(hold.state, HoldState::Denied(_))
        && hold.call().is_some_and(|call| &*call.tool == tool)
}

/// The words of all arguments: runs of letters and digits, in small letters. Secrets are none.
fn argument_words(call: &Call) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    collect(&redacted(call.arguments.value(), &call.secrets), &mut words);
    words
}

fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let found = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.extend(found.map(str::to_lowercase));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Object(map) => {
            for (key, inner) in map {
                words.insert(key.to_lowercase());
                collect(inner, words);
            }
        }
        other => {
            words.insert(other.to_string());
        }
    }
}

fn are_similar(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (shared, all) = (one.intersection(other).count(), one.union(other).count());
    all > 0 && shared * IN_COMMON.1 >= all * IN_COMMON.0
}

fn short(reason: &str) -> String {
    let mut kept: String = reason.chars().take(SIMILAR_REASON_CHARS).collect();
    if kept.len() < reason.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_similar_that_share_most_words() {
        let words = |value: Value| {
            let mut found = BTreeSet::new();
            collect(&value, &mut found);
            found
        };
        let sql = |text: &str| words(serde_json::json!({ "sql": text }));
        let denied = sql("DELETE FROM orders WHERE status = 1");
        assert!(are_similar(&denied, &sql("delete from orders where status=2")));
        assert!(are_similar(&denied, &sql("DELETE FROM orders WHERE id = 1")));
        assert!(!are_similar(&denied, &sql("SELECT name FROM customers")));
        assert!(!are_similar(&sql(""), &sql("DELETE FROM orders WHERE status = 1")));
        assert!(!are_similar(&BTreeSet::new(), &BTreeSet::new()));
    }
}
