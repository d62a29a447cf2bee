//! I-9, I-11, I-12: a hold is decided once, and everybody is told the same about it. Whoever is told yes
//! is among those whose answer counted; whoever is told that another was first is told the truth.

use std::collections::BTreeMap;

use domain::event::HoldEvent;
use domain::hold::HoldState;
use domain::id::HoldId;
use domain::refusal::Refusal;

use super::{Evidence, Verdict};
use crate::sim::crowd::Errand;
use crate::sim::records::Word;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut decided: BTreeMap<HoldId, &HoldState> = BTreeMap::new();
    for (_, _, event) in evidence.events() {
        match event.hold_event() {
            Some(HoldEvent::Decided { hold, state }) => {
                if let Some(earlier) = decided.insert(*hold, state) {
                    return Err(format!(
                        "{hold} was {} and became {}",
                        earlier.name(),
                        state.name()
                    ));
                }
            }
            Some(HoldEvent::Opened { hold }) if !hold.is_pending() => {
                decided.insert(hold.id, &hold.state);
            }
            _ => {}
        }
    }
    for told in &evidence.records.told {
        let hold = match &told.what {
            Word::Hold(hold) => hold.as_ref(),
            Word::Refused(refusal) => match refusal.as_ref() {
                Refusal::AlreadyDecided { hold } | Refusal::Expired { hold } => hold.as_ref(),
                _ => continue,
            },
            _ => continue,
        };
        let stands = decided.get(&hold.id).copied();
        if !hold.is_pending() && stands != Some(&hold.state) {
            return Err(format!(
                "{:?} was told that {} is {}, and it is {:?}",
                told.errand,
                hold.id,
                hold.state.name(),
                stands.map(HoldState::name)
            ));
        }
        if let (Errand::Answer { who, .. }, Word::Hold(hold)) = (&told.errand, &told.what)
            && !hold.votes.iter().any(|vote| vote.by.as_str() == *who)
        {
            return Err(format!("{who} was told yes about {}, and has no vote there", hold.id));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::{Hold, Question};
    use domain::refusal::Refusal;

    use super::{Errand, Word, check};
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn two_decisions_and_words_of_another_one_are_found() {
        let wipe = call("wipe", 1);
        let pending = hold(1, Question::Approve, Some(&wipe));
        let with = |state| {
            let mut hold = pending.clone();
            hold.decided(state);
            hold
        };
        let is = with(approved(&pending, &["ana"]));
        let is_not = with(denied(&pending, "bob"));
        let answers = |who| Errand::Answer { who, hold: pending.id, digest: None, answer: yes() };
        let refused = |hold: &Hold| {
            Word::Refused(Box::new(Refusal::AlreadyDecided { hold: Box::new(hold.clone()) }))
        };
        let told_yes = |hold: &Hold| Word::Hold(Arc::new(hold.clone()));
        let once = || story().then([held(&pending)]).then([decided(&pending, is.state.clone())]);
        let sound = once().told(1, answers("ana"), told_yes(&is));
        sound.told(1, answers("bob"), refused(&is)).passes(check);
        once()
            .then([decided(&pending, is_not.state.clone())])
            .breaks(check, "was approved and became");
        once().told(1, answers("ana"), told_yes(&is_not)).breaks(check, "was told that");
        once().told(1, answers("bob"), refused(&is_not)).breaks(check, "was told that");
        once().told(1, answers("bob"), told_yes(&is)).breaks(check, "has no vote there");
    }
}
