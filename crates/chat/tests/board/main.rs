//! The chat service over a real engine, with a chat platform that tests hold in their hands.

mod asked;
mod chat;
mod copies;
mod faults;
mod many;
mod moved;
mod names;
mod order;
mod pressed;
mod races;
mod refused;
mod restart;
mod ruled;
mod several;
mod talked;
mod twice;
mod upgrade;
mod world;
mod wrote;
