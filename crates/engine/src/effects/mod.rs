//! What the engine does to the world, and how it finds what it owes: pending work is started, deadlines are met, and
//! what an earlier process left is taken up. Nothing here decides; each result comes back as a command.

mod announce;
mod deliver;
pub(crate) mod dispatch;
mod execute;
pub(crate) mod held_back;
pub(crate) mod recover;
mod think;
pub(crate) mod timers;

pub(crate) use deliver::callback_item;
