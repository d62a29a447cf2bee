//! I-42: every row that lists and recovery read is what the journal says, and the other way round.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::event::{Event, HoldEvent};
use domain::external_hold::ExternalHold;
use domain::hold::Hold;
use domain::id::{HoldId, StreamId};
use domain::session::Session;
use ports::store::{HoldQuery, Store as _, Viewer};

use super::{Evidence, Verdict};
use crate::sim::world::at_once;

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut holds: BTreeMap<HoldId, Arc<Hold>> = BTreeMap::new();
    let mut grants = BTreeMap::new();
    for id in evidence.sessions() {
        let mut session = Session::begin(id);
        for (_, entry) in evidence.session(id) {
            for event in entry.events.iter().filter_map(Event::session_event) {
                session.apply(event, entry.at);
            }
        }
        let row = at_once(evidence.world.disk.session(id)).map_err(|error| error.to_string())?;
        let Some(row) = row else { return Err(format!("{id} has no row")) };
        let run = session.run.as_ref().map(|run| (run.id, run.status()));
        if row.run != run || row.owes == session.pending_work().is_empty() {
            return Err(format!("the row of {id} says {row:?}, and the journal {run:?}"));
        }
        holds.extend(session.holds);
        grants.extend(session.grants);
    }
    for (stream, indices) in &evidence.streams {
        let StreamId::ExternalHold(id) = stream else { continue };
        let events = indices.iter().flat_map(|index| &*evidence.journal[*index].events);
        let mut events = events.filter_map(Event::hold_event);
        let Some(HoldEvent::Opened { hold }) = events.next() else {
            return Err(format!("{id} does not begin with its opening"));
        };
        let mut outside = ExternalHold::begin(hold.clone());
        events.for_each(|event| outside.apply(event));
        holds.insert(*id, outside.hold);
    }
    let query = HoldQuery::all(Viewer::Everything, usize::MAX);
    let rows = at_once(evidence.world.disk.holds(query)).map_err(|error| error.to_string())?;
    let rows: BTreeMap<HoldId, Arc<Hold>> = rows.into_iter().map(|hold| (hold.id, hold)).collect();
    if let Some((id, _)) = holds.iter().find(|(id, hold)| rows.get(id) != Some(hold)) {
        return Err(format!("the row of {id} is not what the journal says"));
    }
    if rows.len() != holds.len() {
        return Err(format!(
            "{} holds have rows, and {} are in the journal",
            rows.len(),
            holds.len()
        ));
    }
    let rows = at_once(evidence.world.disk.grants(Viewer::Everything))
        .map_err(|error| error.to_string())?;
    match rows.iter().find(|grant| grants.get(&grant.id) != Some(grant)) {
        Some(grant) => Err(format!("the row of {} is not what the journal says", grant.id)),
        None if rows.len() != grants.len() => Err("a grant has no row".into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use domain::event::SessionEvent;
    use domain::hold::{HoldOrigin, Question};
    use ports::store::SessionRow;

    use super::*;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn rows_that_are_not_what_the_journal_says_are_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let other = Hold { title: "another".into(), ..asked.clone() };
        let more = hold(2, Question::Approve, Some(&wipe));
        let given = grant(&asked, &wipe, "ana");
        let used_up = domain::grant::Grant { uses_left: 0, ..given.clone() };
        let journal = || {
            let run = Event::Session(SessionEvent::RunStarted { run: run() });
            let made = Event::Session(SessionEvent::GrantMade { grant: Arc::new(given.clone()) });
            story().then([opened_by("ana"), run, held(&asked), made])
        };
        let row = || Some(SessionRow::of(&journal().folded(), node()));
        let wrong = || row().map(|row| SessionRow { run: None, ..row });
        let owing = || row().map(|row| SessionRow { owes: !row.owes, ..row });
        journal().rows(row(), &[&asked], &[&given]).passes(check);
        journal().rows(None, &[&asked], &[&given]).breaks(check, "has no row");
        journal().rows(wrong(), &[&asked], &[&given]).breaks(check, "the row of ses_");
        journal().rows(owing(), &[&asked], &[&given]).breaks(check, "the row of ses_");
        journal().rows(row(), &[], &[&given]).breaks(check, "the row of hold");
        journal().rows(row(), &[&other], &[&given]).breaks(check, "the row of hold");
        journal().rows(row(), &[&asked, &more], &[&given]).breaks(check, "2 holds have rows");
        journal().rows(row(), &[&asked], &[&used_up]).breaks(check, "the row of grant");
        journal().rows(row(), &[&asked], &[]).breaks(check, "a grant has no row");
    }

    #[test]
    fn a_hold_of_its_own_is_what_its_stream_says() {
        let asked = Hold {
            origin: HoldOrigin::Program { callback: None },
            ..hold(1, Question::Approve, None)
        };
        let no = denied(&asked, "ana");
        let stream = StreamId::ExternalHold(asked.id);
        let journal =
            || story().at(0, stream, [held(&asked)]).at(0, stream, [decided(&asked, no.clone())]);
        let mut ended = asked.clone();
        ended.decided(no.clone());
        journal().rows(None, &[&ended], &[]).passes(check);
        journal().rows(None, &[&asked], &[]).breaks(check, "the row of hold");
        story().at(0, stream, [decided(&asked, no.clone())]).breaks(check, "does not begin");
    }
}
