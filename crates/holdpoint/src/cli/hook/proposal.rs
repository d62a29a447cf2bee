//! A call as an agent proposes it, and as people and rules see it.

use std::path::{Path, PathBuf};

use domain::shell::is_secret_path;
use serde_json::{Value, json};

use super::edit::{EditedFile, edited_files};
use crate::cli::args::HookHost;

#[derive(Clone, Debug)]
pub(super) struct HookProposal {
    pub(super) session: String,
    /// The agent's own name for this call, if it has one.
    pub(super) use_id: Option<String>,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) directory: PathBuf,
    pub(super) subagent: Option<String>,
}

/// A title is one line on a phone.
const TITLE_CHARS_MAX: usize = 110;
/// Folders that say what agents and git may do; who changes these changes the gate itself.
const PROTECTED: [&str; 8] =
    [".git", ".claude", ".codex", ".gemini", ".cursor", ".mcp.json", ".vscode", ".idea"];

/// Where the files of a call are. The strictest counts for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FilesIn {
    Repository,
    Outside,
    Protected,
    Secret,
}

impl FilesIn {
    fn name(self) -> &'static str {
        match self {
            FilesIn::Repository => "repository",
            FilesIn::Outside => "outside",
            FilesIn::Protected => "protected",
            FilesIn::Secret => "secret",
        }
    }
}

impl HookProposal {
    /// What people approve: the agent's arguments as they are, where it runs, and which files it touches.
    pub(super) fn arguments(&self, input: &Value) -> Value {
        let mut arguments = json!({"cwd": self.directory.display().to_string(), "input": input});
        let files = self.files(input);
        if let Some(place) = files.iter().map(|file| self.place(file)).max() {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            arguments["files"] = json!(names);
            arguments["files_in"] = json!(place.name());
        }
        arguments
    }

    /// Files that the arguments name, resolved: links and `..` lead where they lead.
    fn files(&self, input: &Value) -> Vec<PathBuf> {
        let mut named: Vec<PathBuf> = Vec::new();
        for key in ["file_path", "notebook_path", "path", "absolute_path"] {
            named.extend(input.get(key).and_then(Value::as_str).map(PathBuf::from));
        }
        named.extend(edited_files(self, input).into_iter().map(|file| file.path));
        let mut files: Vec<PathBuf> =
            named.iter().map(|path| resolved(&self.directory.join(path))).collect();
        files.sort();
        files.dedup();
        files
    }

    fn place(&self, file: &Path) -> FilesIn {
        let name = file.display().to_string();
        let root = repository(&resolved(&self.directory));
        let Ok(inside) = file.strip_prefix(&root) else {
            return if is_secret_path(&name) { FilesIn::Secret } else { FilesIn::Outside };
        };
        let is_protected = inside.components().any(|part| {
            let part = part.as_os_str().to_string_lossy().to_ascii_lowercase();
            PROTECTED.contains(&part.as_str())
        });
        match () {
            () if is_secret_path(&inside.display().to_string()) => FilesIn::Secret,
            () if is_protected || file.to_str().is_none() => FilesIn::Protected,
            () => FilesIn::Repository,
        }
    }

    /// What the call would change on disk, or nothing if it changes no file that we understand.
    pub(super) fn diff(&self, input: &Value) -> Option<String> {
        if self.tool == "apply_patch" {
            // A patch is a diff already, and has no line that its own arguments do not show.
            let patch = input.get("command").or_else(|| input.get("patch")).and_then(Value::as_str);
            return patch
                .filter(|patch| patch.len() <= super::diff::DIFF_BYTES_MAX)
                .map(str::to_owned);
        }
        let files = edited_files(self, input);
        super::diff::unified(files.iter().filter_map(EditedFile::change))
    }

