//! Which step of the walk a commit is, so that its fail points have names of their own.

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::HoldState;
use domain::id::StreamId;
use ports::store::Entry;

/// An event by which a commit of this step is known, and the points before and after it.
type CommitStep = (fn(&SessionEvent) -> bool, [&'static str; 2]);

/// The first that fits names a commit: a turn whose call a rule allows has a start in it, too. `turn` is also a commit
/// that takes a start back, or asks again.
const STEPS: [CommitStep; 10] = [
    (
        |event| matches!(event, SessionEvent::SessionOpened { .. }),
        ["session.before_commit", "session.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::CallProposed { .. }),
        ["turn.before_commit", "turn.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::CallInDoubt { .. }),
        ["doubt.before_commit", "doubt.committed"],
    ),
    (is_expiry, ["expiry.before_commit", "expiry.committed"]),
    (
        |event| matches!(event, SessionEvent::Hold(HoldEvent::Decided { .. })),
        ["answer.before_commit", "answer.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::CallStarted { .. }),
        ["again.before_commit", "again.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::CallSettled { .. }),
        ["report.before_commit", "report.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::RunCompleted { .. }),
        ["final.before_commit", "final.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::RunStarted { .. }),
        ["message.before_commit", "message.committed"],
    ),
    (
        |event| matches!(event, SessionEvent::Hold(HoldEvent::Updated { .. })),
        ["change.before_commit", "change.committed"],
    ),
];

pub(crate) fn before_commit(entry: &Entry) {
    reach(entry, 0);
}

pub(crate) fn committed(entry: &Entry) {
    reach(entry, 1);
}

fn reach(entry: &Entry, which: usize) {
    let points = match entry.stream {
        StreamId::Global => Some(["global.before_commit", "global.committed"]),
        StreamId::ExternalHold(_) => Some(["outside.before_commit", "outside.committed"]),
        StreamId::Session(_) => {
            let has = |is: &fn(&SessionEvent) -> bool| {
                entry.events.iter().filter_map(Event::session_event).any(is)
            };
            STEPS.iter().find(|(is, _)| has(is)).map(|(_, points)| *points)
        }
    };
    if let Some(points) = points {
        ports::failpoint!(points[which]);
    }
}

fn is_expiry(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Hold(HoldEvent::Decided { state: HoldState::Expired { .. }, .. }))
}
