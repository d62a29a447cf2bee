//! I-15, I-16: a call that may run at most once had at most one effect for each revision that somebody
//! allowed, whatever crashed; and none was started again once it had its effect.

use std::collections::BTreeMap;

use domain::event::{Event, SessionEvent};
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
            Event::Session(SessionEvent::CallProposed { id, call, .. }) => {
                stands.insert(*id, (call.id, call.revision));
            }
            Event::Session(SessionEvent::CallStarted { call, attempt, .. }) => {
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

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn a_second_effect_and_a_start_after_the_first_are_found() {
        let wipe = call("wipe", 1);
        let once = || story().then([proposed(&wipe, None), started(&wipe, 1)]);
        let done = || once().effect(effect(&wipe, 1));
        let again = revised(&wipe);
        done().effect(effect(&again, 1)).passes(check);
        done().then([proposed(&again, None), started(&again, 2)]).passes(check);
        done().effect(effect(&wipe, 2)).breaks(check, "twice");
        done().then([started(&wipe, 2)]).breaks(check, "started as attempt 2");
        once().then([started(&wipe, 2)]).effect(effect(&wipe, 1)).passes(check);
        let put = call("put", 1);
        story().effect(effect(&put, 1)).effect(effect(&put, 2)).passes(check);
    }
}
