//! I-17: what a call ended with is what its last start reported: a process that was taken over cannot
//! speak for those who came after it.

use std::collections::BTreeMap;

use domain::event::{Event, SessionEvent};
use domain::id::CallId;

use super::{Evidence, Verdict};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let mut attempts: BTreeMap<CallId, u32> = BTreeMap::new();
    for (_, _, event) in evidence.events() {
        match event {
            Event::Session(SessionEvent::CallStarted { call, attempt, .. }) => {
                let earlier = attempts.insert(*call, *attempt);
                if earlier.is_some_and(|earlier| earlier >= *attempt) {
                    return Err(format!("{call} was started as attempt {attempt} twice"));
                }
            }
            Event::Session(SessionEvent::CallSettled { call, result }) => {
                let Some(reported) = attempt_in(&result.content) else { continue };
                // A confirmed two-phase call may repeat the result of the one that ran.
                let Some(started) = attempts.get(call) else { continue };
                if reported != *started {
                    return Err(format!(
                        "{call} ended with the report of attempt {reported}, but attempt {started} was the last to start"
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Our tools say in which attempt they did what they did.
fn attempt_in(content: &str) -> Option<u32> {
    let (_, rest) = content.split_once("in attempt ")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sim::checkers::fabricated::*;

    #[test]
    fn the_report_of_an_earlier_attempt_and_a_second_start_of_one_are_found() {
        let put = call("put", 1);
        let twice = || story().then([started(&put, 1), started(&put, 2)]);
        twice().then([settled(&put, "did put in attempt 2.")]).passes(check);
        twice().then([settled(&put, "did put in attempt 1.")]).breaks(check, "report of attempt 1");
        twice().then([started(&put, 2)]).breaks(check, "attempt 2 twice");
    }
}
