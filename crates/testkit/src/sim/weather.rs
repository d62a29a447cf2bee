//! What goes wrong in a story, and how often. Each seed has its own weather: a fault that is rare
//! everywhere would seldom meet another, and one that is everywhere would hide the rest.

use crate::rng::Rng;

/// Every kind of fault, by the name under which it is counted.
pub const FAULTS: &[&str] = &[
    "node crashed",
    "node crashed: a commit under way was lost",
    "node crashed: a commit under way was written",
    "node crashed: an effect under way happened all the same",
    "power lost: every node down",
    "power lost: the unacknowledged tail was lost",
    "power lost: the unacknowledged tail survived",
    "start failed",
    "node paused",
    "zombie: taken over while paused, then woken",
    "zombie: refused by the store",
    "zombie: stopped by a fence",
    "clock jumped forward",
    "clock jumped back",
    "clocks of nodes differ",
    "commit unknown: written",
    "commit unknown: not written",
    "commit refused: another was first",
    "store busy",
    "disk full",
    "read failed",
    "slow reply",
    "replies reordered",
    "answer: wrong digest",
    "answer: repeated",
    "answer: conflicting, through another node",
    "answer: conflicting, through the same node",
    "answer: late",
    "answer: overtaken by a later one",
    "answer: overtaken by a message",
    "answer: not entitled",
    "answer: edited",
    "model failed",
    "model answered differently when asked again",
    "model wrote unsound arguments",
    "tool could not look",
    "trace of an attempt lost",
    "callback_sender failed",
    "callback_sender delivered but said it had not",
    "message repeated under its key",
    "record unknown: written",
    "chat: refused",
    "chat: lost, and nobody knows",
    "chat: done, and nobody knows",
    "chat: done, and the sender died before it was written down",
    "press: repeated",
    "press: lost",
    "press: overtaken by a later one",
    "press: on an old look",
    "press: of a stranger",
    "press: on a forwarded card",
    "press: with a made-up nonce",
];

#[derive(Clone, Debug)]
pub(super) struct Weather {
    /// In a thousand, at each step of the story.
    pub(super) crash: u64,
    pub(super) power: u64,
    pub(super) pause: u64,
    pub(super) depose: u64,
    pub(super) clock: u64,
    pub(super) full: u64,
    pub(super) freeze: u64,
    /// In a hundred, at each thing that could go wrong.
    pub(super) busy: u64,
    pub(super) unknown: u64,
    pub(super) unreadable: u64,
    pub(super) slow: u64,
    pub(super) model: u64,
    pub(super) callback_sender: u64,
    pub(super) blind: u64,
    /// Set where there are chats.
    pub(super) chat: u64,
    /// Nodes' clocks differ by up to this.
    pub(super) skew_ms: u64,
}

impl Weather {
    pub(super) fn of(rng: &mut Rng) -> Weather {
        let mut sometimes = |likely: u64, amount: u64| {
            if rng.percent(likely) { 1 + rng.below(amount) } else { 0 }
        };
        Weather {
            crash: sometimes(70, 12),
            power: sometimes(40, 5),
            pause: sometimes(60, 12),
            depose: sometimes(45, 16),
            clock: sometimes(45, 8),
            full: sometimes(35, 6),
            freeze: sometimes(50, 10),
            busy: sometimes(40, 8),
            unknown: sometimes(60, 12),
            unreadable: sometimes(35, 3),
            slow: sometimes(60, 10),
            model: sometimes(50, 10),
            callback_sender: sometimes(50, 40),
            blind: sometimes(30, 6),
            chat: 0,
            skew_ms: sometimes(40, 3_000),
        }
    }

    /// The faults stop.
    pub(super) fn calm() -> Weather {
        Weather {
            crash: 0,
            power: 0,
            pause: 0,
            depose: 0,
            clock: 0,
            full: 0,
            freeze: 0,
            busy: 0,
            unknown: 0,
            unreadable: 0,
            slow: 0,
            model: 0,
            callback_sender: 0,
            blind: 0,
            chat: 0,
            skew_ms: 0,
        }
    }
}
