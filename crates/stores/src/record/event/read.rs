//! From the record to the domain.

use std::borrow::Cow;

use domain::budget::{Resource, UsedUp};
use domain::event::{Event, GlobalEvent, HoldEvent, RefusedAnswer, SessionEvent};
use domain::id::StreamId;
use domain::person::{Actor, PersonId};
use domain::session::Home;
use domain::time::Timestamp;

use super::StoredEvent;
use crate::record::call::StoredClearance;
use crate::record::{Broken, RowContext, Text, damaged};

pub(in crate::record) fn read_events(
    stored: Vec<StoredEvent<'_>>,
    actor: &Actor,
    stream: StreamId,
    at: Timestamp,
) -> Result<Vec<Event>, Broken> {
    let session = stream.session();
    let mut events = Vec::with_capacity(stored.len());
    for event in stored {
        let frame = RowContext { session, at: Some(at), earlier: &events };
        let event = read_event(event, actor, frame, stream)?;
        if !event.fits_stream(stream) {
            return damaged("an event of another stream");
        }
        events.push(event);
    }
    Ok(events)
}

fn read_event(
    stored: StoredEvent<'_>,
    actor: &Actor,
    frame: RowContext<'_>,
    stream: StreamId,
) -> Result<Event, Broken> {
    // What happens to a hold is told in the same way in both kinds of streams that have one.
    let of_hold = |event| match stream {
        StreamId::ExternalHold(_) => Event::ExternalHold(event),
        StreamId::Session(_) | StreamId::Global => Event::Session(SessionEvent::Hold(event)),
    };
    Ok(match stored {
        StoredEvent::SessionOpened { agent, creator, title, metadata, home } => {
            Event::Session(SessionEvent::SessionOpened {
                agent: agent.into(),
                creator: creator.map_or_else(|| actor.clone(), Actor::from),
                title: title.map(Cow::into_owned),
                metadata: metadata.value(),
                home: home
                    .map(|home| Home { door: home.door.into(), place: home.place.into_owned() }),
            })
        }
        StoredEvent::MessageQueued { message, run, join } => {
            Event::Session(SessionEvent::MessageQueued {
                message: message.message(frame)?,
                run: run.0,
                join,
            })
        }
        StoredEvent::RunStarted { run } => Event::Session(SessionEvent::RunStarted { run: run.0 }),
        StoredEvent::MessageAdded { message } => {
            Event::Session(SessionEvent::MessageAdded { message: message.message(frame)? })
        }
        StoredEvent::CallProposed { id, call, clearance } => {
            let id = id.map_or_else(|| call.id(), |Text(id)| id);
            Event::Session(SessionEvent::CallProposed {
                id,
                call: call.call(frame, frame.written(id).as_ref())?,
                clearance: clearance.map(StoredClearance::into),
            })
        }
        StoredEvent::CallMalformed { call, tool_use_id, tool } => {
            Event::Session(SessionEvent::CallMalformed {
                call: call.0,
                tool_use_id: tool_use_id.into_owned(),
                tool: tool.into(),
            })
        }
        StoredEvent::HoldOpened { hold } => of_hold(HoldEvent::Opened { hold: hold.hold(frame)? }),
        StoredEvent::HoldUpdated { hold, change } => {
            of_hold(HoldEvent::Updated { hold: hold.0, change: change.change(frame)? })
        }
        StoredEvent::HoldDecided { hold, state } => {
            of_hold(HoldEvent::Decided { hold: hold.0, state: state.state(&[])? })
        }
        StoredEvent::CallStarted { call, attempt, node } => {
            Event::Session(SessionEvent::CallStarted { call: call.0, attempt, node: node.0 })
        }
        StoredEvent::CallInDoubt { call, evidence, settle } => {
            Event::Session(SessionEvent::CallInDoubt {
                call: call.0,
                evidence: evidence.into_owned(),
                settle: settle.0,
            })
        }
        StoredEvent::CallSettled { call, result } => {
            Event::Session(SessionEvent::CallSettled { call: call.0, result: result.into() })
        }
        StoredEvent::TurnCounted { run, usage } => {
            Event::Session(SessionEvent::TurnCounted { run: run.0, usage: usage.into() })
        }
        StoredEvent::BudgetUsedUp { run, hold, budget, used, limit } => {
            let Some(of) = Resource::parse(&budget) else {
                return damaged("a budget of something unknown");
            };
            Event::Session(SessionEvent::BudgetUsedUp {
                run: run.0,
                hold: hold.0,
                used_up: UsedUp { of, used, limit },
            })
        }
        StoredEvent::RunPaused { run } => Event::Session(SessionEvent::RunPaused { run: run.0 }),
        StoredEvent::RunResumed { run } => Event::Session(SessionEvent::RunResumed { run: run.0 }),
        StoredEvent::RunCompleted { run } => {
            Event::Session(SessionEvent::RunCompleted { run: run.0 })
        }
        StoredEvent::RunFailed { run, error } => {
            Event::Session(SessionEvent::RunFailed { run: run.0, error: error.into_owned() })
        }
        StoredEvent::RunStopping { run, by, reason } => Event::Session(SessionEvent::RunStopping {
            run: run.0,
            by: by.into(),
            reason: reason.map(Cow::into_owned),
        }),
        StoredEvent::RunCancelled { run } => {
            Event::Session(SessionEvent::RunCancelled { run: run.0 })
        }
        StoredEvent::GrantMade { grant } => {
            Event::Session(SessionEvent::GrantMade { grant: grant.grant()? })
        }
        StoredEvent::GrantUsed { grant, call } => {
            Event::Session(SessionEvent::GrantUsed { grant: grant.0, call: call.0 })
        }
        StoredEvent::GrantRevoked { grant, by } => {
            Event::Session(SessionEvent::GrantRevoked { grant: grant.0, by: by.into() })
        }
        StoredEvent::Frozen { by, reason } => {
            Event::Global(GlobalEvent::Frozen { by: by.into(), reason: reason.into_owned() })
        }
        StoredEvent::Thawed { by } => Event::Global(GlobalEvent::Thawed { by: by.into() }),
        StoredEvent::TokenMinted { token } => {
            Event::Global(GlobalEvent::TokenMinted { token: Box::new(token.token()?) })
        }
        StoredEvent::TokenRevoked { token, by } => {
            Event::Global(GlobalEvent::TokenRevoked { token: token.0, by: by.into() })
        }
        StoredEvent::LoginLinkMade { person, origin, expires_at } => {
            Event::Global(GlobalEvent::LoginLinkMade {
                person: PersonId::new(&person),
                origin: origin.into(),
                expires_at: expires_at.into(),
            })
        }
        StoredEvent::LoggedIn { person, via, link } => Event::Global(GlobalEvent::LoggedIn {
            person: PersonId::new(&person),
            via: via.into_owned(),
            link: link.map(Into::into),
        }),
        StoredEvent::PolicyInForce { policy, node } => {
            Event::Global(GlobalEvent::PolicyInForce { policy: policy.0, node: node.0 })
        }
        StoredEvent::AnswerRefused { channel, identity, person, hold, why, unlisted } => {
            let refused = RefusedAnswer {
                channel: channel.into_owned(),
                identity: identity.map(Cow::into_owned),
                person: person.map(|person| PersonId::new(&person)),
                hold: hold.map(|hold| hold.0),
                why: why.into_owned(),
                unlisted,
            };
            Event::Global(GlobalEvent::AnswerRefused { refused: Box::new(refused) })
        }
        StoredEvent::DeliveryFailed { hold, channel, to, why } => {
            Event::Global(GlobalEvent::DeliveryFailed {
                hold: hold.0,
                channel: channel.into_owned(),
                to: to.into_owned(),
                why: why.into_owned(),
            })
        }
        StoredEvent::McpServerConnected { server, issuer, by } => {
            Event::Global(GlobalEvent::McpServerConnected {
                server: server.into_owned(),
                issuer: issuer.into_owned(),
                by: by.into(),
            })
        }
        StoredEvent::McpServerDisconnected { server, issuer, by, why } => {
            Event::Global(GlobalEvent::McpServerDisconnected {
                server: server.into_owned(),
                issuer: issuer.into_owned(),
                by: by.into(),
                why: why.map(Cow::into_owned),
            })
        }
        StoredEvent::McpServerRefused { server, by, why } => {
            Event::Global(GlobalEvent::McpServerRefused {
                server: server.into_owned(),
                by: by.into(),
                why: why.into_owned(),
            })
        }
    })
}
