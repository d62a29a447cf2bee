//! The log tells the story at `info`: one line for each thing that an operator asks about afterwards, with
//! ids, people and tools. Arguments, titles, texts and results are not in it: they may hold secrets, and the
//! journal has them.

use std::sync::Arc;

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent, TokenOwner};
use domain::hold::{Decision, Hold, HoldChange, HoldState};
use domain::id::{CallId, HoldId, StreamId};
use domain::session::Session;
use ports::store::Entry;
use tracing::field::display;

/// A message of a provider may be long.
const ERROR_CHARS_MAX: usize = 300;

/// What a commit to a session did.
pub(crate) fn tell_session(entry: &Entry, session: &Session) {
    let tool = |call: &CallId| session.calls.get(call).map(|record| record.tool.clone());
    let id = session.id;
    for event in entry.events.iter().filter_map(Event::session_event) {
        match event {
            SessionEvent::CallStarted { call, attempt, .. } => {
                let tool = tool(call);
                tracing::info!(%call, tool = tool.as_deref(), attempt, session = %id, "call started");
            }
            SessionEvent::CallInDoubt { call, settle, .. } => {
                let tool = tool(call);
                tracing::warn!(%call, tool = tool.as_deref(), hold = %settle, session = %id, "call in doubt");
            }
            SessionEvent::CallSettled { call, result } => {
                let (tool, outcome) = (tool(call), result.kind.name());
                tracing::info!(%call, tool = tool.as_deref(), outcome, session = %id, "call settled");
            }
            SessionEvent::RunFailed { run, error } => {
                let error: String = error.chars().take(ERROR_CHARS_MAX).collect();
                tracing::warn!(%run, agent = %session.agent, session = %id, ?error, "run failed");
            }
            SessionEvent::RunStarted { run }
            | SessionEvent::RunPaused { run }
            | SessionEvent::RunCompleted { run }
            | SessionEvent::RunCancelled { run } => {
                tracing::debug!(%run, agent = %session.agent, session = %id, "{}", event.name());
            }
            SessionEvent::GrantMade { grant } => {
                let (by, tool) = (&grant.by, &grant.tool);
                tracing::info!(grant = %grant.id, %by, %tool, session = %id, "grant made");
            }
            SessionEvent::GrantRevoked { grant, by } => {
                tracing::info!(%grant, %by, session = %id, "grant revoked");
            }
            SessionEvent::Hold(event) => {
                tell_of_hold(event, &|hold| session.holds.get(&hold).cloned())
            }
            _ => {}
        }
    }
}

/// What a commit to a hold with a stream of its own did.
pub(crate) fn tell_hold(entry: &Entry, hold: &Arc<Hold>) {
    for event in entry.events.iter().filter_map(Event::hold_event) {
        tell_of_hold(event, &|_| Some(hold.clone()));
    }
}

/// What concerns everybody.
pub(crate) fn tell_global(entry: &Entry) {
    debug_assert_eq!(entry.stream, StreamId::Global);
    for event in entry.events.iter().filter_map(Event::global_event) {
        match event {
            GlobalEvent::Frozen { by, reason } => {
                tracing::warn!(%by, ?reason, "frozen")
            }
            GlobalEvent::Thawed { by } => tracing::warn!(%by, "thawed"),
            GlobalEvent::TokenMinted { token } => {
                let (kind, owner) = match &token.owner {
                    TokenOwner::Person(person) => ("person", person.to_string()),
                    TokenOwner::Program(name) => ("program", name.clone()),
                };
                let by = &token.minted_by;
                tracing::info!(token = %token.id, kind, ?owner, %by, "token made");
            }
            GlobalEvent::TokenRevoked { token, by } => {
                tracing::info!(%token, %by, "token revoked")
            }
            GlobalEvent::LoggedIn { person, via, .. } => {
                tracing::info!(%person, via, "login")
            }
            GlobalEvent::PolicyInForce { policy, .. } => {
                tracing::info!(%policy, "policy in force")
            }
            GlobalEvent::AnswerRefused { refused } => {
                let hold = refused.hold.map(display);
                let person = refused.person.as_ref().map(display);
                tracing::warn!(hold, person, channel = refused.channel, "answer refused");
            }
            GlobalEvent::DeliveryFailed { hold, channel, .. } => {
                tracing::warn!(%hold, channel, "prompt could not be delivered");
            }
            event => tracing::info!(by = %entry.actor, "{}", event.name()),
        }
    }
}

fn tell_of_hold(event: &HoldEvent, find: &dyn Fn(HoldId) -> Option<Arc<Hold>>) {
    match event {
        HoldEvent::Opened { hold } => {
            tracing::info!(
                hold = %hold.id,
                kind = hold.question.kind().name(),
                risk = hold.risk.name(),
                state = hold.state.name(),
                tool = tool_of(hold).as_deref(),
                agent = hold.agent(),
                requester = hold.requester.as_ref().map(display),
                opener = %hold.opener,
                rule = hold.rule.as_deref(),
                session = hold.session().map(display),
                "hold opened"
            );
        }
        HoldEvent::Updated { hold, change: HoldChange::Voted(vote) } => {
            tracing::info!(%hold, by = %vote.by, via = vote.via, "vote counted");
        }
        HoldEvent::Updated { hold, change: HoldChange::Revised { votes, .. } } => {
            let by = votes.first().map(|vote| display(&vote.by));
            tracing::info!(%hold, by, "call edited");
        }
        HoldEvent::Updated { hold, change: HoldChange::Revealed(by) } => {
            tracing::info!(%hold, %by, "secrets revealed");
        }
        // What was said is for people; a log is read by machines and models, too.
        HoldEvent::Updated { hold, change: HoldChange::Commented(comment) } => {
            tracing::info!(%hold, by = %comment.by, via = comment.via, "comment written");
        }
        HoldEvent::Decided { hold, state } => {
            let found = find(*hold);
            let tool = found.as_ref().and_then(tool_of);
            let risk = found.as_ref().map(|hold| hold.risk.name());
            let (outcome, tool) = (state.name(), tool.as_deref());
            match state {
                HoldState::Approved(Decision::People { vote, voters })
                | HoldState::Denied(Decision::People { vote, voters })
                | HoldState::Answered(Decision::People { vote, voters }) => {
                    let by = voters.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                    tracing::info!(%hold, outcome, by, via = vote.via, tool, risk, "hold decided");
                }
                HoldState::Cancelled { by, .. } => {
                    tracing::info!(%hold, outcome, %by, tool, risk, "hold decided");
                }
                _ => tracing::info!(%hold, outcome, tool, risk, "hold decided"),
            }
        }
        HoldEvent::Updated { .. } => {}
    }
}

fn tool_of(hold: &Arc<Hold>) -> Option<Arc<str>> {
    hold.call().map(|call| call.tool.clone())
}
