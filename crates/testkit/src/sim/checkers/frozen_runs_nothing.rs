//! I-52: while everything is frozen nothing starts, on whatever node and from whatever queue. No start is
//! written, no tool is given a call, none begins with one that it was given before, and no outside program is
//! told to go on.

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::{HoldChange, HoldOutcome, Question};
use domain::id::StreamId;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut frozen_since = None;
    // How many commits were on disk when that changed.
    let mut changes: Vec<(usize, bool)> = Vec::new();
    for (index, entry, event) in evidence.events() {
        let starts = match event {
            Event::Global(GlobalEvent::Frozen { .. }) => {
                frozen_since = Some(index);
                changes.push((index + 1, true));
                continue;
            }
            Event::Global(GlobalEvent::Thawed { .. }) => {
                frozen_since = None;
                changes.push((index + 1, false));
                continue;
            }
            Event::Session(SessionEvent::CallStarted { call, .. }) => {
                format!("{call} of {} was started", entry.stream)
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Decided { hold, state }))
            | Event::ExternalHold(HoldEvent::Decided { hold, state })
                if is_outside(entry.stream) && state.releases() =>
            {
                format!("{hold} was {}", state.name())
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Updated { hold, change }))
            | Event::ExternalHold(HoldEvent::Updated { hold, change })
                if is_outside(entry.stream) && begins(change) =>
            {
                format!("the program of {hold} began")
            }
            // The client that performs it begins when it is shown.
            Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
            | Event::ExternalHold(HoldEvent::Opened { hold })
                if matches!(hold.question, Question::Perform { .. }) =>
            {
                format!("{} was handed to a client", hold.id)
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
            | Event::ExternalHold(HoldEvent::Opened { hold })
                if is_outside(entry.stream) && hold.state.releases() =>
            {
                format!("{} was {} at once", hold.id, hold.state.name())
            }
            _ => continue,
        };
        if let Some(since) = frozen_since {
            return Err(format!(
                "{starts} by commit {index}, and all was frozen since commit {since}"
            ));
        }
    }
    let was_frozen = |journal: usize| {
        let last = changes.iter().rev().find(|(commits, _)| *commits <= journal);
        last.is_some_and(|(_, frozen)| *frozen)
    };
    for handed in &evidence.records.handed {
        if was_frozen(handed.journal) {
            let (call, attempt) = (handed.call, handed.attempt);
            return Err(format!("attempt {attempt} of {call} was given to its tool while frozen"));
        }
    }
    for begun in &evidence.records.begun {
        if was_frozen(begun.journal) {
            let (call, attempt) = (begun.call, begun.attempt);
            return Err(format!("attempt {attempt} of {call} began while frozen"));
        }
    }
    for delivered in &evidence.records.delivered {
        if delivered.hold.state.releases() && was_frozen(delivered.sent) {
            return Err(format!("word of {} was sent while frozen", delivered.key));
        }
    }
    Ok(())
}

fn is_outside(stream: StreamId) -> bool {
    matches!(stream, StreamId::ExternalHold(_))
}

fn begins(change: &HoldChange) -> bool {
    matches!(change, HoldChange::Outcome(HoldOutcome::Executing))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::Hold;
    use domain::id::StreamId;

    use super::{HoldChange, HoldOutcome, Question, check};
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::{Begun, Delivered, Handed};

    #[test]
    fn a_start_between_freeze_and_thaw_is_found() {
        let wipe = call("wipe", 1);
        let freezes = || story().then([started(&wipe, 1)]).at(0, StreamId::Global, [frozen()]);
        let thaws = freezes().at(0, StreamId::Global, [thawed()]);
        thaws.then([started(&wipe, 2)]).passes(check);
        freezes().then([started(&wipe, 2)]).breaks(check, "all was frozen since commit 1");
    }

    #[test]
    fn i52_a_call_that_a_client_carries_out_between_freeze_and_thaw_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Perform { deny_values: Vec::new() }, Some(&wipe));
        let freezes = || story().at(0, StreamId::Global, [frozen()]);
        freezes().then([held(&asked)]).breaks(check, "was handed to a client");
        freezes().at(0, StreamId::Global, [thawed()]).then([held(&asked)]).passes(check);
        let approval = hold(1, Question::Approve, Some(&wipe));
        freezes().then([held(&approval)]).passes(check);
    }

    #[test]
    fn i52_what_leaves_a_queue_between_freeze_and_thaw_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let outside = StreamId::ExternalHold(asked.id);
        let story = || {
            let begins = story().then([started(&wipe, 1)]).at(0, outside, [held(&asked)]);
            begins.at(0, StreamId::Global, [frozen()])
        };
        let yes = || approved(&asked, &["ana"]);
        story().at(0, outside, [decided(&asked, denied(&asked, "ana"))]).passes(check);
        story().at(0, outside, [decided(&asked, yes())]).breaks(check, "was approved");
        let thawed = || story().at(0, StreamId::Global, [thawed()]);
        thawed().at(0, outside, [decided(&asked, yes())]).passes(check);
        let begun = || updated(&asked, HoldChange::Outcome(HoldOutcome::Executing));
        story().at(0, outside, [begun()]).breaks(check, "began");
        thawed().at(0, outside, [begun()]).passes(check);
        let at_once = Hold { state: yes(), ..asked.clone() };
        story().at(0, outside, [held(&at_once)]).breaks(check, "at once");
        for (journal, is_found) in [(2, false), (3, true), (4, false)] {
            let mut given = thawed();
            given.records.handed.push(Handed { call: wipe.id, attempt: 1, journal });
            let mut begun = thawed();
            begun.records.begun.push(Begun { call: wipe.id, attempt: 1, journal });
            let mut sent = thawed();
            let (hold, key) = (Arc::new(at_once.clone()), "hold-approved".to_owned());
            sent.records.delivered.push(Delivered { key, hold, sent: journal, journal: 9 });
            match is_found {
                true => {
                    given.breaks(check, "was given to its tool");
                    begun.breaks(check, "began while frozen");
                    sent.breaks(check, "was sent while frozen");
                }
                false => {
                    given.passes(check);
                    begun.passes(check);
                    sent.passes(check);
                }
            }
        }
    }
}
