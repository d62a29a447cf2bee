//! The connector of Telegram against the platform's API on loopback.

mod faults;
mod polling;
mod showing;
mod stage;
mod webhook;
