//! The server over real connections, with a store in memory, a model that does what it is told, and
//! a tool that counts how often it ran.

mod access;
mod admin_pages;
mod agent_hook;
mod budgets;
mod circle;
mod comments;
mod crawl;
mod doors;
mod edit_preview;
mod events;
mod files;
mod fixtures;
mod hooks;
mod idempotency;
mod inbox;
mod limits;
mod lists;
mod login;
mod made_logins;
mod many_answers;
mod page;
mod problems;
mod push;
mod send_link;
mod state_gauges;
mod stopping;
mod strangers;
mod tls;
mod undelivered;
mod views;
mod world;
