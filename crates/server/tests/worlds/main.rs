//! The door `worlds`, over real sockets: both generations of its clients, and whoever means harm.

mod answers;
mod approvals;
mod chats;
mod furniture;
mod golden;
mod hostile;
mod later;
mod prompts;
mod rest;
mod stage;