    pub(super) fn title(&self, host: HookHost) -> String {
        let what = match (self.input.get("command"), self.files(&self.input).first()) {
            (Some(Value::String(command)), _) if self.tool != "apply_patch" => {
                format!("run: {command}")
            }
            (_, Some(file)) => format!("use {} on {}", self.tool, file.display()),
            _ => format!("use {}", self.tool),
        };
        let title = format!("{} wants to {what}", host.title()).replace(['\n', '\t'], " ");
        match title.chars().count() > TITLE_CHARS_MAX {
            true => title.chars().take(TITLE_CHARS_MAX - 1).chain(['…']).collect(),
            false => title,
        }
    }

    pub(super) fn context(&self, host: HookHost) -> Value {
        let mut context = json!({
            "agent": host.title(),
            "session": self.session,
            "directory": self.directory.display().to_string(),
        });
        if let Some(subagent) = &self.subagent {
            context["subagent"] = json!(subagent);
        }
        context
    }
}

/// The nearest folder upwards with a `.git`; else the directory itself.
fn repository(directory: &Path) -> PathBuf {
    let root = directory.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(directory).to_owned()
}

/// The path with links followed as far as it exists, and `..` taken out of the rest.
fn resolved(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut there = path.to_owned();
    loop {
        if let Ok(real) = there.canonicalize() {
            let whole = rest.iter().rev().fold(real, |path: PathBuf, part| path.join(part));
            return normal(&whole);
        }
        // A link whose target is missing leads somewhere: it is not followed, and so is outside.
        if there.is_symlink() {
            return std::fs::read_link(&there)
                .map(|to| normal(&there.join("..").join(to)))
                .unwrap_or(there);
        }
        match (there.file_name().map(ToOwned::to_owned), there.parent()) {
            (Some(name), Some(parent)) => {
                rest.push(name);
                there = parent.to_owned();
            }
            _ => return normal(path),
        }
    }
}

fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                whole.pop();
            }
            std::path::Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(directory: &Path, tool: &str, input: Value) -> HookProposal {
        HookProposal {
            session: "s".into(),
            use_id: None,
            tool: tool.into(),
            input,
            directory: directory.to_owned(),
            subagent: None,
        }
    }

    #[test]
    fn files_are_told_by_where_they_lead() {
        let home = tempfile::tempdir().unwrap();
        let repo = home.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir_all(repo.join(".git")).unwrap();
        std::fs::create_dir_all(repo.join("src")).unwrap();
        std::os::unix::fs::symlink(home.path(), repo.join("out")).unwrap();
        std::os::unix::fs::symlink(home.path().join("none"), repo.join("dangling")).unwrap();
        for (path, place) in [
            ("src/a.rs", "repository"),
            ("new/b.rs", "repository"),
            ("../a.rs", "outside"),
            ("src/../../a.rs", "outside"),
            ("out/a.rs", "outside"),
            ("dangling", "outside"),
            ("/etc/hosts", "outside"),
            (".git/hooks/pre-commit", "protected"),
            (".claude/settings.json", "protected"),
            ("src/../.GIT/config", "protected"),
            (".env", "secret"),
            ("/srv/.ssh/id_rsa", "secret"),
        ] {
            let write = proposal(
                &repo.join("src").join(".."),
                "Write",
                json!({"file_path": path, "content": "x"}),
            );
            assert_eq!(write.arguments(&write.input)["files_in"], place, "{path}");
        }
        let shell = proposal(&repo, "Bash", json!({"command": "ls"}));
        assert_eq!(shell.arguments(&shell.input), json!({"cwd": repo, "input": {"command": "ls"}}));
    }

    #[test]
    fn the_title_names_agent_and_command() {
        let shell = proposal(Path::new("/r"), "Bash", json!({"command": "git push\norigin"}));
        assert_eq!(shell.title(HookHost::Claude), "Claude Code wants to run: git push origin");
        let long = proposal(Path::new("/r"), "Bash", json!({"command": "é".repeat(500)}));
        assert_eq!(long.title(HookHost::Codex).chars().count(), TITLE_CHARS_MAX);
    }
}
