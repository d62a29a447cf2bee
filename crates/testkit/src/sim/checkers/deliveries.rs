//! I-35: word of a decided hold goes out at least once under one key, says what stands, and says nothing
//! about what is not decided. A repeat is a repeat, never another word.

use std::collections::BTreeMap;

use domain::event::HoldEvent;
use domain::hold::HoldState;
use domain::id::{HoldId, StreamId};

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    // The state that each external hold came to, and the commit that says so.
    let mut decided: BTreeMap<HoldId, (usize, &HoldState)> = BTreeMap::new();
    for (index, entry, event) in evidence.events() {
        let StreamId::ExternalHold(id) = entry.stream else { continue };
        match event.hold_event() {
            Some(HoldEvent::Decided { state, .. }) => {
                decided.insert(id, (index, state));
            }
            Some(HoldEvent::Opened { hold }) if !hold.is_pending() => {
                decided.insert(id, (index, &hold.state));
            }
            _ => {}
        }
    }
    let mut keys: BTreeMap<HoldId, &str> = BTreeMap::new();
    for delivered in &evidence.records.delivered {
        let id = delivered.hold.id;
        match decided.get(&id) {
            Some((index, state))
                if *index < delivered.journal && **state == delivered.hold.state => {}
            stands => {
                return Err(format!(
                    "word went out that {id} is {}, and on disk it is {stands:?}",
                    delivered.hold.state.name()
                ));
            }
        }
        let key = keys.entry(id).or_insert(&delivered.key);
        if *key != delivered.key {
            return Err(format!("{id} went out as {key} and as {}", delivered.key));
        }
    }
    if evidence.is_over {
        let arrived = |id: &HoldId| evidence.records.delivered.iter().any(|it| it.hold.id == *id);
        if let Some((id, _)) = decided.iter().find(|(id, _)| !arrived(id)) {
            return Err(format!("{id} is decided, and its opener never heard of it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::{Hold, HoldOrigin, Question};

    use super::*;
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::Delivered;

    #[test]
    fn word_that_is_false_early_under_two_keys_or_never_is_found() {
        let asked = Hold {
            origin: HoldOrigin::Program { callback: None },
            ..hold(1, Question::Approve, None)
        };
        let with = |state| {
            let mut hold = asked.clone();
            hold.decided(state);
            Arc::new(hold)
        };
        let (yes, no) = (with(approved(&asked, &["ana"])), with(denied(&asked, "bob")));
        let stream = StreamId::ExternalHold(asked.id);
        let told = |told: &[(&str, &Arc<Hold>, usize)]| {
            let opens = story().at(0, stream, [held(&asked)]);
            let mut story = opens.at(0, stream, [decided(&asked, yes.state.clone())]);
            for (key, hold, journal) in told {
                let (key, hold) = ((*key).to_owned(), Arc::clone(hold));
                story.records.delivered.push(Delivered {
                    key,
                    hold,
                    sent: *journal,
                    journal: *journal,
                });
            }
            story
        };
        told(&[("a", &yes, 2), ("a", &yes, 2)]).over().passes(check);
        told(&[]).passes(check);
        told(&[]).over().breaks(check, "never heard of it");
        told(&[("a", &no, 2)]).breaks(check, "word went out that");
        told(&[("a", &yes, 1)]).breaks(check, "word went out that");
        told(&[("a", &yes, 2), ("b", &yes, 2)]).breaks(check, "went out as a and as b");
        let opened = Hold { state: yes.state.clone(), ..asked.clone() };
        let at_once = || story().at(0, stream, [held(&opened)]);
        at_once().over().breaks(check, "never heard of it");
    }
}
