//! I-26: every request that the model heard can be made again from what was on disk when it was asked,
//! to the byte.

use std::collections::BTreeMap;

use domain::event::Event;
use domain::session::Session;

use super::{Evidence, Verdict};
use crate::sim::settings::{INSTRUCTIONS, offered};

pub(super) fn check(evidence: &Evidence<'_>) -> Verdict {
    let tools: Vec<_> = offered().iter().map(agent::tool_offer).collect();
    // Each request that the journal accounts for, and since which commit.
    let mut known: Vec<(usize, ports::model::ModelRequest<'static>)> = Vec::new();
    for id in evidence.sessions() {
        let mut session = Session::begin(id);
        let mut messages = BTreeMap::new();
        for (index, entry) in evidence.session(id) {
            for event in entry.events.iter().filter_map(Event::session_event) {
                session.apply(event, entry.at);
            }
            let is_new = session.needs_model_call()
                && messages.insert(session.transcript.len(), index).is_none();
            if is_new {
                let request =
                    agent::transcript::build_request(&session, Some(INSTRUCTIONS), &tools);
                known.push((index, request.into_owned()));
            }
        }
    }
    for heard in &evidence.records.heard {
        let accounted = known
            .iter()
            .any(|(since, request)| *since < heard.journal && *request == heard.request);
        if !accounted {
            return Err(format!(
                "the model heard what the first {} commits do not say: {}",
                heard.journal,
                agent::transcript::canonical_text(&heard.request)
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::event::SessionEvent;
    use domain::message::Role;

    use super::*;
    use crate::sim::checkers::fabricated::*;
    use crate::sim::records::Heard;

    #[test]
    fn a_request_that_is_not_in_the_journal_or_not_yet_is_found() {
        let asked = || {
            let begins = [
                Event::Session(SessionEvent::RunStarted { run: run() }),
                said(1, Role::User, "tidy up"),
            ];
            story().then([opened_by("ana")]).then(begins)
        };
        let tools: Vec<_> = offered().iter().map(agent::tool_offer).collect();
        let session = asked().folded();
        let request =
            agent::transcript::build_request(&session, Some(INSTRUCTIONS), &tools).into_owned();
        let heard = |journal, change: fn(&mut ports::model::ModelRequest<'static>)| {
            let mut story = asked();
            let mut request = request.clone();
            change(&mut request);
            story.records.heard.push(Heard { request, journal, said: None });
            story
        };
        heard(2, |_| {}).passes(check);
        heard(1, |_| {}).breaks(check, "the first 1 commits do not say");
        heard(2, |request| request.messages.clear()).breaks(check, "do not say");
        heard(2, |request| request.system = Some("be quick".into())).breaks(check, "do not say");
        heard(2, |request| request.tools.to_mut().truncate(1)).breaks(check, "do not say");
    }
}
