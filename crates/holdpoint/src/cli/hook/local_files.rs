//! The agent's files, for a hook that runs on the agent's machine and as its user.

use std::path::{Path, PathBuf};

use agent_hooks::{AgentFiles, normal_path};

/// A longer file's diff is not made; the agent's arguments are shown in any case.
const FILE_BYTES_MAX: u64 = 2 << 20;
/// As many links as Linux follows.
const LINKS_MAX: usize = 40;

#[derive(Clone, Copy, Debug)]
pub(super) struct LocalFiles;

impl AgentFiles for LocalFiles {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        resolved(path, LINKS_MAX)
    }

    /// The nearest folder upwards with a `.git`.
    fn repository(&self, directory: &Path) -> Option<PathBuf> {
        let root = directory.ancestors().find(|folder| folder.join(".git").exists());
        root.map(Path::to_owned)
    }

    /// As git looks for it: from the directory upwards, until there is a `.git`.
    fn bare_repository(&self, directory: &Path) -> Option<PathBuf> {
        let directory = self.resolve(directory)?;
        let is_bare = |folder: &&Path| {
            ["HEAD", "objects", "refs"]
                .iter()
                .all(|name| folder.join(name).symlink_metadata().is_ok())
        };
        let has_none = |folder: &&Path| folder.join(".git").symlink_metadata().is_err();
        directory.ancestors().take_while(has_none).find(is_bare).map(Path::to_owned)
    }

    fn read_text(&self, path: &Path) -> Option<String> {
        let about = std::fs::metadata(path).ok()?;
        if !about.is_file() || about.len() > FILE_BYTES_MAX {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }
}

/// The path with links followed as far as it exists, and `..` taken out of the rest.
fn resolved(path: &Path, links_left: usize) -> Option<PathBuf> {
    let mut rest = Vec::new();
    let mut there = path.to_owned();
    loop {
        let with_rest =
            |start: PathBuf| rest.iter().rev().fold(start, |path, part| path.join(part));
        if let Ok(real) = there.canonicalize() {
            return Some(normal_path(&with_rest(real)));
        }
        // A link whose target is missing still leads somewhere: a write through it makes the target. The way
        // there may have links, too.
        if there.is_symlink() {
            let target = std::fs::read_link(&there).ok()?;
            let target = there.parent().unwrap_or_else(|| Path::new("/")).join(target);
            return resolved(&with_rest(target), links_left.checked_sub(1)?);
        }
        match (there.components().next_back(), there.parent()) {
            (Some(last), Some(parent)) => {
                rest.push(PathBuf::from(last.as_os_str()));
                there = parent.to_owned();
            }
            _ => return Some(normal_path(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use agent_hooks::{AgentHost, HookProposal, HookQuestion};
    use serde_json::{Value, json};

    use super::*;

    fn asked(directory: &Path, path: &str) -> Value {
        let proposal = HookProposal {
            host: AgentHost::Claude,
            session: "s".into(),
            use_id: None,
            tool: "Write".into(),
            input: json!({"file_path": path, "content": "x\n"}),
            directory: directory.to_owned(),
            subagent: None,
        };
        serde_json::to_value(HookQuestion::new(&proposal, &LocalFiles, None)).unwrap()
    }

    #[test]
    fn files_are_told_by_where_they_lead() {
        let home = tempfile::tempdir().unwrap();
        let repo = home.path().canonicalize().unwrap().join("repo");
        std::fs::create_dir_all(repo.join(".git")).unwrap();
        std::fs::create_dir_all(repo.join("src")).unwrap();
        std::fs::write(repo.join("src/old.rs"), "old\n").unwrap();
        symlink(home.path(), repo.join("out")).unwrap();
        symlink(home.path().join("none"), repo.join("dangling")).unwrap();
        symlink("out/none", repo.join("dangling-twice")).unwrap();
        symlink("src/none", repo.join("dangling-inside")).unwrap();
        symlink("circle", repo.join("circle")).unwrap();
        std::fs::create_dir_all(repo.join("a/b/c")).unwrap();
        symlink("a/b/c", repo.join("deep")).unwrap();
        for (path, place) in [
            ("src/a.rs", "repository"),
            ("new/b.rs", "repository"),
            ("dangling-inside", "repository"),
            ("../a.rs", "outside"),
            ("src/../../a.rs", "outside"),
            ("none/../../a.rs", "outside"),
            ("out/a.rs", "outside"),
            ("out/new/a.rs", "outside"),
            ("dangling", "outside"),
            ("dangling-twice", "outside"),
            ("dangling-twice/a.rs", "outside"),
            ("circle", "unknown"),
            ("deep/x", "repository"),
            ("deep/../x", "repository"),
            // The system goes back from `a/b/c`, and an agent that tidies the path up from the repository.
            ("deep/../../x", "outside"),
            ("out/none/../a.rs", "outside"),
            ("/etc/hosts", "outside"),
            (".git/hooks/pre-commit", "protected"),
            (".claude/settings.json", "protected"),
            ("src/../.GIT/config", "protected"),
            (".env", "secret"),
            ("/srv/.ssh/id_rsa", "secret"),
            ("~/.zshenv", "unknown"),
            ("holdpoint.toml", "protected"),
            ("/srv/.claude/settings.json", "protected"),
            ("/srv/.claude/.credentials.json", "secret"),
            ("tokens.json", "secret"),
        ] {
            let asked = asked(&repo.join("src").join(".."), path);
            assert_eq!(asked["call"]["arguments"]["files_in"], place, "{path}");
        }
        let inner = repo.join("inner");
        for part in ["objects", "refs"] {
            std::fs::create_dir_all(inner.join(part)).unwrap();
        }
        let command =
            |cwd: &Path| asked(cwd, "src/new.rs")["call"]["arguments"]["files_in"].clone();
        assert_eq!(command(&inner), "repository", "no repository of its own yet");
        std::fs::write(inner.join("HEAD"), "ref: refs/heads/main").unwrap();
        assert_eq!(command(&inner), "protected", "git would believe its configuration");
        assert_eq!(command(&inner.join("objects")), "protected");
        assert_eq!(command(&repo), "repository");
        let none = home.path().canonicalize().unwrap();
        let without = asked(&none, ".zshenv");
        assert_eq!(without["call"]["arguments"]["files_in"], "outside", "there is no repository");
        let edit = asked(&repo, "src/old.rs");
        let file = repo.join("src/old.rs").display().to_string();
        assert_eq!(edit["call"]["arguments"]["files"], json!([file]));
        assert_eq!(edit["preview"]["diff"], "*** src/old.rs\n@@ line 1 @@\n-old\n+x");
        assert!(edit["context"].get("not_known").is_none());
    }
}
