//! What the arguments of a call say about its headline. Everything here is read from the exact values; a shape that is not
//! known says nothing.

use serde_json::{Map, Value};

use super::{HeadlineTarget, HeadlineVerb, TargetRole};
use crate::policy::hook_input;
use crate::shell::count_commands;
use crate::view::foreign::ForeignText;

/// How many targets of one kind a headline names. The rest stands in the call below.
pub(super) const SHORT_ARGUMENTS_MAX: usize = 4;

/// A longer value is not a word in a headline.
const SHORT_BYTES_MAX: usize = 48;

/// Names of what decides a call, the most telling first.
const TELLING: [&str; 16] = [
    "amount",
    "total",
    "currency",
    "to",
    "recipient",
    "payee",
    "path",
    "url",
    "repo",
    "repository",
    "branch",
    "name",
    "id",
    "key",
    "title",
    "subject",
];

/// Short values at the top, with their names: those with a telling name first.
pub(super) fn short_arguments(arguments: &Value) -> Vec<HeadlineTarget> {
    let Some(object) = arguments.as_object() else { return Vec::new() };
    let mut found: Vec<(usize, HeadlineTarget)> = Vec::new();
    for (name, value) in object {
        let text = match value {
            Value::String(text) if !text.contains('\n') => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => yes.to_string(),
            _ => continue,
        };
        if text.is_empty() || text.len() > SHORT_BYTES_MAX || name.len() > SHORT_BYTES_MAX {
            continue;
        }
        let place = TELLING.iter().position(|telling| telling == name).unwrap_or(TELLING.len());
        let target = HeadlineTarget {
            role: TargetRole::Argument,
            name: Some(ForeignText::line(name)),
            text: ForeignText::line(&text),
        };
        found.push((place, target));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().take(SHORT_ARGUMENTS_MAX).map(|(_, target)| target).collect()
}

/// By the first words of the statement. A comment before them leaves it at *changes tables*.
pub(super) fn defining_verb(arguments: &Value) -> HeadlineVerb {
    let sql = arguments.get("sql").and_then(Value::as_str).unwrap_or_default();
    let mut words = sql.split_ascii_whitespace().map(str::to_ascii_uppercase);
    match (words.next().as_deref(), words.next().as_deref()) {
        (Some("DROP"), Some("TABLE")) => HeadlineVerb::DropTable,
        (Some("CREATE"), Some("TABLE")) => HeadlineVerb::CreateTable,
        (Some("ALTER"), Some("TABLE")) => HeadlineVerb::AlterTable,
        _ => HeadlineVerb::ChangeTables,
    }
}

pub(super) fn known_method(method: &str) -> Option<&'static str> {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        .into_iter()
        .find(|known| *known == method)
}

/// What the agent said, also where hooks of coding agents put it.
fn inner(arguments: &Value) -> Option<&Map<String, Value>> {
    let top = arguments.as_object()?;
    Some(hook_input(top).unwrap_or(top))
}

fn command(arguments: &Value) -> Option<&Value> {
    let inner = inner(arguments)?;
    ["command", "cmd", "argv"].into_iter().find_map(|key| inner.get(key))
}

/// Whether a shell reads it, and how many commands it has. `None` as a count: it cannot be read.
pub(super) fn command_count(arguments: &Value) -> Option<(bool, Option<u64>)> {
    match command(arguments)? {
        Value::String(text) => Some((true, count_commands(text))),
        Value::Array(_) => Some((false, Some(1))),
        _ => None,
    }
}

pub(super) fn program_of(arguments: &Value) -> Option<&str> {
    command(arguments)?.as_array()?.first()?.as_str()
}

pub(super) fn folder_of(arguments: &Value) -> Option<&str> {
    let keys = ["cwd", "workdir", "directory", "dir_path"];
    let places = [inner(arguments), arguments.as_object()];
    let folders = places.into_iter().flatten().flat_map(|object| {
        keys.into_iter().filter_map(|key| object.get(key).and_then(Value::as_str))
    });
    folders.into_iter().next()
}

/// Tools that change files: those of coding agents, and of MCP servers for file systems.
const EDITING_TOOLS: [&str; 12] = [
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "apply_patch",
    "replace",
    "edit",
    "write",
    "edit_file",
    "write_file",
    "create_file",
    "str_replace",
];

/// The files that it names. `None`: it is no such tool, or it names none.
pub(super) fn edited_files(tool: &str, arguments: &Value) -> Option<Vec<String>> {
    EDITING_TOOLS.into_iter().find(|known| names_tool(tool, known))?;
    // Our hooks list them; in the arguments of another tool that word may mean anything.
    let top = arguments.as_object()?;
    let listed = hook_input(top).and_then(|_| top.get("files")?.as_array());
    let listed: Vec<String> =
        listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if !listed.is_empty() {
        return Some(listed);
    }
    let inner = inner(arguments)?;
    let keys = ["path", "file_path", "notebook_path", "absolute_path"];
    // All of them: which one the tool takes is not known.
    let paths = keys.into_iter().filter_map(|key| inner.get(key)?.as_str().map(str::to_owned));
    Some(paths.collect::<Vec<_>>()).filter(|paths| !paths.is_empty())
}

/// Also behind the name of its server: `mcp__files__edit_file`, `files.edit_file`, `files_edit_file`.
fn names_tool(tool: &str, known: &str) -> bool {
    match tool.strip_suffix(known) {
        Some("") => true,
        Some(before) => {
            before.ends_with("__")
                || before.ends_with(['.', '/', ':'])
                || (known.contains('_') && before.ends_with('_'))
        }
        None => false,
    }
}
