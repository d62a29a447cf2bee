//! Which tools could call a door of this machine themselves: whatever starts processes or sends
//! requests.

use super::super::error::listed;
use super::super::tool::{ToolConfig, ToolKind};

/// Their names in words; `None` if there are none.
pub(super) fn tools(tools: &[ToolConfig]) -> Option<String> {
    let reaching: Vec<&str> =
        tools.iter().filter(|tool| reaches(&tool.kind)).map(|tool| &*tool.name).collect();
    match reaching.as_slice() {
        [] => None,
        [one] => Some(format!("the tool `{one}`")),
        many => Some(format!("the tools {}", listed(many))),
    }
}

fn reaches(kind: &ToolKind) -> bool {
    match kind {
        ToolKind::Command(_) | ToolKind::ShellCmd(_) | ToolKind::Http(_) | ToolKind::Mcp(_) => true,
        ToolKind::Sql(_) | ToolKind::Client(_) | ToolKind::Human { .. } => false,
    }
}
