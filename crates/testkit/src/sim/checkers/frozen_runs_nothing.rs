//! While everything is frozen no call starts, on whatever node.

use domain::event::Event;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut frozen_since = None;
    for (index, entry, event) in evidence.events() {
        match event {
            Event::Frozen { .. } => frozen_since = Some(index),
            Event::Thawed { .. } => frozen_since = None,
            Event::CallStarted { call, .. } => {
                if let Some(since) = frozen_since {
                    return Err(format!(
                        "{call} of {} was started by commit {index}, and all was frozen since commit {since}",
                        entry.stream
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
    use domain::id::StreamId;

    use super::check;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn a_start_between_freeze_and_thaw_is_found() {
        let wipe = call("wipe", 1);
        let freezes = || story().then([started(&wipe, 1)]).at(0, StreamId::House, [frozen()]);
        let thaws = freezes().at(0, StreamId::House, [thawed()]);
        thaws.then([started(&wipe, 2)]).passes(check);
        freezes().then([started(&wipe, 2)]).breaks(check, "all was frozen since commit 1");
    }
}
