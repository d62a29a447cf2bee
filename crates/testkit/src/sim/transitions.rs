//! Which steps the product took: for each call, hold and run, from one event to the next.

use std::collections::BTreeMap;

use domain::event::Event;
use ports::store::{Entry, Store as _};

use super::world::{World, at_once};

pub(super) fn count(world: &World) -> BTreeMap<String, u64> {
    let journal = at_once(world.disk.entries(None, 0, usize::MAX)).expect("the disk is there");
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for event in journal.iter().flat_map(|entry: &Entry| &*entry.events) {
        let Some(about) = about(event) else { continue };
        let step = name(event);
        let before = last.insert(about, step.clone()).unwrap_or_else(|| "·".into());
        *counts.entry(format!("{before} → {step}")).or_default() += 1;
    }
    counts
}

fn about(event: &Event) -> Option<String> {
    Some(match event {
        Event::CallProposed { id, .. } => id.to_string(),
        Event::CallMalformed { call, .. }
        | Event::CallStarted { call, .. }
        | Event::CallInDoubt { call, .. }
        | Event::CallSettled { call, .. } => call.to_string(),
        Event::HoldOpened { hold } => hold.id.to_string(),
        Event::HoldUpdated { hold, .. } | Event::HoldDecided { hold, .. } => hold.to_string(),
        Event::BudgetUsedUp { run, .. }
        | Event::RunStarted { run }
        | Event::RunPaused { run }
        | Event::RunResumed { run }
        | Event::RunCompleted { run }
        | Event::RunFailed { run, .. }
        | Event::RunStopping { run, .. }
        | Event::RunCancelled { run } => run.to_string(),
        Event::GrantMade { grant } => grant.id.to_string(),
        Event::GrantUsed { grant, .. } | Event::GrantRevoked { grant, .. } => grant.to_string(),
        Event::Frozen { .. } | Event::Thawed { .. } => "house".into(),
        _ => return None,
    })
}

/// With what it was decided on, and with whether a start was the first.
fn name(event: &Event) -> String {
    match event {
        Event::HoldDecided { state, .. } => format!("{} ({})", event.name(), state.name()),
        Event::HoldOpened { hold } if hold.asks_to_go_on() => {
            format!("{} (approve, no call)", event.name())
        }
        Event::HoldOpened { hold } => format!("{} ({})", event.name(), hold.question.kind()),
        Event::CallStarted { attempt, .. } if *attempt > 1 => format!("{} again", event.name()),
        _ => event.name().to_owned(),
    }
}
