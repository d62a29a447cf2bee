//! I-9, I-11, I-12: a hold is decided once, and everybody is told the same about it. Whoever is told yes
//! is among those whose answer counted; whoever is told that another was first is told the truth.

use std::collections::BTreeMap;

use domain::event::Event;
use domain::hold::HoldState;
use domain::id::HoldId;
use domain::refusal::Refusal;

use super::{Evidence, Verdict};
use crate::sim::crowd::Errand;
use crate::sim::records::Word;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut decided: BTreeMap<HoldId, &HoldState> = BTreeMap::new();
    for (_, _, event) in evidence.events() {
        match event {
            Event::HoldDecided { hold, state } => {
                if let Some(earlier) = decided.insert(*hold, state) {
                    return Err(format!(
                        "{hold} was {} and became {}",
                        earlier.name(),
                        state.name()
                    ));
                }
            }
            Event::HoldOpened { hold } if !hold.is_pending() => {
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
