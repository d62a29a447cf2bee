//! Where we are: the root of the checkout, and where cargo puts what it builds.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::job::Job;

pub(crate) struct Checkout {
    pub(crate) root: PathBuf,
    /// The directory of debug binaries. It is asked of our own executable, which cargo put there
    /// too, so that it is right whatever target directory the user has configured.
    pub(crate) built: PathBuf,
}

impl Checkout {
    pub(crate) fn find() -> Result<Self> {
        // `cargo run` tells; a copy of the binary that was started by hand looks upwards.
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(manifest) => PathBuf::from(manifest),
            None => env::current_dir().context("the current directory cannot be read")?,
        };
        let root = start
            .ancestors()
            .find(|dir| dir.join("xtask/Cargo.toml").is_file())
            .context("run this inside a checkout of holdpoint")?
            .to_path_buf();
        let exe = env::current_exe().context("our own executable cannot be found")?;
        let built = exe.parent().context("our own executable has no directory")?.to_path_buf();
        Ok(Checkout { root, built })
    }

    pub(crate) fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// The paths of the files that git tracks, or would track.
    pub(crate) fn tracked(&self) -> Result<Vec<String>> {
        let listed = Job::new("git")
            // A checkout may belong to another user than the one who tests it, as in a container.
            .args(["-c", "safe.directory=*", "-c", "core.quotePath=false"])
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .within(&self.root)
            .keep(|_| true)
            .quiet()
            .run()?;
        ensure!(listed.success, "git cannot list the files of this checkout");
        // Not a file that was deleted but not yet from the index, nor a link to a directory.
        Ok(listed.kept.into_iter().filter(|path| self.join(path).is_file()).collect())
    }

    /// Pinned tools that we installed ourselves; git ignores the directory.
    pub(crate) fn tools(&self) -> PathBuf {
        self.join(".tools")
    }
}
