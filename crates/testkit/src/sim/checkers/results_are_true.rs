//! I-16, I-22: what the model and people are told of a call is what happened: nothing that ran is said
//! not to have run, and nothing is said to be done that was not.

use std::collections::BTreeSet;

use domain::event::Event;

use super::{Evidence, Verdict};

/// How we say that a call had no effect.
const NOT_RUN: [&str; 4] = ["was not run", "Not run:", "Nothing was run", "nothing was done"];

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    // A revision of a call ends with its result; a later revision has its own.
    let mut told: BTreeSet<_> = BTreeSet::new();
    for session in evidence.sessions() {
        let mut revision = std::collections::BTreeMap::new();
        for (_, entry) in evidence.session(session) {
            for event in entry.events.iter() {
                match event {
                    Event::CallProposed { id, call, .. } => {
                        revision.insert(*id, (call.id, call.revision));
                    }
                    Event::HoldUpdated {
                        change: domain::hold::HoldChange::Revised { call, .. },
                        ..
                    } => {
                        revision.insert(call.id, (call.id, call.revision));
                    }
                    Event::CallSettled { call, result } => {
                        let Some(which) = revision.get(call) else { continue };
                        if NOT_RUN.iter().any(|words| result.content.contains(words)) {
                            told.insert((*which, result.content.clone()));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    for ((call, revision), said) in told {
        let effect = evidence.records.effects.iter().find(|effect| {
            effect.call == call
                && effect.revision == revision
                && effect.effects != domain::tool::Effects::ReadOnly
        });
        if let Some(effect) = effect {
            return Err(format!(
                "{} ({call} revision {revision}) had its effect in attempt {}, and the model was told: {said}",
                effect.tool, effect.attempt
            ));
        }
    }
    Ok(())
}
