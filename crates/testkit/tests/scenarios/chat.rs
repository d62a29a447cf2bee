//! A chat platform as a story sees it.

use async_trait::async_trait;
use serde_json::Value;

/// Ana and Cat may answer, Bob may not, and nobody knows Eve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ana,
    Cat,
    Bob,
    Eve,
}

impl Who {
    pub(crate) const KNOWN: [Who; 3] = [Who::Ana, Who::Cat, Who::Bob];

    pub(crate) fn id(self) -> String {
        self.name().to_lowercase()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Who::Ana => "Ana",
            Who::Cat => "Cat",
            Who::Bob => "Bob",
            Who::Eve => "Eve",
        }
    }
}

/// A group that we are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Where the agent is talked to.
    Home,
    /// Which sees every question.
    Watch,
    /// Where nothing is asked.
    Elsewhere,
}

impl Room {
    pub(crate) const ALL: [Room; 3] = [Room::Home, Room::Watch, Room::Elsewhere];

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Allow,
    Deny,
}

/// How a message comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Written now, to us.
    Plain,
    /// Written before anything was asked, and delivered now.
    Before,
    /// Something older that was changed into this.
    Edited,
    /// Somebody else's words, handed on.
    Forwarded,
}

/// A card of ours that stands in a room.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) room: Room,
    /// As the platform names it.
    pub(crate) message: String,
    /// Everything that can be read on it.
    pub(crate) text: String,
    /// What its buttons carry, if it has them.
    pub(crate) allow: Option<Value>,
    pub(crate) deny: Option<Value>,
}

impl Card {
    pub(crate) fn is_alive(&self) -> bool {
        self.allow.is_some() || self.deny.is_some()
    }
}

/// Something that we said beside the cards.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// To them alone; else to whoever is in the room.
    pub(crate) privately_to: Option<Who>,
    pub(crate) text: String,
}

/// Something that somebody did, as the platform tells it, as often as it likes.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) by: Who,
    pub(crate) name: String,
    pub(crate) payload: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    TooMany,
    Error,
    Garbage,
    /// No answer, and nothing is done.
    Silence,
    /// Everything is done, and no answer comes.
    Mute,
}

/// A fake platform with an app of ours on it.
#[async_trait]
pub(crate) trait Chat: Send + Sync {
    /// The key of people's identities.
    fn platform(&self) -> &'static str;

    /// `[channels.…]` without what all of them have.
    fn section(&self) -> String;

    /// Files with secrets.
    fn secrets(&self) -> Vec<(&'static str, &'static str)>;

    fn identity(&self, who: Who) -> String;

    fn room(&self, room: Room) -> String;

    /// After so many starts of the program it listens.
    async fn connected(&self, starts: usize);

    /// A message that mentions us. Nobody has heard of it yet.
    fn wrote(&self, who: Who, room: Room, text: &str, how: How) -> Event;

    /// A press of this card, wherever it says that it stands and whatever its button carries. Nobody has
    /// heard of it yet.
    fn pressed(&self, who: Who, card: &Card, button: Button) -> Event;

    /// Until it is acknowledged. The same event again is a redelivery.
    async fn deliver(&self, event: &Event);

    /// What whoever did this was told at once, if anything.
    fn told(&self, event: &Event) -> Option<String>;

    /// Every card that stands anywhere, as it looks now, oldest first.
    fn cards(&self) -> Vec<Card>;

    fn said(&self) -> Vec<Said>;

    /// Sending and repainting go wrong, until told otherwise.
    fn trouble(&self, trouble: Option<Trouble>);

    /// Whether an edit of a message is told at all.
    fn tells_edits(&self) -> bool {
        true
    }

    /// Whether a press says in which room it was made.
    fn names_chats(&self) -> bool {
        true
    }

    /// Whether a message that is sent twice stands twice, with no way to see that it does.
    fn doubles(&self) -> bool {
        false
    }
}
