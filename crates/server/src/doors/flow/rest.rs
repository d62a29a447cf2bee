//! Whether a run rests: nothing more will happen in it until somebody does something.

use domain::id::RunId;
use domain::session::{Run, RunState, Session};

use super::End;

/// How a run (or with none named, the session) rests; `None` while something is under way.
pub(crate) fn rest_of(session: &Session, run: Option<RunId>) -> Option<End> {
    let Some(latest) = &session.run else { return Some(End::Completed) };
    let Some(run) = run.filter(|run| *run != latest.id) else { return resting(latest) };
    let queued = session.queue.iter().any(|queued| queued.run == run);
    match (queued, resting(latest)) {
        (true, None) => None,
        (true, Some(_)) => Some(End::Waiting),
        // An earlier one: it is over, and how it ended has been told on the way.
        (false, _) => Some(End::Completed),
    }
}

fn resting(run: &Run) -> Option<End> {
    match &run.state {
        RunState::Active { is_paused: false, .. } => None,
        RunState::Active { is_paused: true, .. } => Some(End::Paused),
        RunState::Completed => Some(End::Completed),
        RunState::Failed { error } => Some(End::Failed(error.clone())),
        RunState::Cancelled(_) => Some(End::Cancelled),
    }
}
