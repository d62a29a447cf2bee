//! What happened. Events are the only thing that changes state, and all of them are kept.
//!
//! There are three kinds of streams, and each has its own kind of event: a stream cannot say what is not true of it.

mod global;
mod hold;
mod session;
mod token;

pub use global::{GlobalEvent, RefusedAnswer};
pub use hold::HoldEvent;
pub use session::SessionEvent;
pub use token::{Token, TokenOwner, TokenScope};

use crate::id::StreamId;

/// An event of any stream, as the journal keeps it. Each has one position in its stream, and followers see
/// every one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// In the stream of a session; also what happens to the session's holds.
    Session(SessionEvent),
    /// In the stream of a hold that belongs to no session.
    ExternalHold(HoldEvent),
    /// In the one stream of what all sessions share.
    Global(GlobalEvent),
}

impl Event {
    /// The name that followers see.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Session(event) => event.name(),
            Event::ExternalHold(event) => event.name(),
            Event::Global(event) => event.name(),
        }
    }

    /// What happened to a hold, in whichever stream it is.
    pub fn hold_event(&self) -> Option<&HoldEvent> {
        match self {
            Event::Session(SessionEvent::Hold(event)) | Event::ExternalHold(event) => Some(event),
            Event::Session(_) | Event::Global(_) => None,
        }
    }

    /// `None` if the event is of another stream.
    pub fn session_event(&self) -> Option<&SessionEvent> {
        match self {
            Event::Session(event) => Some(event),
            Event::ExternalHold(_) | Event::Global(_) => None,
        }
    }

    /// `None` if the event is of another stream.
    pub fn global_event(&self) -> Option<&GlobalEvent> {
        match self {
            Event::Global(event) => Some(event),
            Event::Session(_) | Event::ExternalHold(_) => None,
        }
    }

    /// Whether this stream can say so: an event of its kind and, in the stream of an external hold, about that
    /// hold.
    pub fn fits_stream(&self, stream: StreamId) -> bool {
        match (self, stream) {
            (Event::Session(_), StreamId::Session(_)) | (Event::Global(_), StreamId::Global) => {
                true
            }
            (Event::ExternalHold(event), StreamId::ExternalHold(id)) => event.hold_id() == id,
            _ => false,
        }
    }
}

impl From<SessionEvent> for Event {
    fn from(event: SessionEvent) -> Event {
        Event::Session(event)
    }
}

impl From<GlobalEvent> for Event {
    fn from(event: GlobalEvent) -> Event {
        Event::Global(event)
    }
}
