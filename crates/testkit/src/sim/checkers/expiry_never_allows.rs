//! I-27, I-28, I-29: nobody's answer counts at or after the deadline, nothing expires before it, and an
//! approval that is too old starts nothing. Setting clocks back or restarting extends no deadline.
//! I-54: what counts is when the answer was written, not when it was decided.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::{Hold, HoldState};
use domain::id::{CallId, HoldId};
use domain::limits::EXECUTE_WITHIN_MS;
use domain::time::Timestamp;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut open: BTreeMap<HoldId, (usize, Arc<Hold>)> = BTreeMap::new();
    let mut approved: BTreeMap<CallId, Timestamp> = BTreeMap::new();
    for (index, entry, event) in evidence.events() {
        match event {
            Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
            | Event::ExternalHold(HoldEvent::Opened { hold }) => {
                open.insert(hold.id, (index, hold.clone()));
            }
            Event::Session(SessionEvent::Hold(HoldEvent::Decided { hold, state }))
            | Event::ExternalHold(HoldEvent::Decided { hold, state }) => {
                let Some((since, held)) = open.get(hold) else { continue };
                judge(evidence, held, *since, index, state, entry.at)?;
                if let (HoldState::Approved(_), Some(call)) = (state, held.call_id()) {
                    approved.insert(call, entry.at);
                }
            }
            Event::Session(SessionEvent::CallStarted { call, .. }) => {
                let too_old = |at: &Timestamp| at.plus_ms(EXECUTE_WITHIN_MS) <= entry.at;
                if approved.get(call).is_some_and(too_old) {
                    return Err(format!("{call} was started on an approval that was too old"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn judge(
    evidence: &Evidence<'_>,
    hold: &Hold,
    opened: usize,
    decided: usize,
    state: &HoldState,
    at: Timestamp,
) -> Verdict {
    let Some(deadline) = hold.expires_at else {
        return match state {
            HoldState::Expired { .. } => Err(format!("{} expired, and has no deadline", hold.id)),
            _ => Ok(()),
        };
    };
    let by_people =
        matches!(state, HoldState::Approved(_) | HoldState::Denied(_) | HoldState::Answered(_));
    if by_people && deadline <= at {
        return Err(format!("{} was {} after its deadline", hold.id, state.name()));
    }
    if let HoldState::Expired { .. } = state
        && at < deadline
    {
        return Err(format!("{} expired before its deadline", hold.id));
    }
    // As long as no clock lied, true time says the same.
    let written_at = &evidence.records.written_at;
    let (Some(from), Some(to)) = (written_at.get(opened), written_at.get(decided)) else {
        return Ok(());
    };
    // The hold was opened before that was written, so this is never stricter than the deadline.
    let allowed = deadline.ms_since(hold.opened_at);
    if by_people && !evidence.clocks_lied && to - from >= allowed {
        return Err(format!(
            "{} was {} {} ms after it was opened",
            hold.id,
            state.name(),
            to - from
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::hold::Question;
    use domain::id::StreamId;

    use super::*;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn what_is_decided_on_the_wrong_side_of_the_deadline_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let for_ever = Hold { expires_at: None, ..asked.clone() };
        let expired = || HoldState::Expired { at: Timestamp::from_ms(0) };
        let at = |hold: &Hold, ms: i64, state: HoldState| {
            let stream = StreamId::Session(session());
            story().then([held(hold)]).at(ms, stream, [decided(hold, state)])
        };
        for state in [approved(&asked, &["ana"]), denied(&asked, "ana")] {
            at(&asked, DEADLINE_MS - 1, state.clone()).passes(check);
            at(&asked, DEADLINE_MS, state).breaks(check, "after its deadline");
        }
        at(&asked, DEADLINE_MS, expired()).passes(check);
        at(&asked, DEADLINE_MS - 1, expired()).breaks(check, "expired before its deadline");
        at(&for_ever, DEADLINE_MS, expired()).breaks(check, "has no deadline");
        at(&for_ever, DEADLINE_MS, denied(&for_ever, "ana")).passes(check);
    }

    #[test]
    fn an_answer_that_only_a_false_clock_lets_count_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let mut late = story().then([held(&asked)]).then([decided(&asked, denied(&asked, "ana"))]);
        late.records.written_at[1] = 60_000;
        late.clocks_lied = true;
        let mut lied = story().then([held(&asked)]).then([decided(&asked, denied(&asked, "ana"))]);
        lied.records.written_at[1] = 60_000;
        late.passes(check);
        lied.breaks(check, "60000 ms after it was opened");
    }

    #[test]
    fn i54_an_answer_that_is_written_after_the_deadline_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let written = |ms: u64| {
            let yes = decided(&asked, approved(&asked, &["ana"]));
            let mut story = story().then([held(&asked)]).then([yes]);
            story.records.written_at[0] = 0;
            story.records.written_at[1] = ms;
            story
        };
        let open_ms = asked.expires_at.unwrap().ms_since(asked.opened_at);
        written(open_ms - 1).passes(check);
        written(open_ms).breaks(check, "after it was opened");
    }

    #[test]
    fn a_start_on_an_old_approval_is_found() {
        let wipe = call("wipe", 1);
        let asked = hold(1, Question::Approve, Some(&wipe));
        let after = |ms: u64| {
            let yes = story().then([held(&asked), decided(&asked, approved(&asked, &["ana"]))]);
            yes.at(ms as i64, StreamId::Session(session()), [started(&wipe, 1)])
        };
        after(EXECUTE_WITHIN_MS - 1).passes(check);
        after(EXECUTE_WITHIN_MS).breaks(check, "an approval that was too old");
    }
}
