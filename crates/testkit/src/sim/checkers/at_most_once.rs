//! I-15, I-16: a call that may run at most once had at most one effect for each revision that somebody
//! allowed, whatever crashed; and none was started again once it had its effect.

use std::collections::BTreeMap;

use domain::event::Event;
use domain::id::CallId;
use domain::tool::Effects;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut seen = BTreeMap::new();
    for effect in &evidence.records.effects {
        if effect.effects != Effects::AtMostOnce {
            continue;
        }
        let which = (effect.call, effect.revision);
        if let Some((earlier, _)) = seen.insert(which, (effect.attempt, effect.journal)) {
            return Err(format!(
                "{} had its effect twice for {} revision {}: in attempt {earlier} and in attempt {}",
                effect.tool, effect.call, effect.revision, effect.attempt
            ));
        }
    }
    let mut stands: BTreeMap<CallId, (CallId, u32)> = BTreeMap::new();
    for (index, _, event) in evidence.events() {
        match event {
            Event::CallProposed { id, call, .. } => {
                stands.insert(*id, (call.id, call.revision));
            }
            Event::CallStarted { call, attempt, .. } => {
                let Some((done, since)) = stands.get(call).and_then(|which| seen.get(which)) else {
                    continue;
                };
                if attempt > done && index >= *since {
                    return Err(format!(
                        "{call} was started as attempt {attempt}, and attempt {done} had its effect before"
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
