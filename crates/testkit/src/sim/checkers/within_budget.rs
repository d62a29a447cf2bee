//! No run takes a turn for which nothing is left unless a person let it go on, and while it waits for
//! that nothing of it moves.

use domain::event::{Event, HoldEvent, SessionEvent};
use domain::hold::HoldState;
use domain::id::{HoldId, SessionId};
use domain::message::Role;

use super::{Evidence, Verdict};
use crate::sim::settings::{TURN_TOKENS, budgets};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    evidence.sessions().try_for_each(|session| of_session(evidence, session))
}

/// A run as the journal tells it so far.
#[derive(Default)]
struct Counted {
    turns: u64,
    /// The hold that asks whether it may go on, and whether somebody said yes.
    asked: Option<HoldId>,
}

fn of_session(evidence: &Evidence<'_>, session: SessionId) -> Verdict {
    let mut most = u64::MAX;
    let mut run = Counted::default();
    for (index, entry) in evidence.session(session) {
        for event in entry.events.iter() {
            let waits = |what: &str| match run.asked {
                Some(hold) => {
                    Err(format!("{session}: {what} in commit {index}, and {hold} was not approved"))
                }
                None => Ok(()),
            };
            match event {
                Event::Session(SessionEvent::SessionOpened { agent, .. }) => {
                    let budgets = budgets(agent);
                    let tokens = budgets.tokens.map(|tokens| tokens.div_ceil(TURN_TOKENS));
                    most = tokens.unwrap_or_else(|| u64::from(budgets.turns));
                }
                Event::Session(SessionEvent::RunStarted { .. }) => run = Counted::default(),
                Event::Session(SessionEvent::MessageAdded { message })
                    if message.role == Role::Assistant =>
                {
                    waits("a turn was taken")?;
                    run.turns += 1;
                    if run.turns > most {
                        return Err(format!(
                            "{session}: turn {} of {most} in commit {index}",
                            run.turns
                        ));
                    }
                }
                Event::Session(SessionEvent::CallStarted { .. }) => waits("a call was started")?,
                Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
                | Event::ExternalHold(HoldEvent::Opened { hold })
                    if hold.call().is_none() && hold.session().is_some() =>
                {
                    run.asked = Some(hold.id);
                }
                Event::Session(SessionEvent::Hold(HoldEvent::Decided {
                    hold,
                    state: HoldState::Approved(_),
                }))
                | Event::ExternalHold(HoldEvent::Decided { hold, state: HoldState::Approved(_) })
                    if run.asked == Some(*hold) =>
                {
                    run = Counted::default();
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::hold::Question;

    use super::*;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn a_turn_too_many_and_what_moves_without_leave_to_go_on_are_found() {
        let look = call("look", 1);
        let asks = hold(1, Question::Approve, None);
        let turn = |n| said(n, Role::Assistant, "hm");
        let begun = || {
            let begins =
                [opened_by("ana"), Event::Session(SessionEvent::RunStarted { run: run() })];
            story().then(begins).then([turn(1), turn(2)])
        };
        begun().passes(check);
        begun().then([turn(3)]).breaks(check, "turn 3 of 2");
        begun()
            .then([Event::Session(SessionEvent::RunStarted { run: run() }), turn(3)])
            .passes(check);
        let waits = || begun().then([held(&asks)]);
        waits().then([turn(3)]).breaks(check, "a turn was taken");
        waits().then([started(&look, 1)]).breaks(check, "a call was started");
        waits().then([decided(&asks, denied(&asks, "ana")), turn(3)]).breaks(check, "a turn");
        let goes_on = || waits().then([decided(&asks, approved(&asks, &["ana"]))]);
        goes_on().then([turn(3), started(&look, 1)]).passes(check);
        goes_on().then([turn(3), turn(4), turn(5)]).breaks(check, "turn 3 of 2");
    }
}
