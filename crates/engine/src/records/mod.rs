//! What is kept beside the streams: notes of people, of doors and of chats, and files. None of it decides anything,
//! and what has a time goes when its time is up.

pub(crate) mod chat_records;
mod door_records;
pub(crate) mod files;
mod mcp_connections;
pub(crate) mod own_notes;
mod retention;
pub(crate) mod saved_views;
pub(crate) mod snooze;
