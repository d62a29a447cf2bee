//! What people do once the faults have stopped: whatever is asked of them, properly.

use domain::event::Event;
use domain::id::StreamId;
use domain::session::{RunStatus, Session};
use domain::time::Timestamp;
use ports::store::Store as _;

use super::whims::{holds, sessions};
use super::{Errand, answered_honestly};
use crate::sim::chat::QUEUE;
use crate::sim::world::{World, at_once};

/// What people would have to do now for everything to come to its end.
pub(in crate::sim) fn wanted(world: &World) -> Vec<Errand> {
    let (rows, holds) = (sessions(world), holds(world));
    let mut inside = world.inside();
    let mut errands = Vec::new();
    for row in rows {
        if let Some((run, RunStatus::Failed)) = row.run {
            errands.push(Errand::RetryRun { who: row.creator.to_string(), run });
        }
    }
    for hold in holds.iter().filter(|hold| hold.is_pending()) {
        // Where all have voted and do not agree, only withdrawing the question is left.
        let withdrawn = || Errand::CancelHold { who: "root".into(), hold: hold.id };
        errands.push(answered_honestly(&mut inside, hold).unwrap_or_else(withdrawn));
    }
    errands
}

/// Whether nothing is left to do for anybody; if not, what is.
pub(in crate::sim) fn is_finished(world: &World) -> Result<(), String> {
    for row in sessions(world) {
        let session = folded(world, &row);
        if row.owes {
            return Err(format!("{} still owes {:?}", row.id, session.pending_work()));
        }
        if let Some((run, status)) = row.run
            && (!status.is_over() || status == RunStatus::Failed)
        {
            return Err(format!("{run} of {} is {}", row.id, status.name()));
        }
        if let Some(queued) = session.queue.iter().find(|queued| !queued.join) {
            return Err(format!("{} still waits in {}", queued.message.id, row.id));
        }
        let open = session.calls.iter().find(|(_, record)| !record.state.is_settled());
        if let Some((call, record)) = open {
            return Err(format!("{call} of {} is {:?}", row.id, record.state));
        }
    }
    if let Some(hold) = holds(world).iter().find(|hold| hold.is_pending()) {
        return Err(format!("{} ({}) is pending", hold.id, hold.question.kind()));
    }
    let far = Timestamp::from_ms(i64::MAX);
    let owed = at_once(world.disk.outbox_items("callbacks", far, 1)).expect("the disk is there");
    match owed.first() {
        Some(callback) => Err(format!("{} is not delivered", callback.key)),
        None => are_drawn(world),
    }
}

/// Nothing is left to send to a chat.
fn are_drawn(world: &World) -> Result<(), String> {
    let far = Timestamp::from_ms(i64::MAX);
    let due = at_once(world.disk.outbox_items(QUEUE, far, 1)).expect("the disk is there");
    match due.first() {
        Some(item) => Err(format!("{} is still to be sent to a chat", item.key)),
        None => Ok(()),
    }
}

fn folded(world: &World, row: &ports::store::SessionRow) -> Session {
    let entries = at_once(world.disk.load(StreamId::Session(row.id))).expect("the disk is there");
    let mut session = Session::begin(row.id);
    for entry in &entries {
        for event in entry.events.iter().filter_map(Event::session_event) {
            session.apply(event, entry.at);
        }
    }
    session
}
