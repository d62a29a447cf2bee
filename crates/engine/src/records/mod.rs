//! What is kept beside sessions and holds: notes of people, of doors and of chats, their queues, files, and on the
//! global stream which MCP servers were connected. None of it decides anything, and what has a time goes when its time
//! is up. The audit log is read and signed here for doors.

pub(crate) mod chat_records;
mod door_records;
pub(crate) mod files;
mod mcp_connections;
pub(crate) mod own_notes;
mod retention;
pub(crate) mod saved_views;
pub(crate) mod snooze;
