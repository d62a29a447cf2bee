//! Chats in half of the stories: the real chat service on the one node there is, a platform that loses, refuses and
//! does things without saying so, and people who press its buttons there.

mod channel;
mod people;
mod platform;

use std::sync::Arc;

use chat::{ChatService, Connector, Limits, OnAmbiguous, Setup};
use engine::Engine;
use ports::clock::{Clock, Rng};
use reply_parser::Language;

pub(super) use people::gestures;
#[cfg(test)]
pub(super) use platform::{Look, Message};
pub(super) use platform::{Platform, Pressed, Word};

use super::node::NodeNo;
use super::world::World;
use channel::SimChannel;

/// The channel, the platform, and how votes say that they came from there.
pub(super) const NAME: &str = "sim";
/// Where the chat service keeps what is to be sent.
pub(super) const OUT: &str = "chat.sim.out";
/// What is to be sent to them.
pub(super) const QUEUE: &str = "chat.sim";
/// The chat that sees every question.
const ROOM: &str = "room";

/// Whoever is linked to an account there.
pub(super) fn account_of(person: &str) -> Option<String> {
    matches!(person, "ana" | "bob" | "eve").then(|| format!("u-{person}"))
}

/// The chat service of one process.
pub(super) fn board(
    world: &Arc<World>,
    node: NodeNo,
    engine: Engine,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
) -> ChatService {
    let connector = Connector {
        channel: Arc::new(SimChannel { world: world.clone(), node }),
        agent: None,
        ask: vec![ROOM.into()],
        on_ambiguous: OnAmbiguous::default(),
        language: Language::English,
    };
    ChatService::new(Setup {
        engine,
        clock,
        rng,
        connectors: vec![connector],
        limits: Limits::default(),
    })
}
