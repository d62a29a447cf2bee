//! What every reader of a provider's events has in common: it takes events one by one, says what can
//! be shown already, and gives a turn only when the provider has ended it.

use domain::json::ARGUMENTS_BYTES_MAX;
use domain::limits::CALLS_PER_TURN_MAX;
use domain::message::Part;
use ports::model::{Delta, TurnUsage, WrittenCall};
use ports::sse::SseEvent;
use serde_json::value::RawValue;

use crate::fault::Trouble;
use crate::limits::{NAME_BYTES_MAX, PARTS_MAX, TURN_BYTES_MAX};

/// Takes what may be shown.
pub(crate) type DeltaCallback<'a> = &'a mut (dyn FnMut(Delta) + Send);

pub(crate) trait Reader: Send {
    fn event(&mut self, event: &SseEvent, say: DeltaCallback<'_>) -> Result<Progress, Trouble>;

    /// The turn, if it was ended as the API ends turns.
    fn finish(self) -> Result<ModelReply, Trouble>;

    /// What has been counted so far, also of an attempt that failed.
    fn usage(&self) -> TurnUsage;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// The turn is complete; a count of tokens may follow.
    Complete,
    /// Nothing follows.
    Done,
}

/// One answer, ended by the provider.
#[derive(Debug)]
pub(crate) struct ModelReply {
    pub(crate) parts: Vec<Part>,
    /// With the tools' names as the provider has them.
    pub(crate) calls: Vec<WrittenCall<'static>>,
    pub(crate) usage: TurnUsage,
    pub(crate) end: End,
}

#[derive(Debug)]
pub(crate) enum End {
    Whole,
    /// To be sent back as it is, so that the model goes on: its blocks.
    Paused(Vec<Box<RawValue>>),
    TokenLimit,
    /// Prompt and answer together have filled the model's window.
    Window,
    /// In the provider's own word.
    Declined(String),
}

/// How much of a turn there is. A model gone wrong, or a server that only looks like one, is stopped
/// long before memory matters.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    bytes: usize,
    parts: usize,
    calls: usize,
}

impl Measure {
    pub(crate) fn bytes(&mut self, more: usize) -> Result<(), Trouble> {
        self.bytes += more;
        if self.bytes > TURN_BYTES_MAX {
            let why = format!("one turn has more than {} MiB", TURN_BYTES_MAX >> 20);
            return Err(Trouble::TooMuch(why));
        }
        Ok(())
    }

    pub(crate) fn part(&mut self) -> Result<(), Trouble> {
        self.parts += 1;
        match self.parts > PARTS_MAX {
            true => Err(Trouble::TooMuch(format!("one turn has more than {PARTS_MAX} parts"))),
            false => Ok(()),
        }
    }

    pub(crate) fn call(&mut self, id: &str, name: &str) -> Result<(), Trouble> {
        self.calls += 1;
        if self.calls > CALLS_PER_TURN_MAX {
            let why = format!("one turn has more than {CALLS_PER_TURN_MAX} calls");
            return Err(Trouble::TooMuch(why));
        }
        if id.len().max(name.len()) > NAME_BYTES_MAX {
            let why = format!("a call has a name or an id of more than {NAME_BYTES_MAX} bytes");
            return Err(Trouble::TooMuch(why));
        }
        self.bytes(id.len() + name.len())
    }

    /// More of one call's arguments, which have so many bytes already.
    pub(crate) fn arguments(&mut self, have: usize, more: usize) -> Result<(), Trouble> {
        if have + more > ARGUMENTS_BYTES_MAX {
            let why = format!(
                "the arguments of one call have more than {} MiB",
                ARGUMENTS_BYTES_MAX >> 20
            );
            return Err(Trouble::TooMuch(why));
        }
        self.bytes(more)
    }
}

/// A call without arguments has the empty ones.
pub(crate) fn input(written: String) -> String {
    if written.trim().is_empty() { "{}".to_owned() } else { written }
}
