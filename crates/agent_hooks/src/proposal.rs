//! A call as an agent proposes it, and as people and rules see it.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::diff::{DIFF_BYTES_MAX, unified_diff};
use crate::edit::{EditedFile, edited_files, has_unread_header, patch_text};
use crate::files::{AgentFiles, FilesIn, NamedFile};
use crate::host::AgentHost;

/// A title is one line on a phone.
const TITLE_CHARS_MAX: usize = 110;

#[derive(Clone, Debug)]
pub struct HookProposal {
    pub host: AgentHost,
    pub session: String,
    /// The agent's own name for this call, if it has one.
    pub use_id: Option<String>,
    pub tool: String,
    pub input: Value,
    pub directory: PathBuf,
    pub subagent: Option<String>,
}

/// What people approve: the agent's arguments as they are, where it runs, and which files it touches.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct CallArguments<'a> {
    cwd: String,
    input: &'a Value,
    #[serde(flatten)]
    touched: Option<TouchedFiles>,
}

#[derive(Debug, PartialEq, Serialize)]
struct TouchedFiles {
    files: Vec<String>,
    files_in: &'static str,
}

/// The arguments of a call of which the files are stated and not looked up: for rules that are tried out.
pub fn stated_arguments(cwd: &str, input: &Value, files: Option<(&[String], FilesIn)>) -> Value {
    let touched =
        files.map(|(files, place)| TouchedFiles { files: files.to_vec(), files_in: place.name() });
    // Text keys and plain values: it can be JSON.
    serde_json::to_value(CallArguments { cwd: cwd.to_owned(), input, touched }).unwrap_or_default()
}

/// Who asks, from where, and what nobody looked at.
#[derive(Debug, Serialize)]
pub(crate) struct HookContext<'a> {
    agent: &'static str,
    session: &'a str,
    directory: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subagent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_known: Option<&'static str>,
}

const FILES_NOT_SEEN: &str = "Nobody has looked at the agent's files: where these paths lead, and what stands in the \
     files now. There is no diff.";

impl HookProposal {
    pub(crate) fn arguments<'a>(
        &self,
        files: &dyn AgentFiles,
        input: &'a Value,
    ) -> CallArguments<'a> {
        let named = self.named_files(files, input);
        let touched = named.iter().map(|file| file.place).max().map(|place| TouchedFiles {
            files: named.iter().map(|file| file.path.display().to_string()).collect(),
            files_in: place.name(),
        });
        CallArguments { cwd: self.directory.display().to_string(), input, touched }
    }

    /// Files that the arguments name.
    fn named_files(&self, files: &dyn AgentFiles, input: &Value) -> Vec<NamedFile> {
        let mut names: Vec<PathBuf> = Vec::new();
        for key in ["file_path", "notebook_path", "path", "absolute_path"] {
            names.extend(input.get(key).and_then(Value::as_str).map(PathBuf::from));
        }
        names.extend(edited_files(self, files, input).into_iter().map(|file| file.path));
        let mut named: Vec<NamedFile> = names
            .iter()
            .flat_map(|name| NamedFile::look_up(files, &self.directory, name))
            .collect();
        if self.tool == "apply_patch" && patch_text(input).is_some_and(has_unread_header) {
            named.push(NamedFile::unread(&self.directory));
        }
        named.extend(files.bare_repository(&self.directory).map(NamedFile::protected));
        named.sort();
        named.dedup();
        named
    }

    /// What the call would change on disk, or nothing if it changes no file that we understand and can see.
    pub(crate) fn diff(&self, files: &dyn AgentFiles, input: &Value) -> Option<String> {
        if self.tool == "apply_patch" {
            // A patch is a diff already, and has no line that its own arguments do not show.
            let patch = patch_text(input).filter(|patch| patch.len() <= DIFF_BYTES_MAX);
            return patch.map(str::to_owned);
        }
        // Against a file that nobody has seen, every line would be a new one.
        files.resolve(&self.directory)?;
        let edited = edited_files(self, files, input);
        unified_diff(edited.iter().filter_map(EditedFile::change))
    }

    pub(crate) fn title(&self, files: &dyn AgentFiles) -> String {
        let what = match (self.input.get("command"), self.named_files(files, &self.input).first()) {
            (Some(Value::String(command)), _) if self.tool != "apply_patch" => {
                format!("run: {command}")
            }
            (_, Some(file)) => format!("use {} on {}", self.tool, file.path.display()),
            _ => format!("use {}", self.tool),
        };
        let title = format!("{} wants to {what}", self.host.title()).replace(['\n', '\t'], " ");
        match title.chars().count() > TITLE_CHARS_MAX {
            true => title.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect(),
            false => title,
        }
    }

    pub(crate) fn context(&self, files: &dyn AgentFiles) -> HookContext<'_> {
        let is_unseen = files.resolve(&self.directory).is_none()
            && !self.named_files(files, &self.input).is_empty();
        HookContext {
            agent: self.host.title(),
            session: &self.session,
            directory: self.directory.display().to_string(),
            subagent: self.subagent.as_deref(),
            not_known: is_unseen.then_some(FILES_NOT_SEEN),
        }
    }
}

#[cfg(test)]
pub(crate) fn sample(tool: &str, input: Value) -> HookProposal {
    HookProposal {
        host: AgentHost::Claude,
        session: "s".into(),
        use_id: Some("toolu_1".into()),
        tool: tool.into(),
        input,
        directory: PathBuf::from("/r"),
        subagent: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::files::UnseenFiles;

    #[test]
    fn the_title_names_agent_and_command() {
        let shell = sample("Bash", json!({"command": "git push\norigin"}));
        assert_eq!(shell.title(&UnseenFiles), "Claude Code wants to run: git push origin");
        let long = sample("Bash", json!({"command": "é".repeat(500)}));
        assert_eq!(long.title(&UnseenFiles).chars().count(), TITLE_CHARS_MAX);
    }

    #[test]
    fn stated_arguments_are_those_of_a_call_whose_files_were_looked_up() {
        let write = sample("Write", json!({"file_path": "a.txt", "content": "x\n"}));
        let looked_up = serde_json::to_value(write.arguments(&UnseenFiles, &write.input)).unwrap();
        let files = ["/r/a.txt".to_owned()];
        let stated = stated_arguments("/r", &write.input, Some((&files, FilesIn::Unknown)));
        assert_eq!(stated, looked_up);
        let shell = json!({"command": "ls"});
        assert_eq!(stated_arguments("/r", &shell, None), json!({"cwd": "/r", "input": shell}));
    }

    #[test]
    fn unseen_files_have_no_diff_and_the_card_says_so() {
        let write = sample("Write", json!({"file_path": "a.txt", "content": "x\n"}));
        assert_eq!(write.diff(&UnseenFiles, &write.input), None);
        assert!(write.context(&UnseenFiles).not_known.is_some());
        let arguments = serde_json::to_value(write.arguments(&UnseenFiles, &write.input)).unwrap();
        assert_eq!(arguments["files_in"], "unknown");
        assert_eq!(arguments["files"], json!(["/r/a.txt"]));
        let shell = sample("Bash", json!({"command": "ls"}));
        assert!(shell.context(&UnseenFiles).not_known.is_none(), "there is nothing to see");
        let arguments = serde_json::to_value(shell.arguments(&UnseenFiles, &shell.input)).unwrap();
        assert_eq!(arguments, json!({"cwd": "/r", "input": {"command": "ls"}}));
    }
}
