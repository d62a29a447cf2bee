//! From the domain to the record.

use std::borrow::Cow;

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::person::Actor;
use serde::ser::{Serialize, Serializer};

use super::{StoredEvent, StoredHome};
use crate::record::call::{StoredCall, StoredClearance};
use crate::record::hold::StoredHold;
use crate::record::message::StoredMessage;
use crate::record::state::{StoredChange, StoredState};
use crate::record::{Hex, RowContext, Text};

/// The events of a row. Each is put into its stored form when it is its turn: those of a whole row would
/// be large, and are looked at once.
pub(in crate::record) struct ToWrite<'a> {
    pub(in crate::record) events: &'a [Event],
    pub(in crate::record) actor: &'a Actor,
    pub(in crate::record) frame: RowContext<'a>,
}

impl Serialize for ToWrite<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let write = |(index, event)| {
            let earlier = &self.events[..index];
            write_event(event, self.actor, RowContext { earlier, ..self.frame })
        };
        serializer.collect_seq(self.events.iter().enumerate().map(write))
    }
}

fn write_event<'a>(event: &'a Event, actor: &Actor, frame: RowContext<'_>) -> StoredEvent<'a> {
    match event {
        Event::Session(SessionEvent::SessionOpened { agent, creator, title, metadata, home }) => {
            StoredEvent::SessionOpened {
                agent: agent.as_ref().into(),
                creator: (creator != actor).then(|| creator.into()),
                title: title.as_deref().map(Cow::from),
                metadata: metadata.into(),
                home: home.as_ref().map(|home| StoredHome {
                    door: home.door.as_ref().into(),
                    place: home.place.as_str().into(),
                }),
            }
        }
        Event::Session(SessionEvent::MessageQueued { message, run, join }) => {
            StoredEvent::MessageQueued {
                message: StoredMessage::new(message, frame),
                run: Text(*run),
                join: *join,
            }
        }
        Event::Session(SessionEvent::RunStarted { run }) => {
            StoredEvent::RunStarted { run: Text(*run) }
        }
        Event::Session(SessionEvent::MessageAdded { message }) => {
            StoredEvent::MessageAdded { message: StoredMessage::new(message, frame) }
        }
        Event::Session(SessionEvent::CallProposed { id, call, clearance }) => {
            StoredEvent::CallProposed {
                id: (*id != call.id).then_some(Text(*id)),
                call: Box::new(StoredCall::new(call, frame, frame.written(*id).as_ref())),
                clearance: clearance.as_ref().map(StoredClearance::from),
            }
        }
        Event::Session(SessionEvent::CallMalformed { call, tool_use_id, tool }) => {
            StoredEvent::CallMalformed {
                call: Text(*call),
                tool_use_id: tool_use_id.into(),
                tool: tool.as_ref().into(),
            }
        }
        Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => {
            write_hold_event(event, frame)
        }
        Event::Session(SessionEvent::CallStarted { call, attempt, node }) => {
            StoredEvent::CallStarted { call: Text(*call), attempt: *attempt, node: Text(*node) }
        }
        Event::Session(SessionEvent::CallInDoubt { call, evidence, settle }) => {
            StoredEvent::CallInDoubt {
                call: Text(*call),
                evidence: evidence.into(),
                settle: Text(*settle),
            }
        }
        Event::Session(SessionEvent::CallSettled { call, result }) => {
            StoredEvent::CallSettled { call: Text(*call), result: result.into() }
        }
        Event::Session(SessionEvent::TurnCounted { run, usage }) => {
            StoredEvent::TurnCounted { run: Text(*run), usage: (*usage).into() }
        }
        Event::Session(SessionEvent::BudgetUsedUp { run, hold, used_up }) => {
            StoredEvent::BudgetUsedUp {
                run: Text(*run),
                hold: Text(*hold),
                budget: used_up.of.name().into(),
                used: used_up.used,
                limit: used_up.limit,
            }
        }
        Event::Session(SessionEvent::RunPaused { run }) => {
            StoredEvent::RunPaused { run: Text(*run) }
        }
        Event::Session(SessionEvent::RunResumed { run }) => {
            StoredEvent::RunResumed { run: Text(*run) }
        }
        Event::Session(SessionEvent::RunCompleted { run }) => {
            StoredEvent::RunCompleted { run: Text(*run) }
        }
        Event::Session(SessionEvent::RunFailed { run, error }) => {
            StoredEvent::RunFailed { run: Text(*run), error: error.into() }
        }
        Event::Session(SessionEvent::RunStopping { run, by, reason }) => StoredEvent::RunStopping {
            run: Text(*run),
            by: by.into(),
            reason: reason.as_deref().map(Cow::from),
        },
        Event::Session(SessionEvent::RunCancelled { run }) => {
            StoredEvent::RunCancelled { run: Text(*run) }
        }
        Event::Session(SessionEvent::GrantMade { grant }) => {
            StoredEvent::GrantMade { grant: grant.as_ref().into() }
        }
        Event::Session(SessionEvent::GrantUsed { grant, call }) => {
            StoredEvent::GrantUsed { grant: Text(*grant), call: Text(*call) }
        }
        Event::Session(SessionEvent::GrantRevoked { grant, by }) => {
            StoredEvent::GrantRevoked { grant: Text(*grant), by: by.into() }
        }
        Event::Global(GlobalEvent::Frozen { by, reason }) => {
            StoredEvent::Frozen { by: by.into(), reason: reason.into() }
        }
        Event::Global(GlobalEvent::Thawed { by }) => StoredEvent::Thawed { by: by.into() },
        Event::Global(GlobalEvent::TokenMinted { token }) => {
            StoredEvent::TokenMinted { token: token.as_ref().into() }
        }
        Event::Global(GlobalEvent::TokenRevoked { token, by }) => {
            StoredEvent::TokenRevoked { token: Text(*token), by: by.into() }
        }
        Event::Global(GlobalEvent::LoginLinkMade { person, origin, expires_at }) => {
            StoredEvent::LoginLinkMade {
                person: person.as_str().into(),
                origin: origin.into(),
                expires_at: (*expires_at).into(),
            }
        }
        Event::Global(GlobalEvent::LoggedIn { person, via, link }) => StoredEvent::LoggedIn {
            person: person.as_str().into(),
            via: via.into(),
            link: link.as_ref().map(Into::into),
        },
        Event::Global(GlobalEvent::PolicyInForce { policy, node }) => {
            StoredEvent::PolicyInForce { policy: Hex(*policy), node: Text(*node) }
        }
        Event::Global(GlobalEvent::AnswerRefused { refused }) => StoredEvent::AnswerRefused {
            channel: (&refused.channel).into(),
            identity: refused.identity.as_deref().map(Into::into),
            person: refused.person.as_ref().map(|person| person.as_str().into()),
            hold: refused.hold.map(Text),
            why: (&refused.why).into(),
            unlisted: refused.unlisted,
        },
        Event::Global(GlobalEvent::DeliveryFailed { hold, channel, to, why }) => {
            StoredEvent::DeliveryFailed {
                hold: Text(*hold),
                channel: channel.into(),
                to: to.into(),
                why: why.into(),
            }
        }
        Event::Global(GlobalEvent::McpServerConnected { server, issuer, by }) => {
            StoredEvent::McpServerConnected {
                server: server.into(),
                issuer: issuer.into(),
                by: by.into(),
            }
        }
        Event::Global(GlobalEvent::McpServerDisconnected { server, issuer, by, why }) => {
            StoredEvent::McpServerDisconnected {
                server: server.into(),
                issuer: issuer.into(),
                by: by.into(),
                why: why.as_deref().map(Into::into),
            }
        }
        Event::Global(GlobalEvent::McpServerRefused { server, by, why }) => {
            StoredEvent::McpServerRefused { server: server.into(), by: by.into(), why: why.into() }
        }
    }
}

fn write_hold_event<'a>(event: &'a HoldEvent, frame: RowContext<'_>) -> StoredEvent<'a> {
    match event {
        HoldEvent::Opened { hold } => {
            StoredEvent::HoldOpened { hold: Box::new(StoredHold::new(hold, frame)) }
        }
        HoldEvent::Updated { hold, change } => {
            StoredEvent::HoldUpdated { hold: Text(*hold), change: StoredChange::new(change, frame) }
        }
        HoldEvent::Decided { hold, state } => {
            StoredEvent::HoldDecided { hold: Text(*hold), state: StoredState::new(state, &[]) }
        }
    }
}
