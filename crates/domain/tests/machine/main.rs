//! The state machines of session, hold, call and grant, driven as the engine drives them.

mod answers;
mod budgets;
mod circle;
mod honest;
mod model;
mod random;
mod regressions;
mod several;
mod time_and_change;
mod turns;
mod two_phase;
mod world;
