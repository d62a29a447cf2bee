//! Programs and scripts that a person approved, by their content: what lies in folders that commands may
//! write to can be another file by the time it is run.
//!
//! Which files those are is told by [`super::named_files`].

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use domain::digest::Digest;
use domain::phrase::{NoPreviewReason, PhraseCode, RunDetail};
use domain::visible::visible;
use domain::warning::Warning;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::named_files::named_files;
use super::spool_file::open_regular_file;
use crate::limits::{BOUND_BYTES_MAX, BOUND_FILE_BYTES_MAX};

/// A file and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundFile {
    path: PathBuf,
    #[serde(flatten)]
    content: FileContent,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileContent {
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beginning: Option<FileBeginning>,
}

/// Of a file that is longer than we read, its length and times stand for the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileBeginning {
    bytes: u64,
    changed: String,
}

impl BoundFile {
    /// As a line of an execution context.
    pub(crate) fn describe(&self, detail: &mut RunDetail) {
        let path = visible(&self.path.display().to_string());
        let file = format!("{path} {}", self.content.digest);
        match &self.content.beginning {
            None => detail.push(PhraseCode::BoundFile, &[&file]),
            Some(FileBeginning { bytes, changed }) => {
                let values = [file.as_str(), &bytes.to_string(), changed];
                detail.push(PhraseCode::BoundFileBeginning, &values);
            }
        }
    }

    pub fn read_file(path: PathBuf) -> Result<BoundFile, NoPreviewReason> {
        let content = content_of(&path).map_err(|error| unreadable_file(&path, &error))?;
        Ok(BoundFile { path, content })
    }

    /// Looked at once more, just before the start.
    pub(super) fn check_unchanged(&self) -> Result<(), String> {
        let found = content_of(&self.path).map_err(|error| unreadable_file(&self.path, &error))?;
        match found == self.content {
            true => Ok(()),
            false => Err(format!(
                "`{}` has changed since this call was approved; call it again, and it is asked about as it is \
                 now",
                visible(&self.path.display().to_string())
            )),
        }
    }
}

fn unreadable_file(path: &Path, error: &io::Error) -> NoPreviewReason {
    let path = visible(&path.display().to_string());
    NoPreviewReason::new(PhraseCode::FileUnreadable, &[&path, &error.to_string()])
}

/// Which file of an approved context is another by now, as a sentence.
pub(crate) fn changed_file(approved: &str, now: &str) -> Option<String> {
    let is_new = |line: &&str| line.starts_with(LINE) && !approved.lines().any(|old| old == *line);
    let line = now.lines().find(is_new)?.strip_prefix(LINE)?;
    let path = line.rsplit_once(" sha256:").map_or(line, |(path, _)| path);
    Some(format!(
        "`{path}` is not what it was when this call was approved; call it again, and it is asked about as it \
         is now"
    ))
}

/// How a bound file begins in an execution context.
const LINE: &str = "file ";

/// What of a command is bound to its approval.
#[derive(Debug, Default)]
pub(crate) struct BoundFiles {
    /// In the order of the command's words.
    pub(crate) files: Vec<BoundFile>,
    /// What the command may run and is known only when it runs, for the approver.
    pub(crate) warnings: Vec<Warning>,
}

/// Finds the programs and scripts of a command and reads them. Takes up to a second for the longest of them:
/// not for a thread on which others wait.
pub(crate) fn bound_files(
    program: &Path,
    args: &[String],
    directory: &Path,
    is_own: &dyn Fn(&Path) -> bool,
) -> Result<BoundFiles, NoPreviewReason> {
    let named = named_files(program, args, directory, is_own)?;
    let mut files = Vec::with_capacity(named.files.len());
    let mut bytes = 0;
    for path in named.files {
        bytes += path.metadata().map_or(0, |meta| meta.len()).min(BOUND_FILE_BYTES_MAX);
        if bytes > BOUND_BYTES_MAX {
            let mib = (BOUND_BYTES_MAX >> 20).to_string();
            return Err(NoPreviewReason::new(PhraseCode::TooMuchToCheck, &[&mib]));
        }
        files.push(BoundFile::read_file(path)?);
    }
    Ok(BoundFiles { files, warnings: named.warnings })
}

fn content_of(path: &Path) -> io::Result<FileContent> {
    use std::os::unix::fs::MetadataExt as _;
    let file = open_regular_file(path)?;
    let meta = file.metadata()?;
    let digest = digest_up_to(file, BOUND_FILE_BYTES_MAX)?.to_string();
    let beginning = (meta.len() > BOUND_FILE_BYTES_MAX).then(|| FileBeginning {
        bytes: meta.len(),
        changed: format!("{}.{:09}", meta.ctime(), meta.ctime_nsec()),
    });
    Ok(FileContent { digest, beginning })
}

fn digest_up_to(file: File, bytes_max: u64) -> io::Result<Digest> {
    let (mut file, mut hash) = (file.take(bytes_max), Context::new(&SHA256));
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hash.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(hash.finish().as_ref());
    Ok(Digest::from_bytes(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i50_no_more_is_read_than_a_moment_allows() {
        let dir = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for n in 0..5 {
            let name = format!("big{n}");
            // Sparse: nothing of it is on disk, and all of it would be read.
            File::create(dir.path().join(&name)).unwrap().set_len(BOUND_FILE_BYTES_MAX).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(dir.path().join(&name), mode).unwrap();
            names.push(name);
        }
        let own = dir.path().canonicalize().unwrap();
        let bound = |names: &[String]| {
            bound_files(Path::new("/bin/echo"), names, &own, &|path| path.starts_with(&own))
        };
        let refusal = bound(&names).unwrap_err();
        assert!(refusal.contains("more than 256 MiB together"), "{refusal}");
        assert_eq!(bound(&names[..1]).unwrap().files.len(), 1);
    }

    #[test]
    fn another_content_is_noticed_and_the_same_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deploy.sh");
        std::fs::write(&path, "echo one").unwrap();
        let bound = BoundFile::read_file(path.clone()).unwrap();
        assert_eq!(bound.content.digest, Digest::of(b"echo one").to_string());
        std::fs::write(&path, "echo one").unwrap();
        assert_eq!(bound.check_unchanged(), Ok(()));
        std::fs::write(&path, "echo two").unwrap();
        assert!(
            bound
                .check_unchanged()
                .unwrap_err()
                .contains("has changed since this call was approved")
        );
        std::fs::remove_file(&path).unwrap();
        assert!(bound.check_unchanged().unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_huge_file_is_bound_by_its_beginning_and_its_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("huge");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let bound = BoundFile::read_file(path.clone()).unwrap();
        assert_eq!(bound.check_unchanged(), Ok(()));
        let mut detail = RunDetail::default();
        bound.describe(&mut detail);
        let FileBeginning { bytes, changed } = bound.content.beginning.clone().unwrap();
        let (shown, digest) = (visible(&bound.path.display().to_string()), &bound.content.digest);
        let line =
            format!("file {shown} {digest} of its beginning, {bytes} bytes, changed {changed}");
        assert_eq!(detail, line);
        assert_eq!(detail.codes(), [(0, PhraseCode::BoundFileBeginning)]);
        File::options().write(true).open(&path).unwrap().set_len((1 << 40) + 1).unwrap();
        assert!(bound.check_unchanged().is_err());
    }
}
