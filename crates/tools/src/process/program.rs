//! From the name of a program to the file that will run, without a shell's guesses.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::visible::visible;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    #[error("the program's name is empty; name a program")]
    Empty,
    #[error("no program `{0}` was found on PATH; name one that is installed")]
    NotFound(String),
    #[error("`{0}` is not a file that can be executed")]
    NotExecutable(String),
}

impl From<NoProgram> for NoPreviewReason {
    fn from(missing: NoProgram) -> NoPreviewReason {
        match &missing {
            NoProgram::Empty => missing.to_string().into(),
            NoProgram::NotFound(name) => NoPreviewReason::new(PhraseCode::ProgramNotFound, &[name]),
            NoProgram::NotExecutable(name) => {
                NoPreviewReason::new(PhraseCode::ProgramNotExecutable, &[name])
            }
        }
    }
}

/// Finds the file. A name with a slash is taken from the working directory; any other is looked for on
/// `path`, of which only absolute entries count: `.` on PATH would run what a model just wrote there.
pub fn resolve_program(name: &str, directory: &Path, path: &str) -> Result<PathBuf, NoProgram> {
    if name.is_empty() {
        return Err(NoProgram::Empty);
    }
    if name.contains('/') {
        let file = directory.join(name);
        return if can_run(&file) {
            Ok(file)
        } else {
            Err(NoProgram::NotExecutable(visible(name)))
        };
    }
    path.split(':')
        .filter(|entry| entry.starts_with('/'))
        .map(|entry| Path::new(entry).join(name))
        .find(|file| can_run(file))
        .ok_or_else(|| NoProgram::NotFound(visible(name)))
}

/// The PATH that a child will have, for finding its program.
pub(crate) fn path_of(environment: &BTreeMap<String, String>) -> &str {
    environment.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str)
}

fn can_run(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(file: &Path) {
        std::fs::write(file, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_bare_name_comes_from_absolute_path_entries_only() {
        let dir = tempfile::tempdir().unwrap();
        executable(&dir.path().join("tool"));
        let here = dir.path().to_str().unwrap();
        assert_eq!(resolve_program("tool", dir.path(), here), Ok(dir.path().join("tool")));
        assert_eq!(
            resolve_program("tool", dir.path(), ".::bin"),
            Err(NoProgram::NotFound("tool".into()))
        );
    }

    #[test]
    fn a_name_with_a_slash_comes_from_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        executable(&dir.path().join("tool"));
        std::fs::write(dir.path().join("data"), "").unwrap();
        assert_eq!(resolve_program("./tool", dir.path(), ""), Ok(dir.path().join("./tool")));
        assert!(resolve_program("./data", dir.path(), "").is_err(), "not executable");
        assert!(resolve_program("./gone", dir.path(), "").is_err());
        assert!(resolve_program("/", dir.path(), "").is_err(), "a directory");
        assert_eq!(resolve_program("", dir.path(), ""), Err(NoProgram::Empty));
    }
}
