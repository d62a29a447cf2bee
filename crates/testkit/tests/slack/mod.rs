//! The connector of Slack against the platform on loopback.

mod conforms;
mod faults;
mod forms;
mod http;
mod showing;
mod socket;
mod stage;
