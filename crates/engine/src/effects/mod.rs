//! What the engine does to the world, each in its own file.

mod deliver;
mod execute;
mod think;

pub(crate) use deliver::callback_item;
