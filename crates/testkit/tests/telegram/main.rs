//! The connector of Telegram against the platform's API on loopback.

mod conforms;
mod faults;
mod polling;
mod showing;
mod stage;
mod webhook;
