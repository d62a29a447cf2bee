//! Programs and scripts that a person approved, by their content: what lies in folders that commands may
//! write to can be another file by the time it is run.
//!
//! Bound are the program, scripts that it is given, and what a script names, as far as they lie in the
//! tool's own folders. Data is not bound: a log that grows meanwhile is still the log that was to be
//! read. Programs of the system are not bound either: whoever can replace those needs no approval.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::digest::Digest;
use domain::visible::visible;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use super::spool_file::open_regular_file;
use crate::limits::{BOUND_FILE_BYTES_MAX, BOUND_FILES_MAX};

/// A file and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundFile {
    path: PathBuf,
    digest: String,
}

impl fmt::Display for BoundFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LINE}{} {}", visible(&self.path.display().to_string()), self.digest)
    }
}

impl BoundFile {
    pub fn read(path: PathBuf) -> Result<BoundFile, String> {
        let digest = digest_of(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(BoundFile { path, digest })
    }

    /// Looked at once more, just before the start.
    pub(super) fn check(&self) -> Result<(), String> {
        let found = digest_of(&self.path).map_err(|error| unreadable(&self.path, &error))?;
        match found == self.digest {
            true => Ok(()),
            false => Err(format!(
                "`{}` has changed since this call was approved; call it again, and it is asked about as it is \
                 now",
                visible(&self.path.display().to_string())
            )),
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("`{}` cannot be read: {error}", visible(&path.display().to_string()))
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

/// The files of a command that are bound, in the order of its words.
pub(crate) fn bound_files(
    program: &Path,
    args: &[String],
    directory: &Path,
    roots: &[PathBuf],
) -> Result<Vec<BoundFile>, String> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        if !paths.contains(&path) {
            paths.push(path);
        }
    };
    let inside = |word: &str| {
        let path = directory.join(word).canonicalize().ok()?;
        let is_ours = roots.iter().any(|root| path.starts_with(root)) && path.is_file();
        is_ours.then_some(path)
    };
    if let Some(path) = program.to_str().and_then(inside) {
        add(path);
    }
    // A file that follows an interpreter is its script, whatever it looks like.
    let mut awaits_script = is_interpreter(program);
    for word in args {
        if let Some(path) = inside(word) {
            if awaits_script || is_program(&path) {
                add(path);
            }
            awaits_script = false;
            continue;
        }
        awaits_script |= is_interpreter(Path::new(word));
        // A script among the arguments, as after `sh -c`: what it names as a program.
        let named = word.split(|c: char| c.is_whitespace() || "\"'`;|&()<>{}=".contains(c));
        let (mut script, mut after) = (Vec::new(), false);
        for token in named.filter(|token| !token.is_empty() && *token != word.as_str()) {
            match inside(token) {
                Some(path) if after || is_program(&path) => script.push(path),
                _ => {}
            }
            after = is_interpreter(Path::new(token)) || token == ".";
        }
        script.into_iter().for_each(&mut add);
    }
    if paths.len() > BOUND_FILES_MAX {
        return Err(format!("it names more than {BOUND_FILES_MAX} programs and scripts"));
    }
    paths.into_iter().map(BoundFile::read).collect()
}

/// Programs whose first file is a script.
fn is_interpreter(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    [
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "fish",
        "ash",
        "busybox",
        "source",
        "python",
        "pypy",
        "perl",
        "ruby",
        "lua",
        "node",
        "deno",
        "bun",
        "php",
        "awk",
        "gawk",
        "mawk",
        "sed",
        "make",
        "tclsh",
        "Rscript",
        "osascript",
        "java",
        "psql",
        "sqlite",
    ]
    .contains(&family)
}

/// Whether a file can be run by itself.
fn is_program(path: &Path) -> bool {
    let is_executable = path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    let mut start = [0; 2];
    is_executable
        || open_regular_file(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok_and(|()| &start == b"#!")
}

/// Of a file that is longer than we read, its length and times stand for the rest.
fn digest_of(path: &Path) -> io::Result<String> {
    let file = open_regular_file(path)?;
    let meta = file.metadata()?;
    let digest = digest_up_to(file, BOUND_FILE_BYTES_MAX)?;
    if meta.len() <= BOUND_FILE_BYTES_MAX {
        return Ok(digest.to_string());
    }
    use std::os::unix::fs::MetadataExt as _;
    let changed = format!("{}.{:09}", meta.ctime(), meta.ctime_nsec());
    Ok(format!("{digest} of its beginning, {} bytes, changed {changed}", meta.len()))
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

    fn names(dir: &Path, line: &[&str]) -> Vec<String> {
        let program = if line[0].contains('/') { dir.join(line[0]) } else { line[0].into() };
        let args: Vec<String> = line[1..].iter().map(|word| (*word).to_owned()).collect();
        let roots = [dir.canonicalize().unwrap()];
        let bound = bound_files(&program, &args, dir, &roots).unwrap();
        bound.iter().map(|it| it.path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn programs_and_scripts_are_bound_and_data_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text, mode) in [
            ("deploy.sh", "#!/bin/sh\n", 0o755),
            ("plain", "echo x\n", 0o644),
            ("marked", "#!/bin/sh\n", 0o644),
            ("log", "a line\n", 0o644),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
            let mode = PermissionsExt::from_mode(mode);
            std::fs::set_permissions(dir.path().join(name), mode).unwrap();
        }
        let check = |line: &[&str], bound: &[&str]| {
            assert_eq!(names(dir.path(), line), bound, "{line:?}");
        };
        check(&["./deploy.sh", "log"], &["deploy.sh"]);
        check(&["/usr/bin/tail", "-n", "3", "log"], &[]);
        check(&["/bin/sh", "plain", "log"], &["plain"]);
        check(&["/usr/bin/python3.12", "-u", "plain"], &["plain"]);
        check(&["/usr/bin/env", "A=1", "./marked"], &["marked"]);
        check(&["/usr/bin/timeout", "5", "sh", "plain"], &["plain"]);
        check(&["/bin/sh", "-c", "cd . && ./deploy.sh | tee log"], &["deploy.sh"]);
        check(&["/bin/sh", "-c", "sh plain; . ./marked"], &["plain", "marked"]);
        check(&["/bin/sh", "-c", "cat log"], &[]);
        check(&["/bin/cat", "/etc/passwd"], &[]);
    }

    #[test]
    fn another_content_is_noticed_and_the_same_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deploy.sh");
        std::fs::write(&path, "echo one").unwrap();
        let bound = BoundFile::read(path.clone()).unwrap();
        assert_eq!(bound.digest, Digest::of(b"echo one").to_string());
        std::fs::write(&path, "echo one").unwrap();
        assert_eq!(bound.check(), Ok(()));
        std::fs::write(&path, "echo two").unwrap();
        assert!(bound.check().unwrap_err().contains("has changed since this call was approved"));
        std::fs::remove_file(&path).unwrap();
        assert!(bound.check().unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_huge_file_is_bound_by_its_beginning_and_its_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("huge");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let bound = BoundFile::read(path.clone()).unwrap();
        assert_eq!(bound.check(), Ok(()));
        File::options().write(true).open(&path).unwrap().set_len((1 << 40) + 1).unwrap();
        assert!(bound.check().is_err());
    }
}
