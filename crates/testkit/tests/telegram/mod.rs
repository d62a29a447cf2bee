//! The connector of Telegram against the platform's API on loopback.

mod conforms;
mod faults;
mod migrated;
mod polling;
mod showing;
mod stage;
mod webhook;
