//! A tool that cannot be set up.

/// Why a tool could not be set up; said when the server starts.
#[derive(Debug, thiserror::Error)]
#[error("tool `{tool}`: {why}")]
pub struct BadTool {
    pub tool: String,
    pub why: String,
}

impl BadTool {
    pub(crate) fn new(tool: &str, why: impl std::fmt::Display) -> BadTool {
        BadTool { tool: tool.into(), why: why.to_string() }
    }
}
