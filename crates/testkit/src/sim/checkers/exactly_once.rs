//! I-18, I-19: an idempotent call has one key for all its attempts, and no other call has it; a
//! transactional one changed things once if it is said to have succeeded, and never twice.

use std::collections::{BTreeMap, BTreeSet};

use domain::event::{Event, SessionEvent};
use domain::outcome::ResultKind;
use domain::tool::Effects;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    one_key_each(evidence)?;
    transactions(evidence)
}

fn one_key_each(evidence: &Evidence<'_>) -> Verdict {
    let mut keys: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    let mut calls: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
    for effect in &evidence.records.effects {
        let call = (effect.call, effect.revision);
        keys.entry(call).or_default().insert(&effect.key);
        calls.entry(&effect.key).or_default().insert(call);
    }
    for ((call, revision), keys) in &keys {
        if keys.len() > 1 {
            return Err(format!(
                "{call} revision {revision} went out under several keys: {keys:?}"
            ));
        }
    }
    match calls.iter().find(|(_, calls)| calls.len() > 1) {
        Some((key, calls)) => Err(format!("the key {key} stood for several calls: {calls:?}")),
        None => Ok(()),
    }
}

fn transactions(evidence: &Evidence<'_>) -> Verdict {
    let mut made: BTreeMap<_, u32> = BTreeMap::new();
    for effect in &evidence.records.effects {
        if effect.effects == Effects::Transactional {
            *made.entry((effect.call, effect.revision)).or_default() += 1;
        }
    }
    if let Some(((call, revision), count)) = made.iter().find(|(_, count)| **count > 1) {
        return Err(format!("{call} revision {revision} changed things {count} times"));
    }
    for (_, _, event) in evidence.events() {
        let Event::Session(SessionEvent::CallSettled { call, result }) = event else { continue };
        let claims = result.kind == ResultKind::Output && result.content.contains("did shift");
        if claims && !made.keys().any(|(made, _)| made == call) {
            return Err(format!("{call} is said to have changed things, and did not"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::Effect;

    #[test]
    fn a_key_that_is_not_one_calls_own_is_found() {
        let (put, other) = (call("put", 1), call("put", 2));
        let twice = || story().effect(effect(&put, 1)).effect(effect(&put, 2));
        twice().effect(effect(&other, 1)).passes(check);
        let renamed = Effect { key: "another".into(), ..effect(&put, 3) };
        twice().effect(renamed).breaks(check, "under several keys");
        let shared = Effect { key: put.idempotency_key(), ..effect(&other, 1) };
        twice().effect(shared).breaks(check, "stood for several calls");
    }

    #[test]
    fn a_change_that_was_made_twice_or_never_is_found() {
        let shift = call("shift", 1);
        let end = || [settled(&shift, "did shift in attempt 1.")];
        let once = || story().effect(effect(&shift, 1));
        once().then(end()).passes(check);
        once().effect(effect(&shift, 2)).breaks(check, "changed things 2 times");
        story().then(end()).breaks(check, "said to have changed things");
    }
}
