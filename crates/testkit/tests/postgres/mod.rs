//! The SQL tools on a real PostgreSQL server: what they may do, and that a change happens once however
//! the server, the client or the line between them ends.

mod crash;
mod end_to_end;
mod freeze;
mod proxy;
mod rules;
mod stage;
