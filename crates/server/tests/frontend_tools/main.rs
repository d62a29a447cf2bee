//! The door for clients that run tools themselves, over real connections: a model that plays what the
//! prompt says, tools that count how often they ran, and a client that reads streams to their end.

mod approvals;
mod circle;
mod errors;
mod fixtures;
mod hostile;
mod identity;
mod lists;
mod pauses;
mod repeats;
mod two_phase;
mod world;
