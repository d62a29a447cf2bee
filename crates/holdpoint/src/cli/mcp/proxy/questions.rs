//! Which hold was opened for which call: one small file for each open question, named by the call's match key.
//!
//! A file only says where to look. Whether the hold was approved, for exactly this call, and whether the approval was used,
//! is the server's word; a file that is lost costs another question and nothing else.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use domain::digest::Digest;
use domain::id::HoldId;

use mcp_gate::limits::QUESTION_KEPT;

#[derive(Clone, Debug)]
pub(super) struct OpenQuestions {
    folder: PathBuf,
}

impl OpenQuestions {
    pub(super) fn open(state: &Path) -> anyhow::Result<OpenQuestions> {
        let folder = state.join("questions");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let questions = OpenQuestions { folder };
        questions.remove_old(QUESTION_KEPT);
        Ok(questions)
    }

    fn file(&self, key: Digest) -> PathBuf {
        self.folder.join(key.digits(&mut [0; 64]))
    }

    pub(super) fn find(&self, key: Digest) -> Option<HoldId> {
        fs::read_to_string(self.file(key)).ok()?.trim().parse().ok()
    }

    /// On disk before this returns.
    pub(super) fn keep(&self, key: Digest, hold: HoldId) -> anyhow::Result<()> {
        crate::serve::secure_file(&self.file(key), hold.to_string().as_bytes())
    }

    /// If it still names this hold: another call may have asked anew meanwhile.
    pub(super) fn forget(&self, key: Digest, hold: HoldId) {
        if self.find(key) == Some(hold) {
            let _ = fs::remove_file(self.file(key));
        }
    }

    fn remove_old(&self, kept: Duration) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).ok();
            if age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > kept) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Where the proxy keeps what must outlive it.
pub(super) fn state_folder() -> anyhow::Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let base = state.filter(|path| path.is_absolute()).or(home);
    let base =
        base.context("there is no home folder; say where to keep state with XDG_STATE_HOME")?;
    Ok(base.join("holdpoint/mcp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_found_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let questions = OpenQuestions::open(folder.path()).unwrap();
        let (key, other) = (Digest::of(b"a"), Digest::of(b"b"));
        let hold: HoldId = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8".parse().unwrap();
        let newer: HoldId = "hold_01jd3kq8v2m4x6z8a0c2e4g6j9".parse().unwrap();
        questions.keep(key, hold).unwrap();
        let again = OpenQuestions::open(folder.path()).unwrap();
        assert_eq!((again.find(key), again.find(other)), (Some(hold), None));
        again.keep(key, newer).unwrap();
        again.forget(key, hold);
        assert_eq!(again.find(key), Some(newer));
        again.forget(key, newer);
        assert_eq!(again.find(key), None);
    }
}
