//! Which step of the walk a commit is, so that its fail points have names of their own.

use domain::event::Event;
use domain::hold::HoldState;
use domain::id::StreamId;

/// An event by which a commit of this step is known, and the points before and after it.
type CommitStep = (fn(&Event) -> bool, [&'static str; 2]);

/// The first that fits names a commit: a turn whose call a rule allows has a start in it, too. `turn` is also a commit
/// that takes a start back, or asks again.
const STEPS: [CommitStep; 10] = [
    (
        |event| matches!(event, Event::SessionOpened { .. }),
        ["session.before_commit", "session.committed"],
    ),
    (|event| matches!(event, Event::CallProposed { .. }), ["turn.before_commit", "turn.committed"]),
    (
        |event| matches!(event, Event::CallInDoubt { .. }),
        ["doubt.before_commit", "doubt.committed"],
    ),
    (is_expiry, ["expiry.before_commit", "expiry.committed"]),
    (
        |event| matches!(event, Event::HoldDecided { .. }),
        ["answer.before_commit", "answer.committed"],
    ),
    (
        |event| matches!(event, Event::CallStarted { .. }),
        ["again.before_commit", "again.committed"],
    ),
    (
        |event| matches!(event, Event::CallSettled { .. }),
        ["report.before_commit", "report.committed"],
    ),
    (
        |event| matches!(event, Event::RunCompleted { .. }),
        ["final.before_commit", "final.committed"],
    ),
    (
        |event| matches!(event, Event::RunStarted { .. }),
        ["message.before_commit", "message.committed"],
    ),
    (
        |event| matches!(event, Event::HoldUpdated { .. }),
        ["change.before_commit", "change.committed"],
    ),
];

pub(crate) fn before_commit(stream: StreamId, events: &[Event]) {
    reach(stream, events, 0);
}

pub(crate) fn committed(stream: StreamId, events: &[Event]) {
    reach(stream, events, 1);
}

fn reach(stream: StreamId, events: &[Event], which: usize) {
    let points = match stream {
        StreamId::Global => Some(["house.before_commit", "house.committed"]),
        StreamId::ExternalHold(_) => Some(["outside.before_commit", "outside.committed"]),
        StreamId::Session(_) => {
            STEPS.iter().find(|(is, _)| events.iter().any(is)).map(|(_, points)| *points)
        }
    };
    if let Some(points) = points {
        ports::failpoint!(points[which]);
    }
}

fn is_expiry(event: &Event) -> bool {
    matches!(event, Event::HoldDecided { state: HoldState::Expired { .. }, .. })
}
