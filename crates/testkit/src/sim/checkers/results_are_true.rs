//! I-16, I-22: what the model and people are told of a call is what happened: nothing that ran is said
//! not to have run, and nothing is said to be done that was not.

use std::collections::BTreeMap;

use domain::call::Call;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::HoldChange;
use domain::id::{CallId, SessionId};
use domain::tool::Effects;
use serde_json::Value;

use super::{Evidence, Verdict};
use crate::sim::records::Effect;

/// How we say that a call had no effect.
const NOT_RUN: [&str; 4] = ["was not run", "Not run:", "Nothing was run", "nothing was done"];
/// How a person says that it had one.
const CONFIRMED: &str = "confirmed that the call was carried out";
/// How a result says that it is an earlier one.
const REPLAYED: &str = "\"replayed\":true";

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    evidence.sessions().try_for_each(|session| of_session(evidence, session))
}

fn of_session(evidence: &Evidence<'_>, session: SessionId) -> Verdict {
    // A revision of a call ends with its result; a later revision has its own.
    let mut stands: BTreeMap<CallId, &Call> = BTreeMap::new();
    for (index, entry) in evidence.session(session) {
        for event in entry.events.iter() {
            match event {
                Event::Session(SessionEvent::CallProposed { id, call, .. }) => {
                    stands.insert(*id, call);
                }
                Event::Session(SessionEvent::Hold(HoldEvent::Updated {
                    change: HoldChange::Revised { call, .. },
                    ..
                }))
                | Event::ExternalHold(HoldEvent::Updated {
                    change: HoldChange::Revised { call, .. },
                    ..
                }) => {
                    stands.insert(call.id, call);
                }
                Event::Session(SessionEvent::CallSettled { call, result }) => {
                    let Some(call) = stands.get(call) else { continue };
                    judge(evidence, index, call, &result.content)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn judge(evidence: &Evidence<'_>, index: usize, call: &Call, said: &str) -> Verdict {
    let (id, revision) = (call.id, call.revision);
    let effects = &evidence.records.effects;
    let of_it = |effect: &&Effect| effect.call == id && effect.revision == revision;
    if NOT_RUN.iter().any(|words| said.contains(words)) {
        let mut changes = effects.iter().filter(|effect| effect.effects != Effects::ReadOnly);
        if let Some(effect) = changes.find(of_it) {
            return Err(format!(
                "{} ({id} revision {revision}) had its effect in attempt {}, and the model was told: {said}",
                effect.tool, effect.attempt
            ));
        }
    }
    let claimed = claim(said);
    if claimed.is_none() && !said.contains(CONFIRMED) {
        return Ok(());
    }
    let mut before = effects.iter().filter(|effect| effect.journal <= index);
    let is_done = before.any(|effect| {
        let is_it = match said.contains(REPLAYED) {
            true => is_alike(effect, call),
            false => of_it(&effect),
        };
        is_it && claimed.is_none_or(|it| it == (&*effect.tool, effect.attempt))
    });
    match is_done {
        true => Ok(()),
        false => Err(format!("{id} revision {revision} did not, and the model was told: {said}")),
    }
}

/// What our tools say: which of them did it, in which attempt.
fn claim(said: &str) -> Option<(&str, u32)> {
    let did = ["did ", "failed at "].iter().find_map(|word| said.split_once(word))?.1;
    let (tool, rest) = did.split_once(" in attempt ")?;
    let attempt = rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()?;
    Some((tool, attempt))
}

/// What was done once in two phases is said again to whoever confirms the same again, in a call of its
/// own. Calls of our tools differ in their `n`.
fn is_alike(effect: &Effect, call: &Call) -> bool {
    let done: Value = serde_json::from_slice(&effect.arguments).unwrap_or_default();
    let is_same = done.get("n") == call.arguments.value().get("n");
    effect.session == call.session && effect.tool == call.tool && is_same
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sim::checkers::fabricated::*;

    const DID: &str = "did wipe in attempt 1.";
    const CONFIRMED: &str = "ana confirmed that the call was carried out.";

    #[test]
    fn a_call_that_ran_and_is_said_not_to_have_is_found() {
        let wipe = call("wipe", 1);
        let begun = || story().then([proposed(&wipe, None), started(&wipe, 1)]);
        for said in ["It was not run.", "Not run: no.", "Nothing was run.", "nothing was done"] {
            begun().then([settled(&wipe, said)]).passes(check);
            let ran = begun().effect(effect(&wipe, 1));
            ran.then([settled(&wipe, said)]).breaks(check, "had its effect in attempt 1");
        }
    }

    #[test]
    fn a_call_that_is_said_to_have_run_and_did_not_is_found() {
        let (wipe, put) = (call("wipe", 1), call("put", 2));
        let begun = || story().then([proposed(&wipe, None), started(&wipe, 1)]);
        for said in [DID, "failed at wipe in attempt 1.", CONFIRMED] {
            begun().effect(effect(&wipe, 1)).then([settled(&wipe, said)]).passes(check);
            let others = begun().effect(effect(&put, 1)).effect(effect(&revised(&wipe), 1));
            others.then([settled(&wipe, said)]).breaks(check, "did not, and the model was told");
            let late = begun().then([settled(&wipe, said)]).effect(effect(&wipe, 1));
            late.breaks(check, "did not, and the model was told");
        }
        let other = begun().effect(effect(&wipe, 2)).then([settled(&wipe, DID)]);
        other.breaks(check, "did not, and the model was told");
    }

    #[test]
    fn a_repeated_result_needs_the_effect_that_it_repeats() {
        let (first, again, other) = (call("deploy", 1), call("deploy", 1), call("deploy", 2));
        let said = r#"{"result":"did deploy in attempt 1.","replayed":true}"#;
        let ran = |which| story().effect(effect(which, 1));
        let end = || [proposed(&again, None), settled(&again, said)];
        ran(&first).then(end()).passes(check);
        ran(&other).then(end()).breaks(check, "did not, and the model was told");
    }
}
