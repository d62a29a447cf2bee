//! What tests and measurements share: the real program as a child process, a client for its API,
//! and an oracle that remembers what it promised.
//!
//! Test tools are ordinary dependencies here and nowhere else, so that they never change the
//! features of what we ship.

pub mod asked;
pub mod binary;
pub mod cleared;
pub mod conforms;
pub mod crash;
pub mod disk;
pub mod fake_chat;
pub mod fake_dingtalk;
pub mod fake_feishu;
pub mod fake_mail;
pub mod fake_model;
pub mod fake_slack;
pub mod fake_telegram;
pub mod faults;
pub mod fuzz;
pub mod http;
pub mod inbox;
pub mod journal;
pub mod oracle;
pub mod postgres;
pub mod private_ca;
pub mod rng;
pub mod served;
pub mod sim;
pub mod witness;
