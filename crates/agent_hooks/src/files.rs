//! The files of a call, as far as somebody on the agent's machine can see them.

use std::path::{Component, Path, PathBuf};

use domain::shell::is_secret_path;

/// Folders that say what agents and git may do; who changes these changes the gate itself.
const PROTECTED: [&str; 8] =
    [".git", ".claude", ".codex", ".gemini", ".cursor", ".mcp.json", ".vscode", ".idea"];

/// The agent's file system. What it does not know, it does not guess.
pub trait AgentFiles {
    /// Where a path leads, links followed; `None` where nobody here can say.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// The root of the repository that a resolved directory is in, or the directory itself.
    fn repository(&self, directory: &Path) -> PathBuf;

    /// A text file of a length that people can look at.
    fn read_text(&self, path: &Path) -> Option<String>;
}

/// For whoever is not on the agent's machine, or cannot know whether they are.
#[derive(Clone, Copy, Debug)]
pub struct UnseenFiles;

impl AgentFiles for UnseenFiles {
    fn resolve(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn repository(&self, directory: &Path) -> PathBuf {
        directory.to_owned()
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
    /// Nobody could look: a link may lead anywhere.
    Unknown,
    Protected,
    Secret,
}

impl FilesIn {
    pub(crate) fn name(self) -> &'static str {
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

    fn look_up_exactly(files: &dyn AgentFiles, directory: &Path, whole: &Path) -> NamedFile {
        match (files.resolve(whole), files.resolve(directory)) {
            (Some(path), Some(directory)) => {
                let place = place(&path, &files.repository(&directory));
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

fn place(file: &Path, repository: &Path) -> FilesIn {
    let Ok(inside) = file.strip_prefix(repository) else {
        let is_secret = is_secret_path(&file.display().to_string());
        return if is_secret { FilesIn::Secret } else { FilesIn::Outside };
    };
    match () {
        () if is_secret_path(&inside.display().to_string()) => FilesIn::Secret,
        () if is_protected(inside) || file.to_str().is_none() => FilesIn::Protected,
        () => FilesIn::Repository,
    }
}

/// A name can only make it worse: what it says is harmless may be a link.
fn place_by_name(file: &Path) -> FilesIn {
    match () {
        () if is_secret_path(&file.display().to_string()) => FilesIn::Secret,
        () if is_protected(file) => FilesIn::Protected,
        () => FilesIn::Unknown,
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
