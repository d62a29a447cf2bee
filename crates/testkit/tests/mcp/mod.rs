//! The public MCP servers behind the real program. They are installed, pinned, by
//! `cargo xtask test --only mcp`.

mod changes;
mod crashes;
mod everything;
mod filesystem;
mod git;
mod modern;
mod world;
