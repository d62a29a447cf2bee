//! No run takes a turn for which nothing is left unless a person let it go on, and while it waits for
//! that nothing of it moves.

use domain::event::Event;
use domain::hold::HoldState;
use domain::id::{HoldId, SessionId};
use domain::message::Role;

use super::{Evidence, Verdict};
use crate::sim::house::{TURN_TOKENS, budgets};

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
                Event::SessionOpened { agent, .. } => {
                    let budgets = budgets(agent);
                    let tokens = budgets.tokens.map(|tokens| tokens.div_ceil(TURN_TOKENS));
                    most = tokens.unwrap_or_else(|| u64::from(budgets.turns));
                }
                Event::RunStarted { .. } => run = Counted::default(),
                Event::MessageAdded { message } if message.role == Role::Assistant => {
                    waits("a turn was taken")?;
                    run.turns += 1;
                    if run.turns > most {
                        return Err(format!(
                            "{session}: turn {} of {most} in commit {index}",
                            run.turns
                        ));
                    }
                }
                Event::CallStarted { .. } => waits("a call was started")?,
                Event::HoldOpened { hold } if hold.call.is_none() && hold.session.is_some() => {
                    run.asked = Some(hold.id);
                }
                Event::HoldDecided { hold, state: HoldState::Approved(_) }
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
