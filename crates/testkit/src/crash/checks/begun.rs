//! Intent before effect: nothing is begun whose start is not on disk. This is looked at after every
//! kill, because a later start of the same call would hide what came before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::crash::phases::Facts;
use crate::witness::Line;

/// What calls have begun to do to the world.
#[derive(Clone, Debug, Default)]
pub struct Begun {
    /// The folders of the spool in which a first word was said: processes that were started, or about to be.
    pub attempts: Vec<String>,
    pub lines: Vec<Line>,
    /// Statements that changed a database.
    pub changes: BTreeMap<String, u64>,
}

pub fn begun(begun: &Begun, facts: &Facts) -> Vec<String> {
    let mut hasty = Vec::new();
    for attempt in &begun.attempts {
        let read = || {
            let (key, number) = attempt.rsplit_once('-')?;
            Some((key.split('-').next()?.to_owned(), number.parse().ok()?))
        };
        if !read().is_some_and(|start| facts.started.contains(&start)) {
            hasty.push(format!("the process of {attempt}"));
        }
    }
    for line in &begun.lines {
        if !facts.started.contains(&(line.call.clone(), line.attempt)) {
            hasty.push(format!("the effect of {} (attempt {})", line.call, line.attempt));
        }
    }
    let calls: BTreeSet<&str> = facts.started.iter().map(|(call, _)| call.as_str()).collect();
    for sql in begun.changes.keys() {
        if !facts.statements.get(sql).is_some_and(|call| calls.contains(call.as_str())) {
            hasty.push(format!("the change {sql:?}"));
        }
    }
    hasty.into_iter().map(|what| format!("TOO EARLY: {what} is there, its start is not")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(attempt: Option<&str>, line: Option<(&str, u64)>, sql: Option<&str>) -> String {
        let facts = Facts {
            started: [("call_1".to_owned(), 2)].into(),
            statements: [("one", "call_1"), ("two", "call_2")]
                .map(|(sql, call)| (sql.to_owned(), call.to_owned()))
                .into(),
            ..Facts::default()
        };
        let line = line.map(|(call, attempt)| Line {
            call: call.into(),
            key: format!("{call}-1"),
            attempt,
            input: json!({}),
        });
        let world = Begun {
            attempts: attempt.into_iter().map(str::to_owned).collect(),
            lines: line.into_iter().collect(),
            changes: sql.into_iter().map(|sql| (sql.to_owned(), 1)).collect(),
        };
        begun(&world, &facts).join("; ")
    }

    #[test]
    fn whatever_comes_before_its_intent_is_found() {
        assert_eq!(check(Some("call_1-1-2"), Some(("call_1", 2)), Some("one")), "");
        for attempt in ["call_1-1-1", "call_2-1-2", "call_1", "rubbish"] {
            assert!(check(Some(attempt), None, None).contains("TOO EARLY"), "{attempt}");
        }
        assert!(check(None, Some(("call_1", 1)), None).contains("the effect of call_1"));
        assert!(check(None, Some(("call_2", 2)), None).contains("the effect of call_2"));
        for sql in ["two", "three"] {
            assert!(check(None, None, Some(sql)).contains("the change"), "{sql}");
        }
    }
}
