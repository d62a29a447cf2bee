//! The real program, from outside: what people, programs, models, tools and databases do to it.

mod bad_input;
mod canary;
mod channels_at_once;
mod chats;
mod cross_door;
mod frontend_tools;
mod http_tool;
mod mcp;
mod models;
mod nodes;
mod peers;
mod postgres;
mod private_ca;
mod scenarios;
mod self_approval;
