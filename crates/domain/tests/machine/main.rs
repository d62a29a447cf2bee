//! The state machines of session, hold, call and grant, driven as the engine drives them.

mod answers;
mod budgets;
mod circle;
mod comments;
mod grants;
mod honest;
mod judgement;
mod last_look;
mod model;
mod policy_edges;
mod questions;
mod random;
mod regressions;
mod runs;
mod several;
mod time_and_change;
mod turns;
mod two_phase;
mod world;
