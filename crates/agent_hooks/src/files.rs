//! The files of a call, as far as a program on the agent's machine can see them.

use std::path::{Component, Path, PathBuf};

use domain::shell::is_secret_path;

/// What says what agents, git and we may do; who changes these changes the gate itself.
const PROTECTED: [&str; 11] = [
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mcp.json",
    ".vscode",
    ".idea",
    "holdpoint.toml",
    "holdpoint.db",
    "holdpoint.db-wal",
];
/// Tokens of ours and of agents: with a person's, an agent could answer.
const TOKEN_FILES: [&str; 3] = ["tokens.json", ".credentials.json", "auth.json"];

/// The agent's file system. What it does not know, it does not guess.
pub trait AgentFiles {
    /// Where a path leads, links followed; `None` where nobody here can say.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// The root of the repository that a resolved directory is in. Without one, nothing is inside.
    fn repository(&self, directory: &Path) -> Option<PathBuf>;

    /// A folder that git would take for a repository though it has no `.git`: its files say what git runs there.
    fn bare_repository(&self, directory: &Path) -> Option<PathBuf>;

    /// A text file of a length that people can look at.
    fn read_text(&self, path: &Path) -> Option<String>;
}

/// For a server that is not on the agent's machine, or cannot know whether it is.
#[derive(Clone, Copy, Debug)]
pub struct UnseenFiles;

impl AgentFiles for UnseenFiles {
    fn resolve(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn repository(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn bare_repository(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn read_text(&self, _: &Path) -> Option<String> {
        None
    }
}

/// Where the files of a call are. The strictest counts for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilesIn {
    Repository,
    Outside,
    /// The files could not be seen: a link may lead anywhere.
    Unknown,
    Protected,
    Secret,
}

impl FilesIn {
    pub const ALL: [FilesIn; 5] = [
        FilesIn::Repository,
        FilesIn::Outside,
        FilesIn::Unknown,
        FilesIn::Protected,
        FilesIn::Secret,
    ];

    pub fn name(self) -> &'static str {
        match self {
            FilesIn::Repository => "repository",
            FilesIn::Outside => "outside",
            FilesIn::Unknown => "unknown",
            FilesIn::Protected => "protected",
            FilesIn::Secret => "secret",
        }
    }
}

/// One file that a call names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedFile {
    pub(crate) path: PathBuf,
    pub(crate) place: FilesIn,
}

impl NamedFile {
    /// One file, or two where `..` after a link makes a difference: the system goes back from where the link leads,
    /// and agents that tidy a path up before they use it go back from where it stands.
    pub(crate) fn look_up(
        files: &dyn AgentFiles,
        directory: &Path,
        name: &Path,
    ) -> impl Iterator<Item = NamedFile> {
        let whole = directory.join(name);
        let tidied = normal_path(&whole);
        let by_system = NamedFile::look_up_exactly(files, directory, &whole);
        let by_agent = NamedFile::look_up_exactly(files, directory, &tidied);
        let is_other = by_agent != by_system;
        [by_system].into_iter().chain(is_other.then_some(by_agent))
    }

    /// Stands for files that nobody could read out of the arguments.
    pub(crate) fn unread(directory: &Path) -> NamedFile {
        NamedFile { path: directory.to_owned(), place: FilesIn::Unknown }
    }

    /// A folder whose files say what programs do.
    pub(crate) fn protected(path: PathBuf) -> NamedFile {
        NamedFile { path, place: FilesIn::Protected }
    }

    fn look_up_exactly(files: &dyn AgentFiles, directory: &Path, whole: &Path) -> NamedFile {
        // Some agents put the home directory there, and the system does not.
        let has_tilde = whole.components().any(|part| {
            matches!(part, Component::Normal(name) if name.to_string_lossy().starts_with('~'))
        });
        match (files.resolve(whole), files.resolve(directory)) {
            (Some(path), Some(directory)) if !has_tilde => {
                let place = place(&path, files.repository(&directory).as_deref());
                NamedFile { path, place }
            }
            _ => {
                let path = normal_path(whole);
                let place = place_by_name(&path);
                NamedFile { path, place }
            }
        }
    }
}

fn place(file: &Path, repository: Option<&Path>) -> FilesIn {
    match repository.and_then(|repository| file.strip_prefix(repository).ok()) {
        // The way to the repository says nothing about what is in it.
        Some(inside) => worse_by_name(inside).unwrap_or_else(|| match file.to_str() {
            Some(_) => FilesIn::Repository,
            None => FilesIn::Protected,
        }),
        None => worse_by_name(file).unwrap_or(FilesIn::Outside),
    }
}

/// A name can only make it worse: what it says is harmless may be a link.
fn place_by_name(file: &Path) -> FilesIn {
    worse_by_name(file).unwrap_or(FilesIn::Unknown)
}

fn worse_by_name(file: &Path) -> Option<FilesIn> {
    let is_token_file = |name: &str| TOKEN_FILES.contains(&name.to_ascii_lowercase().as_str());
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    match () {
        () if is_secret_path(&file.display().to_string()) => Some(FilesIn::Secret),
        () if is_token_file(&name) => Some(FilesIn::Secret),
        () if is_protected(file) => Some(FilesIn::Protected),
        () => None,
    }
}

fn is_protected(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        PROTECTED.contains(&part.as_str())
    })
}

/// Without `.` and `..`. Right only for a path whose links were followed, or where there is nothing better.
pub fn normal_path(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_look_at_the_files_a_name_never_makes_them_harmless() {
        for (name, place) in [
            ("src/main.rs", FilesIn::Unknown),
            ("/r/src/main.rs", FilesIn::Unknown),
            ("../x", FilesIn::Unknown),
            (".env", FilesIn::Secret),
            ("/srv/.ssh/id_rsa", FilesIn::Secret),
            (".claude/settings.json", FilesIn::Protected),
            ("src/../.GIT/config", FilesIn::Protected),
        ] {
            let mut files = NamedFile::look_up(&UnseenFiles, Path::new("/r"), Path::new(name));
            assert_eq!(files.next().map(|file| file.place), Some(place), "{name}");
            assert!(files.next().is_none());
        }
    }
}
