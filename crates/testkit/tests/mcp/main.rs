//! The public MCP servers behind the real program. They are installed, pinned, by
//! `cargo xtask test --only mcp`.

mod filesystem;
mod world;
